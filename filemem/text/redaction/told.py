"""Secrets that a sentence, a setting or a command tells as such, in the languages of `data/secret-words.txt`.

Where a value could be something else as well, it goes only beside a word that says what it is. In a pattern ‹name› stands for
one of the parts below or for any word of that role; its one group that takes part is the secret. All are for re.ASCII, so that
a Chinese character ends a word, and without case but in (?-i:). A match begins at a word, and what repeats is bounded, so that
the work grows with the length of the text alone.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from filemem.text.redaction.issued import by_chance
from filemem.text.redaction.words import any_of, beginnings, one_of, roles

Accepts = Callable[[re.Match[str]], bool]
KEY, TOKEN, PASSWORD, CODE = "api key", "token", "password", "code"


class Finder(NamedTuple):
    """A kind, texts of which one must be there, in lower case, a pattern and what else its match must satisfy."""

    kind: str
    anchors: tuple[str, ...]
    pattern: str
    accepts: Accepts

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the group that took part stands, if accepted; else the search goes on one character later."""
        pattern, at = re.compile(self.pattern, re.ASCII), 0
        while match := pattern.search(text, at):
            start, end = match.span(match.lastindex or 0)
            at = match.start() + 1
            if start < end and self.accepts(match):
                yield start, end
                at = end


# -- the parts of a sentence -----------------------------------------------------------------------------------------

_HAN = "\u3400-\u9fff"
_PARTS = {
    "begins": "(?:(?<![A-Za-z0-9])|(?-i:(?<=[a-z])(?=[A-Z])))",
    "noun": r"(?:(?:(?<!1)‹password›|‹begins›‹password-short›)s?(?:\s?\([^()\n\0]{1,30}\))?)",
    "zh noun": "(?:(?<!《)‹password-zh›(?![子学本锁破器]))",
    "filler": r"""[^\s\0:=,;!?"“”]{0,30}""",
    "of it": r"(?:\s+‹of›(?:(?<=')|(?![A-Za-z]))(?:‹filler›\s+){0,6}?‹filler›)?",  # for the office wifi
    "verb": "(?:(?:,?\\s+‹is›|['’]s)(?![a-z]))",
    "sign": r"""\\?["'`*]{0,2}\s{0,4}(?:=>|->|:=|[:=])\**\s{0,4}""",
    "link": r"(?:‹sign›|\?\s+it['’]?s\s+|(?:‹verb›|\s?[は是为])\s{0,4}[:=-]?\s{0,4}(?:‹still›[\s,:]+){0,3})",
    "char": rf"[^\s\0“”‘’「」『』\u3000-\u30ff{_HAN}\uff00-\uff65]",
    "last": r"""(?<![.,;:?)\]}>'"`*])""",
    "quoted": r"""\\?["'`“‘「『«](?P<quoted>[^\n\0"`“”‘’「」『』«»]{1,80}?)\\?["'`”’」』»]""",
    "value": r"(?:‹quoted›|\(?(‹char›{1,128}‹last›))",
    "beside": r"""["'`“]?(‹char›{4,64}‹last›)""",
    "ascii value": r"(?:‹quoted›|\(?([!-~]{1,128}‹last›))",
    "phrase": r"\"?([A-Za-z]{2,12}(?:[ -][A-Za-z]{1,12}){1,7})(?=‹end›)",
    "end": r"""[!"'”’»`)\]}*]*(?:[.,;?)\]…，。！？；、]|$|\s*\n|\s+[-–—(]|[\s,]+‹and-end›(?![a-z]))""",
    "digits": r"""[#"'“]?((?-i:‹groups›|[0-9]{3,12}|(?=[A-Z-]{0,7}[0-9])[A-Z0-9-]{4,10})(?![\w-]))""",
    "groups": "(?:[0-9]{1,4}(?:[ -][0-9]{1,4}){2,4}|[0-9]{3,4}[ -][0-9]{3,4})",
    "auth": r"""authorization["']?\s{0,4}[:=]\s{0,4}["']?""",
    "setting": "(?:password|passwd|pwd|pass)",
    "query": r"""=([^\s\0&#"'<>]{4,200})""",
    "key link": r"(?:\s{0,4}(?:=>|:=|[:=])|\s?[是为]|[ \t]{1,3}(?=[\w.+/~-]{20})|\s+‹is›(?![a-z]))",
    "pin": r"(?:(?:(?<![A-Za-z0-9_])(?-i:PIN)|\b(?:‹my›|card|sim|phone|bank|atm|debit|credit|unlock)\s+pin"
    r"|\bpin(?=‹of it›‹link›|\s+[0-9]{4,6}\b))"
    r"(?![ -]?code\s*(?:is|:|=)?\s*[1-9][0-9]{5}(?![0-9]))(?:[ -]?(?:code|number|no\.?))?)",  # six digits: of an address
    "named code": r"\b(?:‹code-name›|‹place›[ -]?‹code›|‹code›\s‹of›\s?(?:‹my›\s)?(?:\w{2,12}\s)?‹place›)s?",
    "change it": r"\b‹change›\s+(?:[\w'’]{1,20}\s+){0,4}?(?:‹noun›|pin)(?:\s+from\s+[^\s\0]{1,64}|\s+back)?‹of it›",
    "whose": r"(?:(?:the\s|‹my›\s)?‹noun›\s?)?",
    "any login": "(?:‹login›|‹network›)",
    "within": r"(?:[^.!?\n\0]|[.](?!\s|$))",
    "zh said": r"(?:改[成为]|设置?[成为]|换成|用的?是?|[是为叫:=]|->)[了成是为:=\s]{0,4}",
}

