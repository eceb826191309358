"""The forms that secrets take: patterns of keys, of sentences that tell a password, of numbers. Strings only.

They are meant for re.ASCII, so that a Chinese character ends a word. In every pattern the one capturing group that takes part
is the secret. A match begins at a word, not inside one, and what repeats is bounded or cannot begin anew inside itself: no
text makes the search slower than in proportion to its length.
"""

_HAN = "\u3400-\u9fff"
_EDGE = r"(?<![\w-])"

# -- keys and tokens: prefixes as their issuers document them ---------------------------------------------------------

SK_KEY = rf"{_EDGE}(sk-[\w-]{{20,}})"  # OpenAI, Anthropic, OpenRouter, DeepSeek, Moonshot and others
_KEY_FORMS = (
    r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16,}",  # Amazon Web Services
    r"LTAI[A-Za-z0-9]{12,}|AKID[A-Za-z0-9]{32,}",  # Alibaba, Tencent
    r"AIza[\w-]{35,}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,}",  # Google
    r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{24,}=*",  # Stripe
    r"gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{60,}|r8_[A-Za-z0-9]{36,}|pplx-[A-Za-z0-9]{40,}|nvapi-[\w-]{50,}",
    r"SG\.[\w-]{16,}\.[\w-]{16,}|(?:SK|AC)[0-9a-f]{32,}|[0-9a-f]{32}-us[0-9]{1,2}|key-[0-9a-f]{32}",  # SendGrid, Twilio
    r"dop_v1_[0-9a-f]{60,}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32,}|sq0(?:atp|csp)-[\w-]{22,}|lin_api_[A-Za-z0-9]{32,}",
    r"AGE-SECRET-KEY-1[A-Z0-9]{50,}|figd_[\w-]{30,}|PMAK-[0-9a-f]{20,}-[0-9a-f]{30,}|secret_[A-Za-z0-9]{43,}",
)
_TOKEN_FORMS = (
    r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{22,}|gl(?:pat|dt|rt|ptt|cbt|ft|soat|agent|oas)-[\w-]{20,}",
    r"xox[a-z](?:\.xox[a-z])?-[\w-]{10,}|xapp-[0-9]-[\w-]{10,}",  # Slack
    r"hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{30,}|pypi-AgE[\w-]{20,}|rubygems_[0-9a-f]{40,}|dckr_pat_[\w-]{20,}",
    r"[0-9]{8,10}:AA[\w-]{32,}|hv[sb]\.[\w-]{24,}",  # Telegram bots, HashiCorp Vault
    r"eyJ[\w-]{8,}\.(?:eyJ[\w-]{5,}(?:\.[\w-]*)*|[\w-]{8,}(?:\.[\w-]+)+)",  # JSON web tokens, RFC 7519
)
API_KEYS = rf"{_EDGE}({'|'.join(_KEY_FORMS)})"
TOKENS = (
    rf"{_EDGE}({'|'.join(_TOKEN_FORMS)})|(?:hooks\.slack\.com/services|discord(?:app)?\.com/api/webhooks)/([\w/-]{{20,}})"
    r"|(?i:authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?basic)\s{1,4}([A-Za-z0-9+/]{6,}=*)"
)
BEARER = r"(?i)\b(?:bearer\s{1,4}|authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:token\s{1,4})?)([\w.~+/-]{8,}=*)"
URL_PASSWORD = r"""://[^\s\0/?#@:"'<>]{0,100}:([^\s\0/"'<>]{1,100})@"""
NAMED_KEY = (
    r"""(?i)(?:(?<![A-Za-z0-9])|(?-i:(?<=[a-z])(?=[A-Z])))(?:(?:(?:api|app|access|secret|private|licen[cs]e|encryption|signing"""
    r"""|account|auth|client)[ _-]?){1,3}key(?:[ _-]?id)?|(?:(?:access|auth|refresh|api|bot|session|id)[ _-]?)?token"""
    r"""|(?:(?:client|app|api)[ _-]?)?secret|credentials?|密钥|密匙|秘钥|令牌|私钥)"""
    r"""["'`\\]{0,2}\s{0,4}(?:=>|:=|[:=]|\bis\b|是|为)\s{0,4}\\?["'`“]?([\w.+/~-]{8,}=*)"""
)
PEM_MARK = r"-{4,5}(?P<edge>BEGIN|END) [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-{4,5}"
PEM_BODY = (
    r"(?:(?:[\s>]|\\[nr])*+(?:(?:Proc-Type|DEK-Info|Version|Comment): [^\n\0]*+|[A-Za-z0-9+/]{16,}+={0,2}))*+"
    r"(?:(?:\s|\\[nr])+[A-Za-z0-9+/]{1,15}={1,2})?(?:\s?(?:\.{3}|…))?"
)

