"""An English sentence in the first person, told of its speaker by name. Pure functions, no grammar beyond word lists.

The gender of a speaker is not known: behind the name stands `their`, and `they` where nothing else in the sentence
could be meant; otherwise the name again.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from filemem.statements.utterance import cased, outside_quotes, regex
from filemem.statements.verbs import (
    ACTIONS,
    AMBIGUOUS,
    BEHIND_VERBS,
    STATES,
    inflects,
    is_adverb,
    is_past,
    is_verb,
    plural,
    singular,
)

_SPOKEN = (  # spoken and contracted forms, and what they stand for, in this order
    (r"\bI['’]?m\b(?!\w)|\b[iI]m\b", "I am"),
    (r"\bI've got(?:ta| to)\b|\bI gotta\b|\bI got to (?=go\b|leave\b|run\b)", "I have to"),
    (r"\bwe've got(?:ta| to)\b|\bwe gotta\b", "we have to"),
    (r"\b(I|we|you|they)['’]ve got\b", r"\1 have"),
    (r"\b(I|we|you|they)['’]ve\b", r"\1 have"),
    (r"\bive\b", "I have"),
    (r"\b(there|who|what|that)['’]ve\b", r"\1 have"),
    (r"\b(?!(?:it|that|what|there|here|who|he|she|let|how|where)\b)([a-z]\w+)['’]s been\b", r"\1 has been"),
    (r"\b(?!(?:it|that|what|there|here|who|he|she|let|how|where)\b)([a-z]\w+)['’]s (?=(?:my|our|an?|the|so|such)\b)", r"\1 is "),
    (r"\b(we|you|they)['’]re\b", r"\1 are"),
    (r"\b(I|we|you|he|she|it|they|that)['’]ll\b", r"\1 will"),
    (r"\b(I|we|you|he|she|they)['’]d(?= (?:\w+ly |just |never |always |already |even )?(?:been|had|better|seen|gone|"
     r"done|made|taken|got|heard|forgotten|known|lost|won|felt|met|found|thought|left|told|come|become|given|"
     r"\w+ed(?<!need))\b)", r"\1 had"),
    (r"\b(I|we|you|he|she|it|they)['’]d\b", r"\1 would"),
    (r"^hopefully,? (?=i\b|we\b)", "I hope "),
    (r"^gonna be (?=an? |so |great|fun|awesome|amazing|epic)", "it is going to be "),
    (r"^gonna\b", "I am going to"),
    (r"\bgonna\b", "going to"),
    (r"\bgotta\b", "have to"),
    (r"\bwanna\b", "want to"),
    (r"\bdunno\b", "don't know"),
    (r"^it['’]?s my birthday today|^today(?:['’]s| is) my birthday", "my birthday is today"),
    (r"\bkinda\b", "kind of"),
    (r"(?<!\w)['’]?(?:cause|cuz|coz|bc)\b(?= (?:I|we|it|they|my|the|he|she|you|this|that|there)\b)|"
     r"(?<!\w)['’]cause\b", "because"),
    (r"(?<!\w)['’]em\b", "them"),
    (r"\bfave\b", "favorite"),
    (r"\bfaves\b", "favorites"),
    (r"\bdont\b", "don't"),
    (r"\bya\b", "you"),
    (r"\b(?:y'all|you guys|you all)\b", "you"),
    (r"\b(\w{2,}in)['’](?=[\s,.!?]|$)", r"\1g"),
    (r"\b(?:kind|sort) of (?=\w+ed\b|made|just|like\b|want|feel|hope|miss)", ""),
    (r"^(?:(?:since|after) (?:we|I) (?:last |just )?(?:chatted|talked|spoke|met|saw|caught up)(?: last)?|"
     r"since we last (?:chatted|talked|spoke|met)),? (?=\w)", ""),
    (r",? (?:like|as) (?:i|we) (?:said|mentioned|told you)(?: before| earlier)?,?", ""),
    (r"^especially (?=(?:when|after|since|if|because|now)\b[^,]+, (?:i|we|my|it)\b)", ""),
    (r"\bi\b", "I"),
)  # fmt: skip
_FILLERS = (
    r"^(?:(?:well|oh(?: yeah| yes| no| wow)?|ah|aw+|ooh|wow|whoa|woah|yeah|yep|yup|yes|yay|no|nope|nah|hey|hi|hello|so|and|but|"
    r"or|also|plus|ok|okay|sure|right|anyway|anyways|honestly|actually|basically|by the way|btw|oh man|oh boy|man|haha+|lol|"
    r"thanks|thank you|thanks a lot|for sure|of course|definitely|absolutely|exactly|totally|indeed|same here|me too|"
    r"guess what|speaking of which|(?:as )?you know|i mean|like|hmm+|um+|uh+|gosh|omg|geez|cool|nice|great|awesome|plus|"
    r"for example|what's more|in the meantime|meanwhile|unfortunately|luckily|thankfully|fortunately|(?:great|good|"
    r"big|exciting) news|first off|first|second|third|two things|on (?:a|another)(?: different| side| brighter|"
    r" related| happier)? note|in fact|to be honest|tbh|as for me|not really|not yet|not much|cheers|sorry|ugh|"
    r"bummer|true|correction|no wait|wait|i was wrong|i misspoke|scratch that|i meant|no i meant)(?:[,!.:;…]+|"
    r"\s+[-–—]+|(?=\s+(?:i|i'm|i've|my|we|we've|actually|honestly|definitely|totally|for sure)\b))[\s-]*)+"
)
_CONNECTIVES = (
    r"^(?:(?:and|but|or|plus|because|then)\s+(?=\w)|so\s+(?=(?:I|i|my|we|it|it's|the|now|then|this|that|he|she|"
    r"they)\b))"
)
_TAILS = (
    r"(?:,| [-–]) (?:by the way|btw|anyway|you know|ya know|speaking of(?: which)?|huh|though|lol|haha+|y'know|"
    r"if you (?:know|will)|tbh)$|, (?:right|man|dude|bro)$| though$|(?:,| [-–]) (?:can't wait|so excited|come see|take a look|"
    r"check it out|highly recommend(?: it)?)$|(?<!is)(?<!am)(?<!are)(?<!do)(?<!does),? (?:too|as well)$"
)
_LEADS = (  # news announced, not told: This month was mad, …; A few odd things happened: …
    r"^(?:yesterday|last \w+|this week|today|life|things|it)(?:'s| was| has been| is|'s been| have been)? (?:so |"
    r"really |super |crazy |pretty |just )*(?:wild|crazy|cool|tough|great|awesome|busy|amazing|intense|hectic|"
    r"rough)(?: cool)?(?: for me)?(?:,| [-–—:]|;)\s*|^(?:something|some|a few|crazy|interesting|big|exciting|"
    r"lots? of) (?:\w+ ){0,4}?(?:things? |stuff )?(?:has |have |just )*happened(?: \w+){0,5}?(?:\s[-–—]|:|,)\s*|"
    r"^i(?: have|'ve)?(?: got| had)? (?:some |a bit of )?(?:great |good |big |exciting |amazing |happy |sad |bad )*news"
    r"(?: to share)?(?:\s[-–—]|:|,)\s*|"
    r"^speaking of [^,]{1,40},\s*"
)
_SHOWN = (  # what the other can see: Here's a scarf I knitted, I knitted a scarf
    r"^(?:here(?:'s| is| are)|this is|these are|that's|those are|check out|look at|(?:this|that|the|"
    r"your) (?:\w+ )?\w+ reminds? me of) (?P<what>(?:an?|the|my|our|some|one of|two|three) (?!(?:\w+ )?(?:snap|pic|"
    r"picture|photo|shot|look|video|clip|view|peek|glimpse)s?\b)[^,;]{3,60}?) (?:that |which )?(?P<who>I|"
    r"we) (?P<did>(?:(?:just|recently|also|finally|have) )*\w+)(?P<rest> .*)?$"
)
_AM_FIRST = (
    r"^(?:so |super |really |very |pretty |still |just )*(?:excited|thrilled|stoked|pumped|blessed|honou?red|"
    r"determined|interested|tired|exhausted|surprised|overwhelmed|motivated|inspired|relieved|worried|amazed|bummed|"
    r"psyched|hyped|obsessed|glad|happy|sorry|grateful|proud|lucky|sad|ready|thankful|nervous|keen|up for|in love|"
    r"into)\b"
)
_HAVE_FIRST = r"^(?:just |also |really |only |never |always )*(?:been|gone)\b(?! (?:a|an|so|too|ages|forever|long)\b)"
_I_FIRST = (
    r"^(?:just |also |really |still |always |even |recently |finally |already |never |currently )*(?:can't|couldn't|"
    r"love(?! (?:and|is|was|has|can|will|makes)\b)|hate|hope(?! (?:and|is)\b)|need|want|think|feel|guess|wish|miss|"
    r"don't (?=think|know|have|like|want|really|feel|even|get|care)|didn't|haven't|appreciate|have to|used to|would|"
    r"will|won't|enjoy|prefer|plan to)\b"
)
_GERUND = (
    r"^(?:just |still |also |currently |really |always |thinking |definitely )*(\w{2,}ing)\b(?! of (?:the|"
    r"my)\b)"
)
_FINITE = (
    r"\b(?:is|was|are|were|has|have|had|makes?|made|helps?|helped|gives?|gave|can|could|will|would|feels?|felt|"
    r"brings?|brought|"
)
_FINITE += (
    r"wasn't|isn't|hasn't|doesn't|can't|won't|(?!its\b|this\b|always\b|yes\b|ours\b)\w{3,}s (?:me|my|us|you|up|out|"
    r"people|so|such|lots|it|him|her|them)|means|meant|reminds?|reminded|keeps?|kept|shows?|takes?|took|must|should|"
    r"really|got|turned|opened|taught|been|lets?|fires?|creates?|is)\b|'s (?:been|a|so|the|really|not|my|such|"
    r"important|key|great)\b"
)
_IT_FIRST = (
    r"^(?:always |really |just |still |also |definitely )*(?:feels|reminds|makes|means|gives|keeps|helps|brings|seems|"
    r"took (?:some time|an? (?:while|lot|bit|long|few)|me|time|lots|years|months|weeks|days)|"
    r"(?:made|gave|got|helped|kept|reminded|inspired|motivated|showed|taught|brought|blew|meant) (?:me|us|my))\b"
)
_IT_HAS_FIRST = r"^been (?:an?|so|too|really|such|quite|pretty|ages|forever|long)\b"
_IT_IS_FIRST = (
    r"^(?:so |really |super |pretty )*(?:exciting|great|nice|good|amazing|awesome|fun|hard|tough|cool) (?:to|seeing|"
    r"being|how|that)\b"
)
_NEXT_CLAUSE = r"[–—;]| - |(?:, (?:it|i|we|and (?:i|it|we))|,? (?:but|so|which|because|cause))\b"
_COMPANY = (
    r"\b(?:my|the|our) ((?:\w+ )?(?:family|fam|kids?|children|husband|wife|partner|girlfriend|boyfriend|fianc[eé]e?|"
    r"friends?|mom|mum|dad|mother|father|parents|brother|sister|son|daughter|team|teammates|colleagues|coworkers|"
    r"crew|band|group|cousins?|dogs?|squad|roommates?|neighbou?rs?|class|church|pups?|buddy|buddies|pals?|siblings|"
    r"gang|club))\b"
)
_GENERIC = (
    r"\b(?:if|when|where|makes?|lets?|letting|making|helps?|gives?|giving|keeps?|teach(?:es)?|shows|reminds|what|"
    r"whatever|that) $"
)
_AND_I = (
    r"(?:^|(?<=[,;:.] )|(?<=that )|(?<=when )|(?<=because )|(?<=and )|(?<=for )|(?<=with ))(my \w+(?: \w+)?|"
    r"(?-i:[A-Z]\w+)) and I\b(?! (?:am|was)\b|'m)"
)
_US_TWO = r"\b(?:you and (?:i|me)|both of us|the two of us|we both)\b"
_BETWEEN_US = (
    r"\b(?:let's|we should|(?:since|when|after|before) we (?:last )?(?:talked|chatted|spoke|met)|(?:last|next|first) time we|"
    r"we last \w+)\b"
)


class Cast(NamedTuple):
    """Who is meant: the speaker's name, the name of `you` (empty: not known), and `we` in words."""

    speaker: str
    other: str
    group: str


