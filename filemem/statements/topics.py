"""What a sentence about somebody settles, (subject, relation) and value, so that a later one can contradict it.

English and Chinese sentences in the third person, as `statements` writes them: the subject stands first, by name.
"""

import re
from typing import NamedTuple

from filemem.dates.spans import MONTHS
from filemem.statements.utterance import is_chinese, regex

Topic = tuple[
    str, str
]  # whose, and what of theirs: ("Mara", "favourite tea"), ("Mara", "home"), ("Mara's sister", "job")


class Slot(NamedTuple):
    """A topic and what holds for it; `value` starts with `not ` where the sentence denies it."""

    topic: Topic
    value: str
    kind: str


_NOW = (
    r"(?:(?:now|currently|really|also|still|actually|always|just|recently|finally|absolutely|totally|usually|has|"
    r"have|is|had) )*"
)
_END = (
    r"(?=$|[.,;:!?–—()]| -| (?:and|but|because|since|so|when|while|for|with|as|after|before|in order|these days|"
    r"nowadays|now|on \d+|in (?:\d+|the week)|at the moment|last|next|again|instead|anymore|any more|right now)\b)"
)
_END_LIKING = _END.replace("and|", r"and (?:they|it|is|has|the|\w+ (?:is|are)|\w+s\b)|")
_DATE_BEHIND = (
    r" (?:(?:in|on|around|since) )?(?:the (?:week|weekend|evening) of .*|\d{1,2}\D.*\d{4}|[A-Z][a-z]+ \d{4}|"
    rf"(?:19|20)\d\d|(?:last |next )?(?:{'|'.join(MONTHS)}))$"
)
# A town or country; a flat or a house by the sea is no other home than the town that was named before.
_PLACE = (
    r"(?P<value>(?!(?:an?|my|our|their|his|her|its|some|this|that|one|another|the (?-i:[a-z])\w*)\b)"
    r"[\w' -]{2,40}?(?:, (?-i:[A-Z])\w+)?)"
)
_JOBS = (
    r"(?:\w+[ -]){0,3}?(?:engineer|teacher|nurse|midwife|doctor|dentist|surgeon|vet|lawyer|judge|developer|programmer|designer|"
    r"architect|writer|author|editor|journalist|artist|painter|musician|dancer|actor|actress|photographer|student|manager|"
    r"director|accountant|consultant|analyst|scientist|researcher|professor|lecturer|chef|baker|waiter|waitress|"
    r"barista|driver|pilot|mechanic|electrician|plumber|carpenter|farmer|gardener|librarian|translator|therapist|"
    r"psychologist|pharmacist|paramedic|firefighter|soldier|cashier|receptionist|secretary|counsel+or|coach|trainer)"
)
_KIN = (
    r"(?:dog|cat|puppy|kitten|pet|parrot|rabbit|hamster|horse|fish|turtle|bird|son|daughter|baby|child|wife|husband|"
    r"partner|girlfriend|boyfriend|fianc[eé]e?|sister|brother|mother|mom|mum|father|dad|boss|best friend|roommate|"
    r"grandson|granddaughter|nephew|niece)"
)
_ENGLISH: tuple[tuple[str, str, str], ...] = (  # pattern behind the subject, relation, kind
    (rf"^ is {_NOW}allergic to (?P<value>[\w' -]+?){_END}", "allergy to {value}", "attribute"),
    (rf"^ (?:isn't|is not|is no longer) (?P<no>)(?:actually |"
     rf"really )?allergic to (?P<value>[\w' -]+?)(?: anymore)?{_END}", "allergy to {value}", "attribute"),
    (r"^ has an? (?P<value>[\w ]+?) allergy", "allergy to {value}", "attribute"),
    (r"^'s birthday is (?:actually )?(?:on )?(?P<value>[^.;!,]+?)(?= in (?-i:[A-Z])|[,;]|"
     r"$)", "birthday", "attribute"),
    (rf"^ was born (?:on|in) (?P<value>[^.;!]*?\d[^.;!,]*?)(?= in (?-i:[A-Z])|{_END})", "birthday", "attribute"),
    (rf"^'s (?:full |real )?name is (?P<value>(?-i:[A-Z])[\w' -]*?){_END}", "name", "attribute"),
    (rf"^'s (?:\w+ )?(?P<rel>{_KIN})(?:'s name is| is (?:called|"
     rf"named)) (?P<value>(?-i:[A-Z])\w+)", "{rel}'s name", "relation"),
    (rf"^'s (?:\w+ )?(?P<rel>{_KIN}),? (?P<value>(?-i:[A-Z])\w+)(?!')(?=$|[.,;!]|"
     rf" (?!and))", "{rel}'s name", "relation"),
    (rf"^ {_NOW}(?:has|got|adopted) (?:an? |one |their )?(?:\w+ )??(?P<rel>{_KIN})(?: \w+| (?:on|in) [\w ]{{4,18}})?(?: named|"
     rf" called|,? (?:and )?(?:her|his|its) name is) (?P<value>(?-i:[A-Z])\w+)", "{rel}'s name", "relation"),
    (rf"^ {_NOW}(?P<no>)(?:doesn't live|no longer lives|"
     rf"does not live) in {_PLACE}(?: anymore)?{_END}", "home", "attribute"),
    (rf"^ {_NOW}(?:moved|relocated|moving) (?:back |over |away )?(?:in)?to (?:an?|the|our|"
     rf"their) [\w' -]{{0,30}}?\bin (?P<value>(?-i:[A-Z])\w+)", "home", "event"),
    (rf"^ {_NOW}(?:moved|relocated|moving) (?:back |house |over |away )?(?:from [\w' ]+? )?(?:in)?to (?!a different|"
     rf"another|the next|tears|be\b){_PLACE}{_END}", "home", "event"),
    (rf"^ {_NOW}(?:lives?|living|resides?|based|settled) in (?!the (?:moment|present)|fear|"
     rf"a way){_PLACE}{_END}", "home", "attribute"),
    (rf"^ {_NOW}(?:lives?|living|resides?) at (?P<value>[^.;]{{3,60}}?\bin (?-i:[A-Z])[\w' -]+?){_END}", "home", "attribute"),
    (rf"^ {_NOW}(?:works?|working|started|starting|got (?:a|the) (?:new )?job|has a (?:new )?job|hired|employed|"
     rf"promoted|started a new job)(?: working)? (?:as|to be|(?<=promoted )to) (?:an? |"
     rf"the )?(?P<value>[\w' -]+?(?: (?:at|for) [\w' -]+?)?){_END}", "job", "attribute"),
    (rf"^ {_NOW}(?:works?|working|got (?:a|the) (?:new )?job|has a (?:new )?job|started a new job|"
     rf"started working) (?:at|for) (?!home|the moment|hours|it\b|"
     rf"years)(?P<value>[\w' -]+?){_END}", "job", "attribute"),
    (rf"^ is {_NOW}(?:an? )(?P<value>{_JOBS}(?: (?:at|for) [\w' -]+?)?){_END}", "job", "attribute"),
    (r"^'s new job is (?:as )?(?:an? )?(?P<value>[^.;,!]+)", "job", "attribute"),
    (rf"^ {_NOW}(?:quit|lost|left|resigned from) (?P<no>)their job(?: (?:as|"
     rf"at) (?:an? )?(?P<value>[\w' -]+?))?{_END}", "job", "event"),
    (r"^ (?:is|just got|got|has got|became) (?:now |finally |newly |happily )?(?P<value>married|engaged|divorced|"
     r"single|widowed)\b", "relationship status", "relation"),
    (r"^ (?:isn't|is not|is no longer|stopped being) (?P<no>)(?:an? )?(?P<value>vegetarian|vegan|"
     r"pescatarian)", "diet", "attribute"),
    (r"^ (?:is|became|has become|turned|went|has gone|(?:has )?decided to (?:become|go|be)|has been) (?:now |an? |"
     r"strictly )*(?P<value>vegetarian|vegan|pescatarian|lactose intolerant|gluten[- ]free|"
     r"diabetic)\b", "diet", "attribute"),
    (r"^ (?:has )?(?:just |now |recently )?turned (?P<value>\d{1,3})\b", "age", "attribute"),
    (r"^ is (?:now |only )?(?P<value>\d{1,3}|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|"
     r"twelve))(?: years old| now)?(?=$|,)", "age", "attribute"),
    (rf"^'s (?:(?:new|all-time|absolute|current) )*fav(?:ou?rite)? (?P<rel>[\w -]{{2,25}}?) (?:is|are|has to be|"
     rf"would be|was always) (?:now |still |actually |definitely )*(?:the )?(?P<value>[^.;!]+?){_END}",
     "favourite {rel}", "preference"),
    (rf"^ {_NOW}likes? (?P<value>[\w' -]+?) (?:better|more) than ", "favourite {head}", "preference"),
    (rf"^ (?:{_NOW})?prefers? (?P<value>[\w' -]+?)(?: to | over | rather than | instead of |"
     rf"{_END})", "favourite {head}", "preference"),
    (rf"^ {_NOW}(?:switched|changed|gone over|"
     rf"went over) (?:from [\w' ]+? )?to (?P<value>[\w' -]+?){_END}", "favourite {head}", "preference"),
    (rf"^ {_NOW}drinks? (?P<value>[\w' -]+?) (?:now|instead|these days)", "favourite {head}", "preference"),
    (rf"^ {_NOW}(?P<no>)(?:doesn't|does not|no longer|didn't) (?:really |even |actually )?(?:likes?|loves?|enjoys?|"
     rf"cares? for) (?P<value>[\w' -]+?)(?: anymore| any more)?{_END}",
     "liking {value}", "preference"),
    (rf"^ {_NOW}(?P<no>)(?:gave up|given up|quit|stopped drinking|stopped eating) (?!on\b|"
     rf"their\b)(?P<value>[\w' -]+?){_END}", "liking {value}", "preference"),
    (rf"^ {_NOW}(?P<no>)(?:hates?|dislikes?|detests?|can't stand|gone off|went off|is tired of|"
     rf"stopped liking) (?P<value>[\w' -]+?){_END}", "liking {value}", "preference"),
    (rf"^ {_NOW}(?:likes?|loves?|enjoys?|adores?|is (?:really )?into|is (?:really )?fond of|is a (?:big |"
     rf"huge )?fan of) (?!to see|seeing|hearing|to hear|how|that|it|the idea|their|"
     rf"them)(?:to )?(?P<value>[\w']+(?:[ -][\w']+){{0,5}}?){_END_LIKING}", "liking {value}", "preference"),
)  # fmt: skip
_ZH_END = r"(?=$|[，,。；;！!、（]|了$|，|因为|但|而)"
_CHINESE: tuple[tuple[str, str, str], ...] = (
    (r"^(?P<no>)[^，。]{0,4}(?:不再|已经不|不)对(?P<value>[^，。]{1,10})过敏", "allergy to {value}", "attribute"),
    (r"^[^，。]{0,4}对(?P<value>[^，。]{1,10})过敏", "allergy to {value}", "attribute"),
    (r"^的?生日(?:其实|应该)?(?:是|在)(?:农历)?(?P<value>[^，。；]+)", "birthday", "attribute"),
    (r"^[^，。]{0,2}(?:出生于|生于)(?P<value>[^，。]*\d[^，。]*?)(?:出生的?)?$", "birthday", "attribute"),
    (r"^(?:的(?:名字|全名)(?:是|叫)|叫)(?P<value>[^，。]{1,8})$", "name", "attribute"),
    (r"^的?(?P<rel>小?[狗猫]|猫咪|狗狗|宠物|鹦鹉|兔子|仓鼠|乌龟|[儿女]儿?子?|儿子|女儿|孩子|宝宝|妻子|老婆|太太|丈夫|"
     r"老公|先生|男朋友|女朋友|男友|女友|伴侣|姐姐|妹妹|哥哥|弟弟|妈妈|爸爸)(?:的名字(?:是|叫)|名?叫做?|"
     r"叫)(?P<value>[^，。；]{1,8}?)(?=$|[，。；])", "{rel}的名字", "relation"),
    (r"^[^，。]{0,14}(?:养了?|有|领养了?|收养了?)(?:一)?[只条个匹]?(?:[^，。]{1,6}的)?(?P<rel>小?[狗猫]|猫咪|狗狗|鹦鹉|兔子|仓鼠|乌龟|"
     r"儿子|女儿|妹妹|弟弟|姐姐|哥哥)[，,]?(?:名字)?叫做?(?P<value>[^，。；]{1,8}?)(?=$|[，。；])",
     "{rel}的名字", "relation"),
    (r"^(?P<no>)[^，。]{0,6}(?:不住在?|不再住在|已经不在)(?P<value>[^，。]{1,12}?)(?:住)?了?(?=$|"
     r"[，。；])", "home", "attribute"),
    (r"^[^，。]{0,16}?(?:搬家?[到去]了?|移居到?|定居在?|搬进了?|住在|住到|住(?![院宿了过着满得在到]|酒店|宾馆|民宿))(?P<value>[^，。；]{1,12}?)[去来]?(?:住|生活|"
     r"居住)?了?(?=$|[，。；])", "home", "attribute"),
    (r"^[^，。]{0,14}?(?:换了?(?:新)?工作了?，?[，,]?(?:现在)?(?:去了?|到了?|在)|跳槽[到去]了?|入职了?|"
     r"加入了)(?P<value>[^，。；]{2,16}?)(?:工作|上班)?了?(?=$|[，。；])", "job", "event"),
    (r"^的(?:新)?工作(?:现在)?(?:是|变成了?)(?P<value>[^，。；]{2,16}?)(?=$|[，。；])", "job", "attribute"),
    (r"^(?:现在|目前|最近|开始|一直|，)*在(?P<value>[^，。；]{2,16}?)(?:工作(?![坊室量])|上班|任职)", "job", "attribute"),
    (r"^(?:现在|目前|最近|开始|一直)*在(?P<value>(?![给为帮跟和学])[^，。；在]{2,12}?(?:做(?!一[个件只条道顿些]|[了出完好])|当|"
     r"担任)[^，。；]{2,10})(?=$|"
     r"[，。；])", "job", "attribute"),
    (r"^(?:现在|目前|已经)*(?:是|当|做|当上了?|成为了?)(?:一?[名个位])(?P<value>[^，。；的]{2,12})(?=$|"
     r"[，。；])", "job", "attribute"),
    (r"^(?P<no>)[^，。]{0,6}(?:辞职|辞掉了?|失业|丢了)[^，。]*?(?P<value>工作)?(?=$|[，。；])", "job", "event"),
    (r"^[^，。]{0,6}(?P<value>结婚|离婚|订婚|单身)了?(?=$|[，。；])", "relationship status", "relation"),
    (r"^(?:现在|已经)*(?P<no>)(?:不再|不)(?:是|吃)(?:个|一个)?(?P<value>纯?素食?(?:主义)?者?)", "diet", "attribute"),
    (r"^(?:现在|已经|决定|开始|改)*(?:是|吃)(?:个|一个)?(?P<value>纯?素食?(?:主义)?者?)", "diet", "attribute"),
    (r"^(?:现在|今年|已经|快|\d{4}年)*(?P<value>[\d一二三四五六七八九十]{1,3}岁)", "age", "attribute"),
    (r"^(?:现在)?最(?:喜欢|爱)的(?P<rel>[^，。是]{1,8})(?:现在|其实)?(?:是|"
     r"变成了?)(?P<value>[^，。；]{1,16})", "favourite {rel}", "preference"),
    (r"^(?:现在|其实|还是|已经)*最(?:喜欢|爱)(?:[喝吃看听玩])?(?P<value>[^，。；的]{1,12}?)(?:了)?(?=$|"
     r"[，。；])", "favourite {head}", "preference"),
    (r"^(?:现在|其实|还是|已经|，)*(?:更喜欢|偏爱|换成|改成|[改换](?=[喝吃看听用]))(?:[喝吃看听用])?(?P<value>[^，。；]{1,12}?)(?:了|"
     r"而不是.*)?(?=$|[，。；])", "favourite {head}", "preference"),
    (r"^(?:现在|如今|这阵子)(?:只|都|改)?喝(?P<value>[^，。；]{1,12}?)了?(?=$|[，。；])", "favourite {head}", "preference"),
    (r"^(?P<no>)[^，。]{0,6}?(?:不(?:太|再|怎么)?(?:喜欢|爱)|讨厌|受不了|"
     r"戒了)(?:[喝吃看听玩])?(?P<value>[^，。；]{1,12}?)了?(?=$|[，。；])", "liking {value}", "preference"),
    (r"^(?P<no>)(?:现在|已经)*不(?:再)?[喝吃玩](?P<value>[^，。；]{1,8}?)了(?=$|"
     r"[，。；])", "liking {value}", "preference"),
    (r"^(?:现在|其实|一直|从小|也|都|就|很|非常|特别|真的)*(?:喜欢|喜爱|热爱|"
     r"爱)(?:[喝吃看听玩])?(?P<value>[^，。；]{1,12}?)了?(?=$|[，。；])", "liking {value}", "preference"),
)  # fmt: skip
_TEAS = r"^(?:oolong|sencha|matcha|chai|rooibos|darjeeling|assam|earl|jasmine|pu-?erh|gunpowder|genmaicha)$"
_COFFEES = r"^(?:espresso|latte|cappuccino|americano|macchiato|mocha|decaf)$"
_TEAS_ZH = r"乌龙|龙井|普洱|铁观音|碧螺春|毛尖|大红袍|抹茶|茉莉花?$"
_COFFEES_ZH = r"拿铁|美式|卡布奇诺|摩卡|浓缩"
_SINGLE = frozenset("name home job birthday age diet".split()) | {"relationship status"}