# -- passwords said as such -------------------------------------------------------------------------------------------

_NOUN = (
    r"(?:pass(?:word|wd|code|phrase|[ -]word)s?|pwd|psw|pw|contrase[nñ]a|passwort|kennwort|mot de passe|senha|[Пп]ароль|"
    r"パスワード)(?:\s?\([^()\n\0]{1,30}\))?"
)
_BEGINS = r"(?i)(?:(?<![A-Za-z0-9])|(?-i:(?<=[a-z])(?=[A-Z])))"
_OF = r"(?:\s+(?:for|to|of|on|at|in|here|there|i use|we use)\b(?:\s+[\w'’.@/-]{1,30}){0,6}?)?"
_IS = (
    r"""(?:\\?["'`*]{0,2}\s{0,4}(?:=>|->|:=|[:=])\**\s{0,4}|(?:(?:\s+(?:is|was|are|were|will be|should be|would be|remains|es"""
    r"""|ist|est|é)|['’]s)(?![a-z])|は)\s{0,4}[:=-]?\s{0,4}(?:(?:now|still|just|actually|currently|literally|simply"""
    r"""|probably|also|always|set|changed|reset|back|to|like|um+|uh+)[\s,:]+){0,3})"""
)
_CHAR = rf"[^\s\0“”‘’「」『』\u3000-\u30ff{_HAN}\uff00-\uff65]"
_LAST = r"""(?<![.,;:?)\]}>'"`*])"""
_QUOTED = r"""\\?["'`“‘「『«](?P<quoted>[^\n\0"`“”‘’「」『』«»]{1,80}?)\\?["'`”’」』»]"""
_VALUE = rf"(?:{_QUOTED}|\(?({_CHAR}{{1,128}}{_LAST}))"

PASSWORD_SAID = rf"{_BEGINS}{_NOUN}{_OF}{_IS}{_VALUE}"
PASSWORD_CHANGED = (
    rf"(?i)\b(?:chang|set|reset|updat|switch)\w{{0,4}}\s+(?:[\w'’]{{1,20}}\s+){{0,4}}?(?:{_NOUN}|pin)"
    rf"{_OF}(?:\s+from\s+[^\s\0]{{1,64}}|\s+back)?\s+to\s+{_VALUE}"
)
PASSWORD_BESIDE = (
    rf"{_BEGINS}(?:{_NOUN}(?:\s+from\b)?|pass(?=\s{{0,4}}[:=]))(?:\s{{0,4}}[:=|-]\s{{0,4}}|\s{{1,4}})[(\[]?{_VALUE}"
)
PASSWORD_AFTER = (
    rf"(?i)(?<!\S)[\"'`“]?({_CHAR}{{4,64}}(?<![\"'`,]))[\"'`”]?\s+(?:is|as|was)\s+(?:my|the|our|your|his|her|their|a)\s+"
    rf"(?:[\w-]{{1,20}}\s+){{0,2}}?(?:{_NOUN}|pin)\b"
)
SEED_PHRASE = (
    r"(?i)(?:(?:seed|recovery|mnemonic|backup)\s+(?:phrase|words)|mnemonic|助记词)\s{0,4}(?:is|are|[:=]|是|为)\s{0,4}[:=]?\s{0,4}"
    r"[\"'“]?((?:[a-z]{3,8}[\s,]{1,3}){11,23}[a-z]{3,8})"
)