def company(said: str, speaker: str, other: str) -> str:
    """Who `we` are, in words: the other one too, the first company named in what was said so far, or others."""
    if other and regex(_US_TWO).search(said):
        return f"{speaker} and {other}"
    if named := regex(_COMPANY).search(said):
        return f"{speaker} and their {named[1].lower()}"
    if friend := cased(r"\b([A-Z]\w+) and I\b|\bme and ([A-Z]\w+)\b").search(said):
        return f"{speaker} and {friend[1] or friend[2]}"
    if other and regex(_BETWEEN_US).search(said):
        return f"{speaker} and {other}"
    return f"{speaker} and others"


def expanded(sentence: str) -> str:
    """The sentence with contractions of the first and second person and spoken short forms written out.

    Where we went with somebody who is named, it is told of one of us: We went with my aunt, I went with my aunt.
    """
    for pattern, full in _SPOKEN:
        sentence = regex(pattern).sub(full, sentence)
    if regex(r"\bwe (?:\w+ ){1,4}?with " + _COMPANY).search(sentence):
        sentence = regex(r"\bwe\b").sub("I", sentence)
    return sentence


def bare(sentence: str, names: tuple[str, ...]) -> str:
    """The sentence without interjections, forms of address, and tags at either end."""
    text = sentence.strip().rstrip("!?.…~ ").strip()
    called = "|".join(re.escape(short) for name in names for short in (name, name[:3], name[:4], name[:2]) if short)
    for _ in range(4):
        before = text
        text = regex(_FILLERS).sub("", text)
        if called:
            text = cased(
                rf"^(?:[Hh]ey |[Hh]i |[Tt]hanks,? |[Ww]o?ah |[Ww]ow |[Yy](?:eah|ep|up|es),? |"
                rf"[Ss]ure,? )?(?:{called})(?:[,!.]+| [-–])\s*"
            ).sub("", text)
            text = cased(rf"[,!]\s*(?:{called})$").sub("", text)
            text = cased(rf",\s*(?:{called}),\s*").sub(", ", text)
        text = regex(_CONNECTIVES).sub("", regex(_LEADS).sub("", text))
        text = regex(r"^i (?:think|guess|mean|suppose) (?=i\b)|^i meant? (?=my\b|i\b|the\b)").sub("", text)
        text = regex(_TAILS).sub("", text).strip(" ,-–—")
        if text == before:
            break
    return text


