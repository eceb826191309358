"""Whether a sentence means nothing without what was said before it: It was fun; I took it there; She is a nurse; 这很难.

English and Chinese, by word lists: a pronoun stands alone where something that it may stand for is named before it in the
same sentence.
"""

from filemem.statements.utterance import cased, regex

_TIMES = (
    r"(?:week|weekend|month|year|morning|afternoon|evening|night|day|summer|winter|spring|fall|autumn|season|semester|"
    r"time|moment|one|way|past|last|next|coming|few|two|three)s?\b"
)
# Subjects that mean something said before: It was fun; The event was great; This book is long; 这很难.
_SUBJECT = (
    r"^(?:(?:and|but|so|because|since|although|though|when|while|if|plus|also|not only|even though) )*(?:it|it's|"
    r"that|that's|they|they're|he|he's|she|she's|his|her|their|its|such|(?:one|some|many|most|all|both|"
    r"none) of (?:them|it|these|those)|one (?:is|was)|both|which|who|here|here's|everyone|everything|"
    rf"(?:this|these|those) (?!{_TIMES})\w+|the \w+ (?:is|was|are|were|has|have|makes?|made|looks?|looked|feels?|"
    r"felt|really|gave|gives?|turned|came|went|got|helped|helps?|kept|keeps?|reminds?|reminded))\b|"
    r"^(?:但|而且?|所以|因为|并且)?(?:这(?![个次种]|里)|那(?![个次种]|时|天|里)|它|他|她|其(?!实)|真的|让|使|令)"
)
# It with nothing behind: It is important to help, It was great seeing them.
IMPERSONAL = (
    r"^it(?:'s| is| was|'s been| has been| feels?| felt| took| takes| would be| means a lot) (?!(?:an?|the|like|my|"
    r"one|about|all|just|in|at|on|from|for)\b)(?:\w+ ){0,4}?(?:to|that|how|when|being|having|seeing|(?!something|"
    r"nothing|anything|everything|during|morning|evening)\w{2,}ing)\b|^it(?:'s| is| was|'s been|"
    r" has been) an? (?:\w+ )?(?:relief|blessing|joy|pleasure|honou?r|privilege|dream|shame|pity|treat|reminder) to\b"
)
# What points at something shown or said before, whatever nouns there are: a fan of it, that book, been there, a free one.
_POINTING = (
    r"\b(?:fan|part|lots?|bit|all|some|most|any|none|one|many|much|few|rest|piece|picture|pic|glimpse|kind|sort|love|"
    r"tons|both|each|half|couple|version) (?:of|for) (?:it|them|that|this|those|these|him|her)\b|\b(?:in|on|at|of|"
    r"for|with|from|about|to|into|through|after|before|during|by|over|around|read|reading|saw|see|seen|watch|watched|"
    r"loved?|liked?|bought|made|painted|visited|visit|tried|try|played?|finished|used?|won|wrote|made)"
    rf" that (?!{_TIMES}|(?:i|we|you|they|he|she|it|my|our|your|the|an?|there|people|everyone|is|was|are|were|will|"
    rf"would|can|"
    r"could|has|have|had|makes?|made|helps?|helped|really|never|always|just|all|each|every)\b|\w+(?:s|ed)\b)[a-z]+|"
    r"\b(?:about|into|behind) (?:it|them|this)\b|\b(?:at|of|for|with|from) it(?=$|[.,;!]| (?:and|but|all|now|too|"
    r"so)\b)|\bthis (?:is|was|has|will|would|could|feels?|means?|makes?|made|gives?|gave|helps?)\b|\bso many(?=$|,)|"
    r"\ba ton(?=$|[.,;!])|"
    rf"\b(?:those|these) (?!{_TIMES}|(?:who|that|days|times)\b)\w+|"
    r"\b(?:this|that|the|(?:an?|the) \w+|new|other|another|old|last|first|good|great|nice|big|small|my|fav\w*|\w+est|had|"
    r"have|get|got|make|bought|want|need|try|tried) ones?(?=$|[,.;!]| (?:in|to|for|with|and|but|so|because|too|soon|now|"
    r"yet)\b)|\b(?:found|got|had|have|bought|saw|know|need|want) (?:one|two|three|four|five)(?=$|[,.;!]| (?:and|but|so)\b)|"
    r"\beither (?:is|was|means?)\b|"
    r"\b(?:some|a few|several|another|tons|plenty|both)(?=$|[.,;!]| (?:to|at|from|in|on|soon|too|now|yet)\b)|"
    r"\bhere(?=$|[.,;!]| (?:for|since|in|and|about|to|with|last|now|on|at)\b)|\b(?:something|anything|nothing|"
    r"things?|stuff|places?|moments?|people|events?|times?) like (?:that|this|these|those)\b|"
    r"(?<=\w )(?<!how )(?<!like )(?<!to )(?<!besides )(?<!after )(?<!before )(?:that|this|those|these|there|so)(?=$|"
    r"[.,;!]| (?:too|yet|before|after|again|and|but|for|with|every|once|when|while|because|during|myself|yesterday)\b)|"
    r"\b(?:trips?|go|going|went|gone|been|moved|"
    r"travel\w*|get|getting|being|out) there\b|(?:没机会|没时间|还没|从来?没|没能|想|打算)[去来试看吃听玩]过?$"
)
# It as an object, which needs a noun before it, unless in an idiom or standing for a clause to come.
_THING = (
    r"\b(?<!worth )(?<!for )it(?! (?:work|happen|big|count|through|up to|clear|a habit)\b|'s \w+ (?:to|that|when|"
    r"how)| is \w+ (?:to|that|when|how)| (?:hard|easy|easier|important|difficult|a point)\b)\b"
)
_NOUN = (
    r"\b(?:an?|the|my|our|your|his|her|some|any|every|each|this|these|that|two|three|four|new|old|home|everyone|"
    r"someone|people|kids|work|school)\b|(?:s|tion|ment|ness|ship|"
    r"ity)\b(?<!\bis)(?<!\bwas)(?<!\bhas)(?<!\balways)(?<!\bsometimes)(?<!ous)(?<!ss)"
    r"(?<!\blots)(?<!\btons)|\w(?<!\bgo)ing\b(?=.*\w)"
)
# Lots of reminders of it: that noun is not what it stands for.
_ITS_OWN = r"\b[a-z]+ (?:of|about|for) $"
_THOSE = r"\b(?:they|them|their|theirs|themselves)\b(?! (?:way|own)\b)"
_SEVERAL = (
    r"\b(?:people|kids?|children|family|fam|friends?|everyone|everybody|someone|somebody|anyone|team|group|crowd|audience|"
    r"folks?|others?|couple|crew|band|those who|(?!(?:is|was|has|does|this|its|yes|always|sometimes|less|unless|guess|"
    r"across|towards|perhaps|besides|news|whatever|\w+(?:ss|ous|ness))\b)\w{3,}s|(?!\w+(?:ing|ed)\b)\w+ and (?!i\b)\w+)\b"
)
_PERSON = r"\b(?:he|she|him|her|his|hers)\b|[他她它](?!们)"
# Somebody that he or she can stand for.
_SOMEBODY = (
    r"(?<!^)\b(?!I\b)[A-Z][a-z]+|^[A-Z][a-z]+(?= (?:says|said|is|was|has|had|told|thinks|wants|loves|"
    r"likes)\b)(?<!He)(?<!She)(?<!It)(?<!How)(?<!What)(?<!Who)(?<!Where)(?<!When)(?<!Why)|"
    r"\b(?:[Mm]y|[Aa]|[Aa]n|[Tt]he|[Tt]his|[Oo]ur) \w+|[\u4e00-\u9fff]{4}"
)


def leans(sentence: str) -> bool:
    """Whether the sentence needs the one before it."""
    if regex(_POINTING).search(sentence):
        return True
    impersonal = regex(IMPERSONAL).search(sentence)
    if not impersonal and regex(_SUBJECT).search(sentence) and not cased("^The [A-Z]").search(sentence):
        return True
    return (
        (not impersonal and _unnamed(_THING, _NOUN, sentence))
        or _unnamed(_THOSE, _SEVERAL, sentence)
        or _unnamed(_PERSON, "", sentence)
    )


def _unnamed(pronoun: str, named: str, sentence: str) -> bool:
    """Whether the first such pronoun has nothing before it that it may stand for."""
    found = regex(pronoun).search(sentence)
    if not found:
        return False
    before = sentence[: found.start()]
    if named == _NOUN:
        before = regex(_ITS_OWN).sub("", before)
    if not named:
        return cased(_SOMEBODY).search(before) is None
    return not regex(named).search(before) and not cased(r" (?!I\b)[A-Z]").search(before)