PASSPHRASE = rf"(?i)\bpass[ -]?phrase{_OF}{_IS}\"?((?:[a-z]{{2,12}}[ -]){{2,7}}[a-z]{{2,12}})(?=[\".!\n]|$)"

_ZH_NOUN = r"(?:密码|密碼|口令|通行码|暗号)"
_ZH_VALUE = rf"(?:{_QUOTED}|\(?([!-~]{{1,128}}{_LAST}))"
ZH_PASSWORD_SAID = (
    rf"{_ZH_NOUN}[{_HAN}A-Za-z0-9]{{0,10}}?\s{{0,4}}(?:改[成为]|设置?[成为]|換成|换成|用的?是?|[是为為叫:=]|->)"
    rf"[了成是为:=\s]{{0,4}}{_ZH_VALUE}"
)
ZH_PASSWORD_BESIDE = rf"{_ZH_NOUN}[从從]?[ \t]{{0,4}}{_ZH_VALUE}"

CODE = (
    rf"(?:(?:(?<![A-Za-z0-9_])PIN|(?i:\b(?:my|our|your|his|her|card|sim|phone|bank|atm|debit|credit|unlock)\s+pin|\bpin(?={_OF}{_IS})))"
    r"(?i:(?![ -]?code\s*(?:is|:|=)?\s*[1-9][0-9]{5}(?![0-9]))(?:[ -]?(?:code|number|no\.?))?)"  # a postal code in India
    r"|(?i:\b(?:door|gate|alarm|access|entry|lock|locker|lockbox|unlock|safe|garage|security|keypad|vault|verification"
    r"|one[ -]?time|2fa|mfa|login|sms|sign-?in|authenticat(?:ion|or)|backup|recovery)\s?(?:code|combination)s?"
    r"|\botp\b(?:\s+code)?"
    r"|\bcvv2?|\bcvc2?|passcode))"
    rf"(?i:(?:{_OF}{_IS}|\s+)[#\"'“]?([0-9]{{3,12}}|(?=[A-Z-]{{0,7}}[0-9])[A-Z0-9-]{{4,10}})(?![\w-]))"
    r"|(?i:(?<![\w.-])([a-z]-[0-9]{4,8}|[0-9]{4,8})\s+(?:is|as)\s+(?:your|my|the|our)\s+(?:[\w-]{1,20}\s+){0,2}?(?:(?:verification"
    r"|security|login|access|one-time|authentication|confirmation|sign-in|door|gate)\s+code|otp|pin|passcode|password)\b)"
)
ZH_CODE = (
    r"(?:验证码|校验码|动态码|安全码|CVV码?|[Pp][Ii][Nn]码?|门锁码|门禁码|解锁码)[^0-9\0\n，。！？A-Za-z]{0,8}([0-9A-Za-z]{3,8})(?![0-9A-Za-z])"
    rf"|(?<![0-9A-Za-z.-])([0-9]{{4,8}})\s{{0,2}}[是为(（][^0-9\0\n，。！？改换忘设]{{0,10}}(?:验证码|密码|口令)(?![{_HAN}])"
)