def complete(sentence: str) -> str:
    """The sentence with the `I` that speech leaves out: Sold my car, I sold my car; Been away, I have been away."""
    if (shown := regex(_SHOWN).match(sentence)) and is_past(shown["did"].split()[-1]):
        return f"{shown['who']} {shown['did']} {shown['what']}{shown['rest'] or ''}"
    first = sentence.split(" ", 1)[0].lower().rstrip(",")
    lowered = sentence[:1].lower() + sentence[1:]
    if regex(_AM_FIRST).search(sentence):
        return "I am " + lowered
    if regex(_IT_HAS_FIRST).search(sentence):
        return "It has " + lowered
    if regex(_HAVE_FIRST).search(sentence):
        return "I have " + lowered
    if regex(_I_FIRST).search(sentence):
        return "I " + lowered
    if regex(_IT_FIRST).search(sentence):
        return "It " + lowered
    if regex(_IT_IS_FIRST).search(sentence):
        return "It is " + lowered
    if regex(r"^\w+ing\b[^,]{0,60}, (?:I|we|my)\b").match(sentence):
        return sentence
    if (gerund := regex(_GERUND).search(sentence)) and gerund[1].lower() not in _NO_GERUNDS:
        clause = regex(_NEXT_CLAUSE).split(sentence[gerund.end() :])[0]
        if _stands_as_subject(gerund[1].lower(), clause):
            return sentence
        return "I am " + lowered
    words = [word for word in lowered.split() if not is_adverb(word.strip(","))]
    if (
        words
        and words[0].isalpha()
        and is_past(words[0])
        and first
        not in ("let", "put", "set", "read", "cut", "beat", "used", "cost", "hurt", "based", "mixed", "needed")
    ):
        return "I " + lowered
    return sentence