_PLACEHOLDER = (
    r"(?i)(?:[*•·#._?…-]+|x{3,}|<.*|\$\{.*|\$\(.*|\$[A-Z_]+|\{.*|%[s(].*|\[.*|[a-z_][\w.]*\(.*|(?:your|my|the)[_-].*"
    r"|\w*(?:\.|_)\w*(?:passw\w*|pwd|env\w*)\w*(?:[\[.].*)?|(?:os|env|process|self|args|config|settings)\..*)$"
)
_TECHNICAL = (
    r"(?i)(?:md[45]|sha-?\d+|base\d\d|bcrypt|argon2\w*|[2m]fa|oauth2?|utf-?8|aes-?\d*|pbkdf2|scrypt|ntlm|rot13|1password\d?"
    r"|v\d+(?:\.\d+)*|\d+(?:st|nd|rd|th)|\d+[-–](?:char\w*|digits?|bits?|letters?|words?|years?|days?|months?)|\d{1,2}:\d\d(?:[ap]m)?"
    r"|(?:19|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}|c\+\+|at&t|https?:.*"
    r"|.*\.(?:txt|md|pdf|docx?|xlsx?|py|json|ya?ml|kdbx?|com|org|net|git))(?:-[a-z]+)?$"
)
_USUAL = (
    r"(?i)[@#$].*|.*://.*|.*@[\w-]+\..*|[~.]{0,2}/.*|.*/.*/.*|\\.*|.*\(.*|.*[=\[{}].*|\d+x\d+.*|-.*|%.*|v?\d+\.\d.*|\d+[a-z/%°]+\d?"
    r"|(?:i?phone|ipad|ios|macos|windows|android|chrome|firefox|galaxy|pixel|wi-?fi|wpa|web|server|usb|mp|sha|aes|utf|ipv|http|ssl|tls"
    r"|python|java|php|ps|xbox|covid|gpt|chatgpt|claude|step|room|page|level|version|build|test|user|team|group|floor|gate|line|row)-?\d{1,4}.{0,3}"
)  # handles, tags, addresses, paths, code, measures, versions, names of products
_ZH_UNIT = r"\s*(?:[年月日位个次字天点号元块人条种篇页章]|多[个位次]|以[上下]|bits?)"
_PLAIN_WORD = (
    r"(?!.{3,}(?:ed|ing|able|ible|less|ous|iert|ado|ada|ido|ida|é|ée)$)(?!ge.{3,}(?:t|en)$)"
    r"[^\W\d_](?:[^\W\d_]|['’_-]){2,40}"
)
_ZH_END = rf"[\s”’」』)]*(?:[^\w\s]|$|\n|[哦啦呀啊哈吧嘛喔噢](?![{_HAN}]))"


# -- what a value must be --------------------------------------------------------------------------------------------


def value_of(match: re.Match[str]) -> str:
    """The match's one group that took part."""
    return match[match.lastindex or 0]


def _rest(match: re.Match[str]) -> str:
    return match.string[match.end() : match.end() + 24]


def _no_template(match: re.Match[str]) -> bool:
    """No placeholder, and no name of what should stand there."""
    return _no_placeholder(match) and value_of(match).casefold() not in ("password", "passwd", "pass", "pwd", "secret")