def exclusive(topic: Topic) -> bool:
    """Whether only one value can hold at a time, so that a new one supersedes the old; a person may have two dogs."""
    return topic[1] in _SINGLE or topic[1].startswith(("favourite ", "liking ", "allergy to "))


def slot(sentence: str, speaker: str) -> Slot | None:
    """The topic that the first clause of a sentence settles for `speaker` or for somebody of theirs, and its value."""
    text = _favourite_last(sentence.rstrip(".。!！ "), speaker)
    for subject, rest in _subjects(text, speaker):
        for pattern, relation, kind in _CHINESE if is_chinese(text.replace(speaker, "")) else _ENGLISH:
            # 小雨的生日 is 小雨's, while 小雨的老板住在… is about somebody else.
            foreign = rest.startswith("的") and relation in _SINGLE and not pattern.startswith("^的")
            if not foreign and (m := regex(pattern).search(rest)):
                return _filled(subject, m, relation, kind)
    return None


def _favourite_last(text: str, speaker: str) -> str:
    """A favourite told the other way about, as it is told most: Sencha is Mara's favourite now, Mara's favourite tea is …"""
    name = re.escape(speaker)
    behind = r"((?: [\w-]+){0,3}?)(?: now| these days)?$"
    if m := regex(rf"^([\w' -]{{2,30}}?) is (?:now )?{name}'s (?:new )?fav(?:ou?rite)?{behind}").match(text):
        return f"{speaker}'s favourite {m[2].strip() or _head(m[1])} is {m[1]}"
    if m := regex(rf"^([^，。是]{{1,12}}?)(?:现在)?是{name}(?:现在)?最(?:喜欢|爱)的([^，。]{{0,8}})$").match(text):
        return f"{speaker}最喜欢的{m[2] or _head(m[1])}是{m[1]}"
    return text