_INTENTIONS = frozenset(
    "hoping planning thinking looking trying wanting going getting working aiming considering".split()
)
# No verbs, or verbs of what befalls one, which stand as subjects: Seeing her smile, that was the best.
_NO_GERUNDS = frozenset(
    """
    something anything nothing everything thanksgiving during morning evening king ring thing spring bring sing being
    having seeing hearing watching knowing losing winning finding challenging exciting amazing rewarding
    """.split()
)


def has_verb(text: str) -> bool:
    """Whether a finite verb is to be seen: a common one, or the -s form of another."""
    words = regex(r"(?<!to )\b[a-z]+s\b").findall(text)
    return regex(_FINITE).search(text) is not None or any(is_verb(word[:-1]) or is_verb(word[:-2]) for word in words)


def is_clause(text: str) -> bool:
    """Whether the text says something of a subject: I, one with a finite verb, or one with a past form behind it."""
    if regex(
        r"^(?:(?:especially )?(?:when|while|if|because|since|although|though|until|which)|especially)\b[^,]*$"
    ).match(text):
        return False
    if regex(r"\b(?:I|we)\b").search(text) or has_verb(text):
        return True
    owned = regex(r"^(?:my|our|his|her|their|the|this|that|(?-i:[A-Z])[\w']+)((?: [\w'-]+){1,5})").match(text)
    return owned is not None and any(map(is_past, owned[1].split()))