def _any(match: re.Match[str]) -> bool:
    return True


def _random(match: re.Match[str]) -> bool:
    return by_chance(value_of(match))


def _no_placeholder(match: re.Match[str]) -> bool:
    return not re.match(_PLACEHOLDER, value_of(match))


def _counts(match: re.Match[str]) -> bool:
    """Whether what follows says that the value is a number of something."""
    rest = _rest(match)
    return bool(re.match(rf"(?i)[\s-]*(?:{any_of('unit')}(?![a-z])|%)", rest) or re.match(_ZH_UNIT, rest))


def strong(value: str) -> bool:
    """Not a word of any sentence: four digits or more, letters with digits, or signs within."""
    core = value.rstrip("!")
    if len(core) < 4 or re.match(_TECHNICAL, core):
        return False
    digits, letters = any(map(str.isdigit, core)), any(map(str.isalpha, core))
    return (digits and (letters or core.isdigit())) or (len(core) > 4 and any(sign in core for sign in "!@#$%^&*+=~"))


def usual_name(value: str) -> bool:
    """Whether a word with digits or signs in it is no secret: an address, a path, a measure, a product."""
    return bool(re.fullmatch(_USUAL, value)) or not strong(value) or not any(map(str.isalpha, value))


def made_up(value: str) -> bool:
    """Made up to be hard to guess: letters with a sign within, or small and capital letters with digits."""
    if usual_name(value):
        return False
    cases = any(map(str.islower, value)) and any(map(str.isupper, value)) and any(map(str.isdigit, value))
    product = re.fullmatch(r"[A-Z][a-z]+\d{1,4}", value)
    return any(sign in value for sign in "!#$%^&*=~") or (cases and len(value) >= 8 and not product)


def _settled(match: re.Match[str]) -> bool | None:
    """What needs no look at the value's form: a placeholder or usual predicate is no password, a value in quotes is one."""
    value = value_of(match).rstrip("!")
    if re.match(_PLACEHOLDER, value):
        return False
    if match.lastgroup == "quoted":
        return True
    return False if value.casefold() in one_of("predicate") else None


def _password(match: re.Match[str]) -> bool:
    """After "password is": in quotes, strong, or a plain word that ends the clause and is no usual predicate."""
    settled = _settled(match)
    if settled is not None:
        return settled
    if strong(value_of(match)):
        return not _counts(match)
    plain = re.fullmatch(_PLAIN_WORD, value_of(match).rstrip("!"), re.IGNORECASE)
    return bool(plain and re.match(_expanded("(?i)‹end›"), _rest(match)))


def _zh_password(match: re.Match[str]) -> bool:
    """After 密码是: in quotes, strong, or a plain word with no Chinese that goes on after it."""
    settled = _settled(match)
    if settled is not None:
        return settled
    value = value_of(match).rstrip("!")
    plain = re.fullmatch("[A-Za-z]{3,}", value) and re.match(_ZH_END, _rest(match))
    return not _counts(match) and (strong(value_of(match)) or bool(plain))


def _zh_phrase(match: re.Match[str]) -> bool:
    """Chinese words that say nothing of where the password is or how."""
    return not re.search(any_of("predicate-zh"), value_of(match))


def _strong_said(match: re.Match[str]) -> bool:
    """After a word that is a password's name at times only, or with no verb between: strong, and not short."""
    value = value_of(match)
    long = len(value) >= (4 if re.search(f"[{_HAN}]", match[0]) else 5 if value.isdigit() else 6)
    return strong(value) and long and not _counts(match) and not re.match(_PLACEHOLDER, value)


def _told_before(match: re.Match[str]) -> bool:
    """Before "as the password": in quotes, or strong."""
    return match.lastgroup == "quoted" or _strong_said(match)


def _mixed(match: re.Match[str]) -> bool:
    """Strong, and no mere number."""
    return _strong_said(match) and not re.fullmatch(r"[\d.,:/-]+", value_of(match))


def _made_up(match: re.Match[str]) -> bool:
    """Made up to be hard to guess, as no name and no address is."""
    return made_up(value_of(match)) and not re.match(_PLACEHOLDER, value_of(match))


def _made_up_too(match: re.Match[str]) -> bool:
    """Made up, with a digit: a network's name may have a sign."""
    return _made_up(match) and any(map(str.isdigit, value_of(match)))