def _subjects(text: str, speaker: str) -> list[tuple[str, str]]:
    """Who the sentence may be about, each with the words behind: Mara's sister, Mara. A time in front is skipped."""
    name = re.escape(speaker)
    m = regex(
        rf"^(?:(?:in|on|since|from|as of|after|currently|now|recently)\b[^,]{{0,40}}, |[^，。]{{0,16}}?(?:起|日|月|"
        rf"年|现在|最近|[天周])[，, ]?)?{name}(?: and (?:others|their \w+|(?-i:[A-Z])\w+)(?= \w+)|和(?:大家|家人|"
        rf"孩子们?|丈夫|妻子|老公|老婆|男友|女友))?"
    ).match(text)
    if not m:
        return []
    rest = regex(r"^在?\d{4}年[\d年月日–]*[晚早]?").sub("", text[m.end() :])
    found = [(speaker, rest)]
    if kin := regex(_SOMEBODY_OF_THEIRS).match(rest):
        found.insert(0, (speaker + kin[1], rest[kin.end() :]))
    return found


_SOMEBODY_OF_THEIRS = (
    r"^('s (?:\w+ )?\w+?|的[^，。]{0,3}?(?:妈妈?|爸爸?|姐姐?|妹妹?|哥哥?|弟弟?|朋友|儿子|女儿|妻子|老婆|丈夫|"
    r"老公)(?:[^，。的叫住在搬喜对是今换不]{1,3}(?=住|搬|的生日))?)"
    r"(?= (?:is|has|lives?|works?|moved|loves?|likes?|hates?|prefers?|was|just|now|doesn't|can't)\b|"
    r"'s (?:birthday|new job)\b|(?:现在|在|住|搬|喜欢|对|是|的生日|今年|[\d一二三四五六七八九十]{1,3}岁|换|不))"
)


def _head(value: str) -> str:
    """The kind of thing that is liked: oolong tea and oolong are tea, 乌龙茶 and 乌龙 are 茶."""
    if is_chinese(value):
        return "茶" if regex(_TEAS_ZH).search(value) else "咖啡" if regex(_COFFEES_ZH).search(value) else value[-1:]
    word = value.split(" ")[-1].lower()
    return "tea" if regex(_TEAS).search(word) else "coffee" if regex(_COFFEES).search(word) else word


def _filled(subject: str, m: re.Match[str], relation: str, kind: str) -> Slot:
    groups = m.groupdict()
    value = groups.get("value") or "job"
    if relation != "birthday":
        value = regex(_DATE_BEHIND).sub("", value)
    value = value.strip(" ,，'\"“”-")
    # The kind of thing that is liked: oolong tea, tea; 乌龙茶, 茶.
    head = _head(value)
    named = relation.format(value=value.lower(), rel=(groups.get("rel") or "").lower(), head=head)
    if relation.startswith(("liking", "allergy")):
        value = "no" if "no" in groups else "yes"
    elif "no" in groups:
        value = f"not {value}"
    return Slot((subject, named), value, kind)