def _stands_as_subject(gerund: str, clause: str) -> bool:
    """Running helps me: the gerund is what the clause is about. Running to the shop: the speaker is left out."""
    if gerund in _INTENTIONS:
        return regex(r"\b(?:has been|was|is|can be|makes? me|made me)\b").search(clause) is not None
    return has_verb(regex(r"\b(?:that|who|which) (?:will |would |can |could |also |really )*\w+").sub("", clause))


def of_people(sentence: str) -> str:
    """What is said of us all, said of people: It reminds us of our past, it reminds people of their past."""
    named = False

    def people(m: re.Match[str]) -> str:
        nonlocal named
        again, named = named, True
        word = m[0].lower()
        if word == "ourselves":
            return "themselves" if again else "oneself"
        if word == "our":
            return "their" if again else "people's"
        return "people" if not again else "they" if word == "we" else "them"

    return regex(r"\b(?:we|us|our|ourselves)\b").sub(people, sentence)


def is_general(sentence: str) -> bool:
    """Whether `we` are all people: We all need rest; Rain keeps us indoors."""
    if regex(r"\b(?:I|me|my|mine|myself)\b").search(sentence) or not regex(r"\b(?:we|us|our|ourselves)\b").search(
        sentence
    ):
        return False
    general = (
        r"\bwe (?:all|can|need|should|must|have to|could|ever|never know|both|take|make|face|feel)\b|"
        r"\b(?:energi[sz]es?|reminds?|connects?|helps?|makes?|brings?|gives?|lets?|shows?|teach\w*|keeps?|inspires?|"
        r"motivates?|push(?:es)?|take?s|allows?|around|for|of|to|drives?) (?:both of )?us\b|\bour (?:lives|life|"
        r"world|minds?|goals|dreams|own|fears?|passions?|outlook|enthusiasm|best|planet|bod(?:y|ies)|hearts?|"
        r"struggles?|journeys?)\b|\bourselves\b"
    )
    return regex(general).search(sentence) is not None and not regex(
        r"^we (?!all|can|need|should|must|both)|\bwe(?:'ll|'re|'ve| will| are| have)\b(?! to\b| all\b)|\b(?:was|were|"
        r"went|had|did|last|yesterday|\d{4})\b"
    ).search(sentence)