def _behind_name(match: re.Match[str]) -> bool:
    """Made up, behind a name that has signs or digits; behind an address with letters and digits."""
    address = "@" in re.split(r"[\s,/]", match[0])[0]
    return (_made_up_too(match) or address) and _mixed(match) and not usual_name(value_of(match))


def _pair(match: re.Match[str]) -> bool:
    """Behind a name in a pair: with letters and digits; else strong, or behind a name that is no plain word."""
    if match["between"] == ", ":
        return _mixed(match) and not usual_name(value_of(match))
    return strong(value_of(match)) or bool(re.search(r"[\d._@]", match[1]))


def _phrase(match: re.Match[str]) -> bool:
    """Words that make no sentence about a password.

    Of two or three none only joins and none says how a password is; behind a sign, and of more, some may. With an article
    begins what is called a phrase.
    """
    said = re.split("[ -]", value_of(match).lower())
    joins, says, clause = one_of("function"), one_of("predicate"), one_of("clause")
    if (
        said[0] in clause
        and len(said) > 4
        and re.search("(?i)phrase|frase", match[0][: match.start(match.lastindex or 0) - match.start()])
    ):
        return (says - joins).isdisjoint(said)
    if said[0] in joins or said[0].endswith("ly") or not re.fullmatch(_PLAIN_WORD, said[0]):
        return False
    if joins.isdisjoint(said) or said[0] in says:
        return joins.isdisjoint(said) and (len(said) > 3 or says.isdisjoint(said))
    signed = re.search(r"[:=][\s\"'“*]*$", match.string[: match.start(match.lastindex or 0)])
    usual = (says - joins) | (clause if signed or one_of("and") & set(said) else one_of("and-end") - one_of("and"))
    return (bool(signed) or len(said) > 3) and usual.isdisjoint(said)


def _code(match: re.Match[str]) -> bool:
    """A code has three digits or more, and does not count something."""
    return not _counts(match) and sum(map(str.isdigit, value_of(match))) >= 3


def _zh_code(match: re.Match[str]) -> bool:
    return not _counts(match) and any(map(str.isdigit, value_of(match)))


# -- the finders -----------------------------------------------------------------------------------------------------

