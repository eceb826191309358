"""English verbs as far as a change of person needs them: which forms stay, which take an -s."""

from functools import cache

MODALS = frozenset(
    "can could will would shall should may might must can't couldn't won't wouldn't shouldn't cannot".split()
)
ADVERBS = frozenset(
    "really just also always never usually often still even only actually definitely recently finally already sometimes "
    "totally truly especially probably currently now once ever too almost basically honestly literally kinda sorta mostly "
    "quite rather pretty first then soon both all myself personally absolutely certainly mainly simply rarely seldom "
    "lately normally generally initially eventually gladly hardly barely nearly not so long ago".split()
)
_PAST = frozenset(
    """
    was were had did said went got made knew thought took saw came found gave told felt left meant kept let began showed
    heard ran held brought wrote sat stood lost paid met set led understood spoke read spent grew won taught bought sent
    fell built stayed caught drew chose sought hit rode ate drank sang swam threw drove broke flew wore woke forgot sold
    cut put hurt quit beat bet cost shut spread split hung fought dug lay slept swept kept dealt dreamt learnt leant burnt
    knelt leapt lit shot slid spun stuck struck swung tore wept wound froze hid shook stole sank rang shrank bit blew
    became overcame withdrew undertook upset fed bled bred fled sped lent bent rose arose awoke bore bound clung crept flung
    forgave forgot froze ground laid misunderstood mistook overslept proved rebuilt redid rewrote sewed shaved shed shone
    sprang stung strode swore undid wove wrung binged used didn't wasn't weren't hadn't
    """.split()
)
_BASE_IN_ED = frozenset(
    "need feed seed heed weed speed breed bleed proceed exceed succeed embed wed shed bed exceed indeed".split()
)
_SINGULAR = {
    "am": "is", "are": "is", "have": "has", "do": "does", "don't": "doesn't", "haven't": "hasn't", "aren't": "isn't",
    "ain't": "isn't", "were": "was", "weren't": "wasn't",
}  # fmt: skip
_PLURAL = {"am": "are", "was": "were", "wasn't": "weren't", "is": "are"}
# Behind "and" these share the subject of the sentence, whatever stands between: no nouns, no second infinitives.
STATES = frozenset(
    "want need hope think believe know love like prefer hate adore am don't haven't wish appreciate".split()
)
ACTIONS = frozenset(
    """
    feel enjoy have understand find look own live dream work teach plan try keep miss go get make take see use
    play read write run cook bake paint help spend give learn study watch listen meet visit travel hike swim
    walk drive ride buy sell build start practice train meditate volunteer eat drink dance sing talk share
    remember compete imagine wonder create do bring come put say tell
    """.split()
)


# Nouns as well: love and hope; they are verbs where something stands behind them that only a verb takes.
AMBIGUOUS = frozenset(
    """
    love hope need wish dream work plan help play run walk drive ride study train practice share paint drink dance sing talk
    travel hike swim visit look start watch cook bake sell own
    """.split()
)
BEHIND_VERBS = frozenset(
    """
    a an the to my our your their his her it that this these those me you him them us myself how what when being some any all
    about with for at on in up more new every each
    """.split()
)
_OTHERS = frozenset(
    """
    build push motivate inspire show allow mean require boost remind fuel drive fill lift pay matter open teach change
    calm relax challenge connect remain become open strengthen improve support turn lead seem look sound beat never
    """.split()
)
_NO_ADVERBS = frozenset("rely fly apply reply supply imply comply family".split())


def is_past(verb: str) -> bool:
    """Whether the word is a past form, which is the same in every person but for was and were."""
    word = verb.lower()
    return (
        word in _PAST
        or word.removeprefix("re") in _PAST
        or (word.endswith("ed") and word not in _BASE_IN_ED and len(word) > 3)
    )


def is_verb(word: str) -> bool:
    """Whether the word is the base form of one of the verbs known here."""
    return word in ACTIONS or word in STATES or word in _OTHERS


def inflects(verb: str) -> bool:
    """Whether the word is a present form that takes an -s in the third person."""
    word = verb.lower()
    return word.replace("'", "").isalpha() and word not in MODALS and not is_past(word)


@cache
def singular(verb: str) -> str:
    """The form that goes with he or she: love, loves; have, has; went, went."""
    word = verb.lower()
    if word in _SINGULAR:
        return _SINGULAR[word]
    if not inflects(word) or "'" in word:
        return verb
    if word.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    return verb[:-1] + "ies" if word.endswith("y") and word[-2:-1] not in "aeiou" else verb + "s"


def plural(verb: str) -> str:
    """The form that goes with they: am, are; was, were; love, love."""
    return _PLURAL.get(verb.lower(), verb)


def is_adverb(word: str) -> bool:
    """Whether the word may stand between a subject and its verb."""
    low = word.lower()
    return low in ADVERBS or (low.endswith("ly") and low not in _NO_ADVERBS)