def third_person(sentence: str, cast: Cast) -> str:
    """The sentence told of `cast.speaker`: I love my dog, Mara loves their dog. Quoted speech is left alone."""
    if cast.other:
        sentence = regex(r"\b(both|two|each) of us\b").sub(lambda _: f"{cast.speaker} and {cast.other}", sentence)
    return outside_quotes(expanded(sentence), _Retelling(cast, sentence).tell)


class _Retelling:
    """One sentence on its way to the third person: who was named so far, and what must agree with it."""

    def __init__(self, cast: Cast, sentence: str) -> None:
        self.cast = cast
        self.named = False  # the speaker's name stands as a subject before
        self.grouped = False  # so does the name of `we`
        self.others = bool(regex(r"\b(?:they|them|their|theirs)\b").search(sentence))
        self.owner_first = bool(regex(r"^(?:my|our)\b").search(sentence))
        # Selling my car was sad, but I …: the name comes later, so that `their` may stand before it.
        self.announced = bool(
            regex(
                r"^\w+ing\b|^(?:after|before|while|when|since|by|in|with|for|during|at|on|as|even|every)\b(?=.*\bi\b)"
            ).search(sentence)
        )

    def tell(self, text: str) -> str:
        text = regex(_AND_I).sub(r"I and \1", text)
        text = regex(r"^me and\b").sub("I and", text)
        tokens = cased(r"\w+(?:['’]\w+)*|\W").findall(text)
        self.out: list[str] = []
        at = 0
        while at < len(tokens):
            at = self._step(tokens, at)
        return "".join(self.out)

    def _step(self, tokens: list[str], at: int) -> int:
        word = tokens[at]
        low = word.lower()
        if low == "i":
            return self._subject(tokens, at)
        if low == "we":
            self.out.append("they" if self.grouped else self.cast.group)
            self.grouped = True
        elif low in ("you", "your", "yours", "yourself"):
            return self._second(tokens, at, low)
        elif low == "am":
            self.out.append("is")
        elif low in _OBJECTS:
            self.out.append(self._object(low))
        else:
            self.out.append(word)
        return at + 1

    def _pronoun(self) -> bool:
        """Whether `they` can only mean the speaker here."""
        if not self.named or self.others or self.owner_first or self.grouped:
            return False
        return not regex(
            r"\b(?!(?:is|was|has|does|as|this|its|us|yes|always|\w*(?:ss|ous|ics|us|'s))\b)\w{3,}s\b|\b(?:people|"
            r"kids|children|and \w+ (?:were|are))\b"
        ).search(self._since_name())

    def _since_name(self) -> str:
        text = "".join(self.out)
        rest = text[text.find(self.cast.speaker) + len(self.cast.speaker) :]
        return " ".join(word for word in rest.split(" ")[2:])

    def _subject(self, tokens: list[str], at: int) -> int:
        compound = (
            [token.lower() for token in tokens[at + 1 : at + 4]][:3] == [" ", "and", " "]
            and bool(tokens[at + 4 :] and (tokens[at + 4].lower() in ("my", "our") or tokens[at + 4][0].isupper()))
            and tokens[at + 4] != "I"
        )
        they = self._pronoun()
        self.out.append("they" if they else self.cast.speaker)
        self.named = True
        inverted = at >= 2 and tokens[at - 2].lower() in (
            "do",
            "am",
            "have",
            "did",
            "was",
            "can",
            "will",
            "could",
            "would",
            "should",
        )
        if inverted and not they:
            self.out[-3:-2] = [singular(tokens[at - 2])] if len(self.out) >= 3 else []
        self.grouped = self.grouped or compound
        if compound or inverted:
            return at + 1
        return self._agree(tokens, at + 1, plural if they else singular)

    def _agree(self, tokens: list[str], at: int, form: Callable[[str], str]) -> int:
        """Brings the verb that follows, and those that share its subject, to `form`."""
        while at < len(tokens) and (not tokens[at][0].isalpha() or is_adverb(tokens[at])):
            if tokens[at] in ".;:!?":
                return at
            self.out.append(tokens[at])
            at += 1
        if at >= len(tokens):
            return at
        verb = tokens[at]
        self.out.append(form(verb))
        if form is singular and inflects(verb) and verb.lower() not in ("do", "don't"):
            tokens[at + 1 :] = _coordinated(tokens[at + 1 :], verb.lower() in ("am", "have"))
        return at + 1

    def _second(self, tokens: list[str], at: int, low: str) -> int:
        before = "".join(self.out)
        if (regex(_GENERIC).search(before) and not self.named) or not self.cast.other:
            self.out.append({"you": "people", "your": "their", "yours": "theirs", "yourself": "themselves"}[low])
            return at + 1
        if low != "you":
            self.out.append("oneself" if low == "yourself" else f"{self.cast.other}'s")
            return at + 1
        self.out.append(self.cast.other)
        subject = not regex(
            r"\b(?:to|for|with|of|about|from|at|on|by|than|see|thank|help|let|and|make|"
            r"made) $"
        ).search(before)
        verb = next((token.lower() for token in tokens[at + 1 :] if token[0].isalpha() and not is_adverb(token)), "")
        verbal = verb in _AUXILIARIES or verb in STATES or verb in ACTIONS or is_past(verb)
        return self._agree(tokens, at + 1, singular) if subject and verbal else at + 1

    def _object(self, low: str) -> str:
        speaker, first = self.cast.speaker, low in ("me", "my", "mine", "myself")
        if low in ("myself", "ourselves"):
            return "themselves"
        if low in ("my", "our"):
            return "their" if (self.named and not self.others) or self.grouped or self.announced else f"{speaker}'s"
        if low in ("mine", "ours"):
            return f"{speaker}'s"
        if first:
            return "them" if self._pronoun() else speaker
        return "them" if self.grouped else self.cast.group