# A kind; texts or roles of which a word must be there; the pattern; what its match must satisfy. The surest come first.
_FINDERS: list[tuple[str, str, str, Accepts]] = [
    # What programs read: headers, addresses, connection strings, commands.
    (TOKEN, "basic", r"‹auth›basic\s{1,4}([A-Za-z0-9+/]{6,}=*)", _any),
    (TOKEN, "bearer authorization", r"(?:\bbearer\s{1,4}|‹auth›(?:token\s{1,4})?)([\w.~+/-]{8,}=*)", _random),
    (
        PASSWORD,
        "://",
        r"""://[^\s\0/?#@:"'<>]{0,100}:(?![0-9]{1,5}/)([^\s\0"'<>]{1,100})@(?=[\w.\[\]-]{1,255}(?::[0-9]{1,5})?(?:[/?,;\s"'<>)]|$))""",
        _no_template,
    ),
    (
        PASSWORD,
        ";",
        r"""=[^;=\n\0]{0,100};\s?‹setting›\s?=\s?((?:[^;\n\0"']|;(?=\S)(?![\w ]{1,40}=)){1,100})(?=;|["'\n]|$)""",
        _no_placeholder,
    ),
    (PASSWORD, "wifi:", r"WIFI:(?:[TSH]:[^;\n\0]{0,64};){0,3}P:([^;\n\0]{1,64});", _any),
    (
        PASSWORD,
        "-u",
        r"""(?<!\S)(?:-u|--user)[ =]?"""
        r"""(?:["'][^\s\0"':]{1,64}:([^\n\0"']{3,100})["']|[\w.@+$-]{1,64}:(?![0-9]+\b)([^\s\0"']{3,100}))""",
        _no_placeholder,
    ),
    (
        PASSWORD,
        "--",
        r"""(?<!\S)--(?:‹setting›|passphrase|token|secret|api-key)[ =]["']?([^\s\0"'-][^\s\0"']{2,100})""",
        _no_placeholder,
    ),
    (
        PASSWORD,
        "-p redis-cli",
        r"""\b(?:(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n\0|;]{0,100}? -p|sshpass\s+-p\s?"""
        r"""|redis-cli\b[^\n\0|;]{0,100}? -a\s)"""
        r"""(?:["']([^\n\0"']{1,80})["']|([^\s\0"'-][^\s\0]{1,80}))""",
        _no_placeholder,
    ),
    (PASSWORD, "=", "[?&]‹setting›‹query›", _strong_said),
    (KEY, "=", "[?&](?:token|access_token|api_?key|key|(?:client_)?secret|sig|signature)‹query›", _random),
    (
        KEY,
        "key",
        r"""‹begins›?‹key›["'`\\]{0,2}(?:‹of it›|(?:\s+‹filler›){0,3}?)‹key link›\s{0,4}\\?["'`“]?([\w.+/~-]{8,200}=*)""",
        _random,
    ),
    # Codes.
    (CODE, "pin", r"‹pin›(?:‹of it›‹link›|\s+)‹digits›", _code),
    (CODE, "code code-name", r"‹named code›(?:‹of it›‹link›|\s+)‹digits›", _code),
    (
        CODE,
        "code codigo",
        r"(?:\b‹my›\s|^|(?<=[.!?\n]\s)|(?<=\n))(?:(?!‹no-secret›\b)\w{2,20}\s){0,2}(?:code|codigo|kode)‹link›([0-9]{4,8}|‹groups›)(?![\w-])",
        _code,
    ),
    (CODE, "opens", r"\b‹place›\s‹opens›\s‹digits›", _code),
    (
        CODE,
        "code pin otp pass",
        r"(?<![^\s'“(])([a-z]-[0-9]{4,8}|[0-9]{4,8})\s+(?:‹is›|as)\s+‹my›\s+(?:[\w-]{1,20}\s+){0,2}?"
        r"(?:‹code-name›|(?:door|gate)\s+code|pin|‹password›)\b",
        _code,
    ),
    # Passwords said as such.
    (PASSWORD, "password password-short", "‹noun›‹of it›‹link›‹phrase›", _phrase),
    (PASSWORD, "password password-short", "‹noun›‹of it›‹link›‹value›", _password),
    (PASSWORD, "password password-short", r"‹noun›‹of it›‹sign›([a-z]+(?:-[a-z]+){2,7})(?=‹end›)", _any),
    (PASSWORD, "password password-short pin", r"‹change it›\s+to\s+‹value›", _password),
    (
        PASSWORD,
        "password password-short pin",
        r"""(?<!\S)(?:‹quoted›|["'`“]?(‹char›{4,64}(?<!["'`,]))["'`”]?),?\s+(?:‹is›\s+‹my›|‹as›(?:\s+‹my›)?)\s+(?:[\w-]{1,20}\s+){0,2}?(?:‹noun›|pin)\b""",
        _told_before,
    ),
    (PASSWORD, "pass", r"\bpass‹sign›‹value›", _password),
    (PASSWORD, "password password-short", r"‹noun›‹of it›\s{1,4}‹quoted›", _any),
    (CODE, "left", r"\b((?:(?:left|right)\s\d{1,2}[,;\s]{1,3}(?:then\s|and\s)?){2,3}(?:left|right)\s\d{1,2})\b", _any),
    (PASSWORD, "pass", r"\bpass\s+‹beside›", _made_up),
    (PASSWORD, "admin root", r"\b(?:admin|root|administrator|guest)\s+‹and›\s+‹whose›‹beside›", _made_up),
    (PASSWORD, "network", r"(?<![A-Za-z])‹network›(?:‹link›|\s+)[\w.@+-]{1,40}\s{0,2}[/|]\s{0,2}‹beside›", _mixed),
    (PASSWORD, "password-weak", r"\b‹password-weak›‹of it›‹link›‹value›", _strong_said),
    # A name and a password side by side; a second password after one that was found.
    (PASSWORD, "login network", "(?<![A-Za-z])‹any login›(?:‹of it›|‹within›{1,30}?)‹link›‹beside›", _made_up_too),
    (
        PASSWORD,
        "network",
        r"(?<![A-Za-z])‹network›‹within›{1,40}?\b(?:key|schlussel|clave|chave|cle)‹of it›(?:‹link›|\s+)‹beside›",
        _strong_said,
    ),
    (PASSWORD, "/user:", r"/user:\S{1,64}\s+([^\s\0/]{3,100})", _no_placeholder),
    (PASSWORD, "sudo -s", r"""\becho\s+["']?([^\s\0"'|]{3,100})["']?\s*\|\s*sudo\s+-S""", _no_placeholder),
    (
        PASSWORD,
        "and und y e et /",
        r"(?<!\S)(?=[\w.@+-]{0,40}[_.@\d])[\w.@+-]{1,64}(?:\s‹and›\s|\s?/\s?|,?\s)‹whose›‹beside›",
        _behind_name,
    ),
    (
        PASSWORD,
        "login",
        r"(?<![A-Za-z])‹login›‹within›{0,40}?(?:‹sign›|\s+‹is›\s+)([\w.@+-]{3,40})(?P<between>\s/\s|:|,\s)(?P<pair>‹char›{4,64}‹last›)",
        _pair,
    ),
    (CODE, "按 输", r"[门锁柜箱禁][^，。！？\n\0]{0,6}[按输打](?:入|的?是|个)?\s?([0-9]{3,8}#?)(?![0-9])", _zh_code),
    (PASSWORD, "login network", r"(?<![A-Za-z])‹any login›‹within›{1,60}?[\s,;]‹noun›\s{1,3}‹value›", _password),
    (
        PASSWORD,
        "admin root guest",
        r"(?<![\w/])(?:admin|root|administrator|guest)\s{0,2}[/:]\s{0,2}(?!/)‹beside›",
        _strong_said,
    ),
    (
        PASSWORD,
        "log sign",
        r"\b(?:log(?:ged)?\s?(?:in|on)(?:to)?|sign(?:ed)?\s?in)\b‹within›{0,60}?\s‹and›\s+(?:[\w.@+-]{1,40}(?:\s+‹and›\s+|\s?[/,]\s?))?‹whose›‹beside›",
        _mixed,
    ),
    (
        PASSWORD,
        "\0",
        r"""\0["'”]?(?:\s?[,/;]\s?|\s+)(?:(?:or|and|then|but|now|oder|und|jetzt|ou|y|ahora|agora|et|maintenant|it's)\s+){1,3}‹beside›""",
        _mixed,
    ),
    (
        PASSWORD,
        "\0",
        r"\0‹within›{0,30}?\b(?:new|now|neue[rs]?|nueva|nova|nouveau|other|second)(?:\s+one)?‹link›‹beside›",
        _mixed,
    ),
    (PASSWORD, "u: u= user", r"\bu(?:ser)?\s?[:=]\s?[^\s\0]{1,60}\s{1,3}p(?:ass|w)?\s?[:=]\s?‹beside›", _strong_said),
    # Chinese.
    (
        CODE,
        "code-zh",
        r"‹code-zh›[^0-9\0\n，。！？A-Za-z]{0,8}([0-9]{3,4} [0-9]{3,4}|[0-9A-Za-z](?:-?[0-9A-Za-z]){2,9})(?![0-9A-Za-z])",
        _zh_code,
    ),
    (
        CODE,
        "code-zh password-zh",
        r"(?<![0-9A-Za-z.-])([0-9]{4,8})\s{0,2}[是为(（][^0-9\0\n，。！？改换忘设]{0,10}(?:‹code-zh›|‹zh noun›)"
        rf"(?![{_HAN}])",
        _zh_code,
    ),
    (PASSWORD, "password-zh", r"‹zh noun›[ \t]?[:是]?[ \t]?([0-9]{3,12})(?![0-9A-Za-z》])", _zh_code),
    (PASSWORD, "password-zh", rf"‹zh noun›[{_HAN}A-Za-z0-9]{{0,10}}?\s{{0,4}}‹zh said›‹ascii value›", _zh_password),
    (
        PASSWORD,
        "password-zh",
        rf"‹zh noun›(?:[ \t]?:|(?:设[成为]|改[成为])了?)[ \t]?([{_HAN}]{{4,12}})(?=[”」』]?(?:[，。！？；\n]|$))",
        _zh_phrase,
    ),
    (PASSWORD, "password-zh", r"‹zh noun›从?[ \t]{0,4}‹ascii value›", _strong_said),
]


@cache
def finders() -> tuple[Finder, ...]:
    """Every way to tell a secret, the surest first."""
    return tuple(
        Finder(kind, _anchors(where), _expanded(f"(?i){pattern}"), accepts)
        for kind, where, pattern, accepts in _FINDERS
    )


def _anchors(where: str) -> tuple[str, ...]:
    return tuple(text for name in where.split(" ") for text in (beginnings(name) if name in roles() else (name,)))


@cache
def _expanded(pattern: str) -> str:
    """The pattern with every ‹name› written out."""
    return re.sub(
        "‹([^›]+)›", lambda name: _expanded(_PARTS[name[1]]) if name[1] in _PARTS else any_of(name[1]), pattern
    )