PLACEHOLDER = (
    r"(?i)(?:[*•·#._?…-]+|x{3,}|<.*|\$\{.*|\$\(.*|\$[A-Z_]+|\{.*|%[s(].*|\[.*|[a-z_][\w.]*\(.*|(?:your|my|the)[_-].*"
    r"|\w*(?:\.|_)\w*(?:passw\w*|pwd|env\w*)\w*(?:[\[.].*)?|(?:os|env|process|self|args|config|settings)\..*)$"
)
TECHNICAL = (
    r"(?i)(?:md[45]|sha-?\d+|base\d\d|bcrypt|argon2\w*|[2m]fa|oauth2?|utf-?8|aes-?\d*|pbkdf2|scrypt|ntlm|rot13|1password\d?"
    r"|v\d+(?:\.\d+)*|\d+(?:st|nd|rd|th)|\d+[-–](?:char\w*|digits?|bits?|letters?|words?|years?|days?|months?)|\d{1,2}:\d\d(?:[ap]m)?"
    r"|(?:19|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}|c\+\+|at&t|https?:.*|.*\.(?:txt|md|pdf|docx?|xlsx?|py|json|ya?ml|kdbx?|com|org|net))"
    r"(?:-[a-z]+)?$"
)
UNIT = (
    r"(?i)[\s-]*(?:characters?|chars?|digits?|letters?|bits?|bytes?|words?|symbols?|years?|months?|weeks?|days?|hours?|minutes?"
    r"|times|people|users?|attempts?|guests?|accounts?|or more|or longer|%)(?![a-z])"
)
ZH_UNIT = r"\s*(?:[年月日位个個次字天点號号元块人条种篇页章]|多[个位次]|以[上下]|bits?)"
PLAIN_WORD = r"(?i)(?!.{3,}(?:(?<=...)(?:ed|ing|able|ible|less|ous))$)[^\W\d_](?:[^\W\d_]|['’_-]){2,40}"
CLAUSE_END = (
    r"""(?i)[!"'”’»`)\]}*]*(?:[.,;?)\]…，。！？；、]|$|\s*\n|\s+[-–—(]|[\s,]+(?:and|but|so|or|if|because|which|btw|please|thanks|thx"""
    r"""|ok|okay|for|lol|haha|by the way|with|on|all lower ?case|in case|too|now|in lower ?case)(?![a-z]))"""
)
ZH_CLAUSE_END = rf"[\s”’」』)]*(?:[^\w\s]|$|\n|[哦啦呀啊哈吧嘛喔噢](?![{_HAN}]))"
PREDICATES = frozenset(
    """
    required needed wrong incorrect correct right weak strong stronger secure insecure safe unsafe secret private public hidden
    invalid valid long longer short shorter easy hard harder difficult simple complex complicated terrible awful bad good great
    fine okay ok bad worse best better same different new newer old older unique random common obvious silly stupid dumb funny
    weird strange crazy ridiculous gone lost empty blank missing unknown none null nil true false yes no not optional mandatory
    necessary important crucial essential case-sensitive sensitive numeric alphanumeric permanent temporary outdated out up
    down ready set there here somewhere nowhere everywhere anywhere that this it these those mine yours his hers theirs ours
    something anything nothing everything someone anyone what which who why how when where whatever whoever tbd tba n/a na
    string str text int bool bytes any optional[str] password-protected read-only default self-explanatory above below attached
    inside online offline later soon today tomorrow yesterday tonight now again already then once always never usually
    sometimes probably definitely maybe perhaps sure certain clear unclear possible impossible likely unlikely ancient broken
    forgotten written stolen known shown taken given chosen kept sent told found set reset typed hashed plain plaintext
    lowercase uppercase encrypted fake real actual original current previous next last first second third another other both
    enough too very so such more less most least worth due about annoying boring tricky memorable unforgettable strange pending
    enabled disabled on off in ask see check look contact please call text email mail visit use enter type must should can
    cannot can't won't will may might hint hints reminder help changed expired important: a an the to
    bitwarden lastpass keepass onepassword dashlane keychain icloud post-it paper
    ok的 wifi md5 sha hash hashed
    """.split()
)
FUNCTION_WORDS = frozenset(
    """
    the a an is was are be been it its this that to for of in on at by with from and or but not no so too very my your his her our
    their who what which when where how if as than then can must should will would has have had need needs ask see use only
    """.split()
)

# -- numbers ----------------------------------------------------------------------------------------------------------

_ALONE = r"(?<![A-Za-z0-9_])(?<![0-9][./-])"
_THEN = r"(?![A-Za-z0-9_])(?![-./][0-9])"


def _named(words: str, number: str) -> str:
    """The number behind one of the words that name it, with no other number and no line between."""
    return rf"(?:{words})[^0-9\n\0]{{0,30}}?{_ALONE}({number}){_THEN}"