_AUXILIARIES = frozenset(
    "are have were can could will would should might may do don't aren't haven't can't won't must".split()
)
_OBJECTS = frozenset("me my mine myself us our ours ourselves".split())


_NEW_SUBJECTS = frozenset(
    """
    i we they it he she this that it's they're because when which who if while where since . ; : ! ? – —
    """.split()
)


def _coordinated(tokens: list[str], auxiliary: bool) -> list[str]:
    """The tokens up to the next clause with the verbs behind `and`, `but`, `or` brought to the third person."""
    done = list(tokens)
    infinitive = False
    for at, token in enumerate(tokens):
        low = token.lower()
        if low in _NEW_SUBJECTS and not (
            low == "it" and [one.lower() for one in tokens[at + 1 : at + 3]] == [" ", "and"]
        ):
            break
        infinitive = infinitive or low in ("to", "let", "help", "can", "will", "would")
        if low not in ("and", "but", "or", "then"):
            continue
        verb = at + 1
        while verb < len(tokens) and (not tokens[verb][0].isalpha() or is_adverb(tokens[verb])):
            verb += 1
        word = tokens[verb].lower() if verb < len(tokens) else ""
        after = next((token.lower() for token in tokens[verb + 1 :] if token[0].isalpha()), "")
        if word in AMBIGUOUS and after not in BEHIND_VERBS and not after.endswith("ing"):
            continue
        shared = word in ACTIONS and not infinitive and (not auxiliary or word == "have")
        if word in STATES or shared:
            done[verb] = singular(tokens[verb])
    return done
