"""The words for time in English and Chinese, and the one pattern that finds them. What they mean is told in `dates`.

Every group of the pattern has a name of its own, and the outermost ones are the keys of ENGLISH and CHINESE.
"""

import re
from functools import cache

from filemem.text.dates.spans import MONTHS, WEEKDAYS

MONTH_OF = {name[:3].lower(): number for number, name in enumerate(MONTHS, 1)}
WEEKDAY_OF = {name[:3].lower(): number for number, name in enumerate(WEEKDAYS)}
CHINESE_WEEKDAY_OF = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
SEASON_START = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12, "春": 3, "夏": 6, "秋": 9, "冬": 12}

# First and last day of a part of a month, and first and last month of a part of a year.
MONTH_PARTS = {
    "early": (1, 10), "beginning": (1, 10), "start": (1, 10), "mid": (11, 20), "middle": (11, 20), "late": (21, 31),
    "end": (21, 31), "first half": (1, 15), "second half": (16, 31), "first week": (1, 7), "second week": (8, 14),
    "third week": (15, 21), "fourth week": (22, 28), "last week": (25, 31),
    "上旬": (1, 10), "中旬": (11, 20), "下旬": (21, 31), "初": (1, 10), "中": (11, 20), "底": (21, 31), "末": (21, 31),
}  # fmt: skip
YEAR_PARTS = {
    "early": (1, 4), "beginning": (1, 2), "start": (1, 2), "mid": (5, 8), "middle": (5, 8), "late": (9, 12),
    "end": (11, 12), "first half": (1, 6), "second half": (7, 12), "first week": (1, 1),
    "second week": (1, 1), "third week": (1, 1), "fourth week": (1, 1), "last week": (12, 12),
    "初": (1, 2), "中": (5, 8), "底": (11, 12), "末": (11, 12), "上半": (1, 6), "下半": (7, 12),
}  # fmt: skip

# Month and day; or month, weekday and which one of the month (-1: the last).
HOLIDAYS: dict[str, tuple[int, ...]] = {
    "new years eve": (12, 31), "new years day": (1, 1), "new years": (1, 1), "new year": (1, 1),
    "valentines day": (2, 14), "mothers day": (5, 6, 2), "memorial day": (5, 0, -1), "fathers day": (6, 6, 3),
    "independence day": (7, 4), "labor day": (9, 0, 1), "halloween": (10, 31), "thanksgiving": (11, 3, 4),
    "christmas eve": (12, 24), "christmas day": (12, 25), "christmas": (12, 25), "xmas": (12, 25),
    "boxing day": (12, 26), "元旦": (1, 1), "情人节": (2, 14), "妇女节": (3, 8), "劳动节": (5, 1), "母亲节": (5, 6, 2),
    "儿童节": (6, 1), "父亲节": (6, 6, 3), "国庆": (10, 1), "万圣节": (10, 31), "双十一": (11, 11), "感恩节": (11, 3, 4),
    "平安夜": (12, 24), "圣诞": (12, 25),
}  # fmt: skip
SIMPLIFIED = str.maketrans("節婦勞動親兒國慶萬聖雙誕", "节妇劳动亲儿国庆万圣双诞")

COUNTS = {
    word: number
    for number, words in enumerate(
        "a|an|one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen twenty".split(), 1
    )
    for word in words.split("|")
} | {"thirty": 30, "forty": 40, "fifty": 50}  # fmt: skip
VAGUE_COUNTS = {"couple": (2, 3), "few": (2, 5), "several": (3, 8), "十几": (11, 19), "十幾": (11, 19),
                 "几": (2, 9), "幾": (2, 9), "数": (2, 9), "數": (2, 9)}  # fmt: skip
CHINESE_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
CHINESE_UNITS = {"天": "day", "周": "week", "週": "week", "期": "week", "拜": "week", "月": "month", "年": "year"}
CHINESE_OFFSETS = {"上上": -2, "上": -1, "这": 0, "這": 0, "本": 0, "下": 1, "下下": 2, "大前": -3, "前": -2, "去": -1,
                    "昨": -1, "今": 0, "明": 1, "后": 2, "後": 2, "大后": 3, "大後": 3}  # fmt: skip