CHINESE = rf"{_ALONE}([1-9][0-9]{{5}} ?(?:19|20)[0-9]{{2}} ?[01][0-9] ?[0-3][0-9] ?[0-9]{{3}}[0-9Xx]){_THEN}"
SOCIAL_SECURITY = rf"{_ALONE}((?!000|666|9)[0-9]{{3}}-(?!00)[0-9]{{2}}-(?!0000)[0-9]{{4}}){_THEN}|" + _named(
    r"(?i:\bssn|\bsocial\s+security|\bitin)|社会安全号码?|社安号", r"[0-9]{3}[ -]?[0-9]{2}[ -]?[0-9]{4}"
)
NATIONAL_INSURANCE = (
    rf"{_ALONE}((?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?: ?[0-9]{{2}}){{3}} ?[A-D]){_THEN}"
)
PASSPORT = _named(
    r"(?i:\bpassport\s+(?:number|no\.?|num|#|is(?=\s+[A-Z]{0,2}[0-9])))|护照号码?|護照號碼?", r"[A-Za-z]{0,2}[0-9]{6,9}"
)
HONG_KONG = rf"{_ALONE}([A-Z]{{1,2}}[0-9]{{6}} ?\([0-9A]\))"
TAIWAN = r"(?:身[份分][證证]|统一编号|統一編號|(?i:taiwan(?:ese)? id))[^0-9A-Z\n\0]{0,20}([A-Z][1289][0-9]{8})(?![A-Za-z0-9])"
SINGAPORE = rf"{_ALONE}([STFGM][0-9]{{7}}[A-Z]){_THEN}"
KOREAN = rf"{_ALONE}([0-9]{{2}}[01][0-9][0-3][0-9]-[1-8][0-9]{{6}}){_THEN}"
JAPANESE = _named(r"マイナンバー|個人番号|(?i:\bmy number)", r"[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{4}")
AADHAAR = _named(r"(?i:\baadh?aa?r|\buidai?\b)|आधार", r"[2-9][0-9]{3}[ -]?[0-9]{4}[ -]?[0-9]{4}")
SPANISH = (
    rf"{_ALONE}((?:[XYZ]-?[0-9]{{7}}|[0-9]{{8}}|[0-9]{{2}}\.[0-9]{{3}}\.[0-9]{{3}})-?[TRWAGMYFPDXBNJZSQVHLCKE]){_THEN}"
)
PORTUGUESE = _named(r"(?i:\bnif\b|contribuinte)", r"[1-9][0-9]{2} ?[0-9]{3} ?[0-9]{3}")
BRAZILIAN = rf"{_ALONE}([0-9]{{3}}\.[0-9]{{3}}\.[0-9]{{3}}-[0-9]{{2}}){_THEN}|" + _named(
    r"(?i:\bcpf\b)", r"[0-9]{11}|[0-9]{9}-[0-9]{2}"
)
FRENCH = (
    rf"{_ALONE}([12] ?[0-9]{{2}} ?(?:0[1-9]|1[0-2]|[2-4][0-9])"
    rf" ?(?:[0-9]{{2}}|2[AB])(?: ?[0-9]{{3}}){{2}} ?[0-9]{{2}}){_THEN}"
)
ITALIAN = rf"{_ALONE}([A-Z]{{6}}[0-9]{{2}}[A-EHLMPR-T][0-7][0-9][A-Z][0-9]{{3}}[A-Z]){_THEN}"
POLISH = _named(r"(?i:\bpesel)", r"[0-9]{11}")
DUTCH = _named(r"(?i:\bbsn\b|burgerservicenummer|sofinummer)", r"[0-9]{9}|[0-9]{4}[. ][0-9]{2}[. ][0-9]{3}")
CANADIAN = _named(r"\bSIN\b|(?i:\bsocial\s+insurance)", r"[0-9]{3}[ -]?[0-9]{3}[ -]?[0-9]{3}")
IBAN = r"(?<![A-Za-z0-9_])([A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]){11,32}|[a-z]{2}[0-9]{2}[a-z0-9]{11,30})"
DIGIT_RUN = r"(?<![A-Za-z0-9_+])(?<![0-9]\.)[0-9]+(?:[ -]{1,3}[0-9]+)*(?![A-Za-z0-9_])(?!\.[0-9])"
CARD_WORD = r"(?i)card|visa|卡"