ASCII_DIGITS = str.maketrans("０１２３４５６７８９", "0123456789")

# Pieces of the patterns. Gaps are bounded, so that no stretch of white space is scanned more than a few times.
GAP = r"\s{1,3}"
YEAR = r"(?:19|20)\d\d(?!\d)"
DAY = r"(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?(?![\d:%]|\s?[ap]\.?m\b|[.,]\d(?!\d{3}))"
DAYS = rf"{DAY}(?:\s?[-–]\s?{DAY})?"
MONTH = (r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
         r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b")  # fmt: skip
WEEKDAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"
WEEKDAY_NAME = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
PART = (rf"(?:(?:early|mid|late)[\s-]{{1,3}}(?:in{GAP})?|(?:beginning|start|middle|end|(?:first|second){GAP}half"
        rf"|(?:first|second|third|fourth|last){GAP}week){GAP}of{GAP})")  # fmt: skip
WHICH = rf"(?:last|past|next|coming|this(?:{GAP}past|{GAP}coming)?)"
COUNT = rf"(?:\d{{1,4}}|(?:an?{GAP})?(?:few|couple(?:{GAP}of)?|several)|{'|'.join(COUNTS)})"
HOUR = rf"(?:{GAP}(?:night|morning|afternoon|evening))?"
# What counts things and not years when it stands behind four digits.
THINGS = (rf"\s?%|{GAP}(?:people|m[ae]n|wom[ae]n|child|kid|fan|guest|follower|subscriber|user|member|step|mile|met[er]"
          r"|feet|calori|word|page|point|dollar|euro|pound|buck|yuan|rmb|usd|hour|minute|second|days|weeks|months|years"
          r"|time|cop[iy]|view|like|game|book|item|piece|square|sq|k[gm]|m[lg]?\b|g\b|lbs|kcal|cal\b|vote|student"
          r"|employee|unit|watt)")  # fmt: skip

ENGLISH = {
    "iso": r"(?P<isoyear>\d{4})(?P<isomark>[-/.])(?P<isomonth>1[0-2]|0?[1-9])(?P=isomark)"
           r"(?P<isoday>3[01]|[12]\d|0?[1-9])(?!\d)"
           r"|(?P<ymyear>(?:19|20)\d\d)[-/](?P<ymmonth>1[0-2]|0?[1-9])(?![\d/]|[-.:]\d)",
    "numeric": r"(?P<nfirst>\d{1,2})(?P<nmark>[/.])(?P<nsecond>\d{1,2})(?P=nmark)(?P<nyear>(?:19|20)\d\d)(?!\d)"
               r"|(?P<mymonth>1[0-2]|0?[1-9])/(?P<myyear>(?:19|20)\d\d)(?![\d/])",
    "month": rf"(?:(?P<mbefore>{DAYS}{GAP}(?:of{GAP})?)|(?P<mpart>{PART})|(?P<mwhich>{WHICH}){GAP})?"
             rf"(?P<mname>{MONTH})(?:\.(?=\s?\d))?(?(mbefore)|(?:\s{{0,3}}(?P<mafter>{DAYS}))?)"
             rf"(?:(?:,\s{{0,3}}|{GAP}(?:of{GAP})?)(?P<myear>{YEAR}))?",
    "season": rf"(?:(?P<swhich>{WHICH}|(?:in|during|over){GAP}the){GAP})?(?P<sname>spring|summer|fall|autumn|winter)"
              rf"\b(?:['’]s)?(?:,?{GAP}(?:of{GAP})?(?P<syear>{YEAR}))?",
    "holiday": rf"(?:(?P<hwhich>{WHICH}){GAP})?(?P<hname>new{GAP}year(?:['’]?s(?:{GAP}(?:eve|day))?)?"
               rf"|boxing{GAP}day|christmas(?:{GAP}(?:eve|day))?|xmas|halloween|thanksgiving"
               rf"|(?:valentine|mother|father)['’]?s{GAP}day|(?:memorial|labor|independence){GAP}day)\b"
               rf"(?:,?{GAP}(?:of{GAP})?(?P<hyear>{YEAR}))?",
    "quarter": rf"Q(?P<qfirst>[1-4])(?:{GAP}of)?,?\s?(?P<qyear>{YEAR})|(?P<qyear2>(?:19|20)\d\d)\s?Q(?P<qlast>[1-4])\b",
    "year": rf"(?P<ypart>{PART})?(?P<yfirst>(?:19|20)\d\d)(?:(?P<decade>s)\b|\s?[-–]\s?(?P<ylast>{YEAR}))?"
            rf"(?!\w|\s?年|[-/.:]\d|,\d{{3}}|{THINGS})",
    "ago": rf"(?:(?P<acount>{COUNT})|half{GAP}an?){GAP}(?P<aunit>hour|minute|day|weekend|week|fortnight|month|year"
           rf"|decade)s?{GAP}(?:ago|(?P<ahead>from{GAP}(?:now|today)))\b",
    "within": rf"in{GAP}(?P<wcount>{COUNT}){GAP}(?P<wunit>day|week|month|year)s?\b(?!{GAP}ago)",
    "unit": rf"(?P<the>(?:the|these){GAP})?(?P<uwhich>{WHICH}){GAP}(?:(?P<ucount>{COUNT}){GAP})?"
            rf"(?P<uunit>night|morning|afternoon|evening|day|weekend|week|fortnight|month|quarter|year|decade|{WEEKDAY})"
            rf"s?\b(?:['’]s)?{HOUR}(?!{GAP}of\b)",
    "dayword": rf"(?P<dword>day{GAP}before{GAP}yesterday|day{GAP}after{GAP}tomorrow|yesterday|today|tomorrow"
               rf"|tonight)\b(?:['’]s)?{HOUR}",
    "weekday": rf"(?<!every )(?<!each )(?<!black )(?<!good )(?P<wname>(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
               rf"{HOUR}",
}  # fmt: skip

Z_NUMBER = r"(?:\d{1,4}|[零一二三四五六七八九十百两兩]{1,5})"
Z_COUNT = rf"(?:十?[几幾]|[数數]|{Z_NUMBER})"
Z_UNIT = r"(?:天|[周週]|年|[个個]?星期|[个個]?[礼禮]拜|[个個]月)"
Z_DAY = r"(?:3[01]|[12]\d|0?[1-9]|三十一?|二?十[一二三四五六七八九]?|[一二三四五六七八九])"
Z_MONTH = r"(?<![\d.一二三四五六七八九])(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])"
Z_YEAR = (r"(?:(?<!\d)(?:19|20)\d\d ?年|[一二][零〇一二三四五六七八九]{3}年|(?<!\d)\d\d年(?=\d{1,2}月)|(?<![以过過之如聪聰往])"
          r"(?:大前|[去今明前后後])年(?![轻輕龄齡纪紀级級]))")  # fmt: skip
Z_WEEK = r"(?:[周週](?![围圍边邊到岁歲密])|星期|[礼禮]拜)"
# The lookaheads keep 三次 (three times), 日常 (everyday) and 天气 (weather) from being read as weekdays.
Z_WEEKDAY = r"(?:[一二三四五六](?![次个個天遍回场場节節种種位年月周週])|日(?![常本记記期])|(?<=[期拜])天(?![气氣]))"
Z_PART = r"(?:[上中下]旬|初(?![一中二三次])|中(?![国國文午秋间間学學])|[底末])"

CHINESE = {
    "zdate": rf"(?:(?P<zyear>{Z_YEAR})的? ?)?(?:"
             rf"(?:(?P<zmonth>{Z_MONTH}) ?月份?|(?P<zwhich>上上|下下|[上下这這本])[个個]?月(?![球亮饼餅台]))的? ?"
             rf"(?:(?P<zday>{Z_DAY})(?: ?[日号號]? ?[-–—~～至到] ?(?P<zlast>{Z_DAY}))? ?[日号號]|(?P<zpart>{Z_PART}))?"
             rf"|(?:年|(?<=年))(?P<zyearpart>初(?![一中二三次])|[底末]|(?<=年年)中)|(?P<zhalfyear>[上下]半)年"
             rf"|第?(?P<zquarter>[一二三四1-4])季度|Q(?P<zquarter2>[1-4])|(?P<zseason>[春夏秋冬])[天季]"
             rf"|(?P<zholiday>元旦|平安夜|[双雙]十一|[国國][庆慶]|[圣聖][诞誕]|(?:情人|[妇婦]女|[劳勞][动動]|母[亲親]|[儿兒]童"
             rf"|父[亲親]|[万萬][圣聖]|感恩)[节節])[节節]?)",
    "zyearonly": rf"(?P<zyearword>{Z_YEAR})",
    "zmonthpart": r"(?<![\d一二三四五六七八九十个個份每])月(?P<zthispart>[初底末])(?![一二三])",
    "zweek": rf"(?<![以晚早网網身路马馬地日])(?P<zwhichweek>上上|下下|[上下这這本])[个個]?{Z_WEEK}(?P<zwday>末|{Z_WEEKDAY})?",
    "zweekday": rf"(?<![每一两兩二三四五六七八九十几幾\d个個]){Z_WEEK}(?P<zbare>{Z_WEEKDAY})",
    "zdayword": r"(?P<zdword>大前天|大[后後]天|昨[天日晚夜]|今[天日晚早夜]|(?<![聪聰说說证證光文发發])明[天日晚早](?!方舟)"
                r"|(?<![以之从從先目])前[天晚]|(?<![以之然最])[后後]天)",
    "zago": rf"(?<![第\d.个個])(?:(?P<zcount>{Z_COUNT})|半) ?(?P<zunit>{Z_UNIT}|[个個]?小[时時]|分[钟鐘])[以之]?"
            rf"(?:前(?![后後面])|(?P<zahead>[后後](?![天来來])))",
    "zfew": rf"(?<!以)前(?P<zfewcount>[几幾两兩])(?P<zfewunit>{Z_UNIT})",
    "zlong": rf"(?:[过過]去|最近|近)[这這]?的?(?P<zlongcount>{Z_COUNT})(?P<zlongunit>{Z_UNIT})",
}  # fmt: skip

CJK = r"[\u2e80-\u9fff]"

# Whether a text speaks of time: whole words, in the cases in which people write them, and the rest.
_WORDS = (
    "january february april june july august september october november december jan feb apr jun jul aug sept "
    "oct nov dec monday tuesday wednesday thursday friday saturday sunday tues thu thurs fri yesterday today "
    "tonight tomorrow ago morning afternoon evening night midnight noon quarter week weeks weekend weekends "
    "month months year years decade decades days fortnight century summer autumn winter spring christmas xmas "
    "thanksgiving halloween easter since until"
).split()
TIME_WORDS = frozenset(case(word) for word in _WORDS for case in (str.lower, str.capitalize, str.upper)) | {
    "May", "MAY", "March", "MARCH", "Mar", "Sep", "Mon", "Tue", "Wed", "Fall"
}  # fmt: skip
WORD = r"[A-Za-z]+"
TIME_START = r"[\d\u2e80-\u9fff]"  # most English sentences have none, and TIME is dear
TIME = (r"(?:19|20)\d\d|\d{1,2}[:：]\d\d|\d\s?[apAP]\.?[mM]\b|\d{1,2}(?:st|nd|rd|th)\b|\d{4}-\d\d-\d\d"
        r"|[昨今明][天日晚早夜年]|[前后後][天年晚]|去年|年(?![轻輕龄齡纪紀级級])|月(?![亮球饼餅])|[上下这這本][周週]|[周週][一二三四五六日末]"
        r"|星期|[礼禮]拜|[\d几幾两兩一二三四五六七八九十][天周週]|天前|小[时時]|[上中下]午|[早晚]上|凌晨|半夜|季度|[\d一二三四五六七八九十]点"
        r"|元旦|春[节節]|中秋|端午|[国國][庆慶]|[圣聖][诞誕]|除夕|平安夜|情人[节節]|[双雙]十一")  # fmt: skip

# What stands before or behind an expression and decides what it is.
MONTH_CUE = r"\b(?:(in|on|since|until|till|by|during)|before|after|from|to|through|between|of|around|for)\s{1,3}$"
NO_YEAR_CUE = r"(?:[$£€¥#+=]|\b(?:room|no\.?|flight|route|line|page|bus|code|pin|rs\.?|usd|eur|gbp)\s{1,3}|[./:-])$"
YEAR_CUE = r"\b(?:in|of|since|until|till|by|from|before|after|during)\s{1,3}$"
NO_DAY_CUE = (
    r"(?:\b(?:no|born|gone|only|(?<!as\s)of|better|brighter)|\blike(?:\s(?:it|i)['’]?\s?(?:was|were|s)?)?(?:\sonly|\sjust)?)"
    r"\s{1,3}$"
)  # no tomorrow, born yesterday, it feels like yesterday
NO_DAY_AHEAD = r"\s(?:never\s|is\sanother\s)|['’]s\s(?:news|another|world)\b"
HEDGE = r"(?:\b(?:or|to|over|than)\s{1,3}|[-–])$"
MON = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
YEAR_AHEAD = (rf"(?:\s?[-–—]\s?|\s{{1,3}}(?:and|or|to|through|until|till)\s{{1,3}})"
              rf"(?:(?:{MON}|\d{{1,2}}(?:st|nd|rd|th)?),?\s{{1,3}}){{1,2}}({YEAR})")  # fmt: skip
DATE_AHEAD = rf",?\s{{1,3}}(?:the\s)?(?:{MON}\s{{1,3}}\d|\d{{1,2}}(?:st|nd|rd|th)?\s{{1,3}}(?:of\s)?{MON}|\d{{4}}-\d)"
ANCHOR = (rf"\b(?:(?P<count>{COUNT})\s)?(?P<what>day|weekend|week|month|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?\s"
          r"(?P<side>before|prior\sto|after|following|of)\s(?:the\s)?$")  # fmt: skip
BRACKET = rf"\s{{0,3}}\[(?=[^\]]{{0,60}}\d)(?:{'|'.join(MONTHS)}|[\d\s年月日–-]){{1,30}}\]"  # what annotate writes


_CUES = tuple(
    "yesterday tomorrow last next past ago previous coming before after back night this eve later "
    "昨 前 明 后 後 上 下 去 今 本 这 這 过 過 周 週 期 拜 月 day".split()
)


def may_be_relative(text: str) -> bool:
    """False where no expression in the text can count from a day: a look that spares most texts the patterns."""
    lowered = text.lower()
    return any(cue in lowered for cue in _CUES) or regex(MON + r"\b", 0).search(lowered) is not None


@cache
def regex(pattern: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    # ASCII keeps \b between 天 and y, \d free of other scripts' digits, and the folding of case out of Unicode's odd pairs.
    return re.compile(pattern, flags | re.ASCII)


@cache
def english() -> re.Pattern[str]:
    """Any English expression that names a date, and dates in digits."""
    return regex(rf"(?<![A-Za-z0-9_])(?<!\d[.,:])(?:{_alternatives(ENGLISH)})")


@cache
def chinese() -> re.Pattern[str]:
    """Any Chinese expression that names a date."""
    return regex(_alternatives(CHINESE))


def _alternatives(patterns: dict[str, str]) -> str:
    return "|".join(f"(?P<{name}>{pattern})" for name, pattern in patterns.items())
