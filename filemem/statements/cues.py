"""The words by which a sentence is known as a joke, a supposition, an order, a correction, advice; and its kind.

Each is a regular expression for `utterance.regex`, English and Chinese side by side.
"""

from filemem.dates.spans import MONTHS
from filemem.terms import CJK

INJECTION = (
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}\b(?:instruction|prompt|rule|direction|guideline|system|"
    r"previous|above)s?\b|\bnew instructions?:|\bsystem prompt\b|<\|?(?:system|im_start)|\byou are now (?:an?|in)\b|"
    r"(?:忽略|无视|忘[记掉]|不要理会|绕过).{0,12}(?:指令|指示|提示|规则|说明|设定)|系统提示词?|新的?指令[:：]"
)
JOKE = (
    r"\b(?:just kidding|only kidding|i'm kidding|just joking|(?:i'm|was) joking|jk|not really,? lol)\b|开玩笑|逗你|"
    r"骗你的|说笑"
)
UNREAL = (
    r"\bif (?:i|we) (?:were|was|had|could|won|did)\b|\bimagine\b|\b(?:suppose|supposing|pretend|hypothetically|"
    r"what if|let's say|say i)\b|\b(?:i|we) (?:wish|dreamt|dreamed)\b(?! (?:of|about))|\bin (?:my|a) (?:dream|novel|"
    r"story)\b|\bwould have\b|\balmost \w+ed\b|假如|假设|要是我|如果我|如果能|想象一下|设想|做[了个]*梦|梦见|梦到|"
    r"就好像我"
)
CORRECTION = (
    r"^(?:no,? (?:wait|sorry|i meant?)|(?:wait|oops|sorry),? (?:no|i meant?|actually|that's wrong)|actually,?|"
    r"correction|i meant?\b|scratch that|i was wrong|i misspoke|i made a mistake|let me correct|that's (?:not right|"
    r"wrong))|\bnot \w+[\w ]{0,12}, but\b|\bi misspoke\b|^(?:不对|不是|其实|我说错|说错|更正|纠正|搞错|记错)|"
    r"我说错了|不是[^，。]{1,8}[，,]?(?:而是|是)"
)
INSTRUCTION = (
    r"^(?:only )?(?:one|two|three|a few|\d+)(?: or \w+)? (?:sentences?|words|lines|paragraphs?)\b[^,]{0,20},? please\b|"
    r"^from now on,? (?!(?:i|we|my|our|you|it|he|she|they)\b)|你(?:就|要|请)*用.{1,6}[回答说]|^(?:(?:please|also|and|"
    r"ok|could you|can you|would you|i(?:'d| would) (?:like|prefer)(?: it if)? you(?: to)?|i want you to|"
    r"you should) )*(?:(?:from now on|in (?:the )?future|when you (?:answer|reply|"
    r"respond)),? (?:please )?)?(?:always |never |don't |do not |stop |only )*(?:answer|answering|reply|replying|"
    r"respond|responding|call me|address me|speak to me|talk to me|write to me|use (?:metric|celsius|bullet|emoji|"
    r"emojis|plain|short|simple|british|american)|keep (?:your|the|all|it|answers|replies)\b.{0,20}\b(?:short|brief|"
    r"simple|concise))|^(?:please,? (?:always|never)|(?:please )?(?:always|never) (?:give|show|tell|send|ask) me|"
    r"(?:always|never) (?:convert|translate|cite|quote|recommend|suggest|explain)) (?=\w)|"
    r"^(?:请)?(?:(?:以后|今后|从现在起|从今以后|下次)[，,]?(?:请|都|总是|一直|不要|别|跟我|对我|给我)*(?:用|说|回答|"
    r"回复|称呼|叫我|讲|写|推荐|建议|提到?|列|加|换算|发)|(?:请)?(?:总是|一直|永远|不要|别)(?:再)?(?:给我)?(?:用|回答|"
    r"回复|叫我|称呼|推荐|换算)|"
    r"(?:请)?叫我|(?:请)?(?:你的?)?回[答复](?:请|要|得|尽量|能不能|再)*(?:简[短洁单]|短|详细)|请?(?:尽量)?简[短洁]地?(?:回[答复]|说))"
)
# What an instruction begins with and a lesson leaves out.
PLEASE = (
    r"^(?:(?:please|also|and|ok|i(?:'d| would) (?:like|prefer)(?: it if)? you(?: to)?|i want you to|you should|"
    r"can you|could you)[ ,]+|请)+"
)
ADVICE = (
    r"^(?:please )?(?:keep|stay|go|take|have|let|let's|enjoy|try|remember|don't|check|look|come|make|believe|trust|"
    r"follow|give|send|tell|hang|hold|be|never|always|do|read|build|use|put|start|focus|write|practi[cs]e|set|find|"
    r"add|mix|consider|surround|listen|learn|work|pick|choose|plan|set|write|save|own|rock|feel free|imagine|think|"
    r"say|show|join|get|grab|thanks|thank|hope|wish|no|gather|invest|ask|here|just look|just check|"
    r"can't wait to (?:see|hear|try|check|read|watch)|what an?|how)\b(?! (?:is|was|are|were)\b)|^(?:加油|继续|别|"
    r"不要|祝|记得|看看|快看|来|让我们|相信|去|试试|一起|多么|谢|感谢|敬|坚持|抓住|专注)|让我们|让咱们"
)
VAGUE = (
    r"\bkeep you (?:updated|posted)|^you can see\b|^i (?:have|must|got) (?:to )?say$|"
    r"^i (?:\d+% |totally |completely |fully |definitely )*agree\b|^(?:it has |"
    r"i have )?been (?:ages|forever|so long|a (?:long )?(?:while|minute))\b|^(?:i am )?sorry i\b|^i knew you\b|"
    r"\b(?:some|big|crazy|lots? of|new|cool|wild|so many) (?:stuff|things?)(?: has|'s| have)? (?:been )?(?:happen|"
    r"going on)|^i (?:will )?(?:definitely |surely )?(?:check|look|try|read|watch|give) (?:it|that|them|this)\b|"
    r"^i get how|\bcan do (?:this|it)$|\b(?:be sure to|definitely) reach out\b|^especially\b|\bhere(?:'s| is|"
    r" are) (?:an?|the|my|some|one)\b|\bdo something$|^(?:i|we)(?: all| also| really| just)? (?:had|have|"
    r"am having) (?:an? |so much |such a |a ton of |lots of )?(?:\w+ )?(?:fun|blast|time)(?: together| there)?$|"
    r"^time flies|\blet (?:me|us) know\b|^i (?:did not|didn't|haven't) (?:get back|talked|reply)|^(?:these are|"
    r"here(?:'s| is| are)) (?:my|a|an|the|some|one|me)\b|^(?:my )?full support|^i haven't been around$|"
    r"\bkeep (?:that|this) in mind\b|^not only for\b|^almost as\b|^(?:i|we)(?:'m| am|'ve| have|'re|"
    r" are)? (?:\w+ )?(?:see(?= what|,|$)|agree|know(?=$|[,.!]| how you| what you| right)|think so|hope so|bet|"
    r"guess so|feel you|hear you|get it|understand|appreciate|can relate|am (?:good|fine|ok|okay|great|here for|glad|"
    r"sorry|with you)|(?:am |feel )?(?:so |really |super |very |truly )*(?:thankful|grateful|proud|lucky|blessed|"
    r"happy|excited|ready)(?: too)?$|feel the same|couldn't agree|can imagine|can see|believe in you|doing (?:great|"
    r"good|well|ok|okay|fine)|glad|happy (?:for|to hear|that you)|proud of you|sorry)\b|^i (?:just )?(?:wanted to|"
    r"had to) (?:check in|say|let you|thank|fill|share|tell you)\b(?! (?:you )?(?:about|that|how))|^(?:i will |"
    r"i'll )?let you know|^i will let you know|^there's something i|^i (?:\w+ )?(?:do|did|am|have|can|will)(?=$|"
    r" ?[-–,.!])|^i (?:would |'d )?(?:really )?(?:love|like|want|hope) to$|^(?:crazy|interesting|exciting|"
    r"big) (?:stuff|things?)(?:'s| has| have)? (?:been )?happen\w*(?: since\b.*)?$|\bheads up\b|^(?:long time|"
    r"seems? like (?:forever|ages)|(?:so |too )?much|lots?|a lot|quite a|nothing much|been an?|it's been (?:a while|"
    r"ages|forever)|been a)\b.*(?:last|since|happened|going on|chatted|week|been|talk)|^我(?:完全|非常|特别|很)*(?:也(?:是|这么|"
    r"一样)|同意|懂|明白|懂|理解|知道|很好|没事|相信你|支持你|为你|祝)|(?:想|得)跟你(?:们)?(?:说|聊)|(?:有(?:件|些)事|有东西)[^，。]{0,4}(?:告诉|跟)你|没聊了$|"
    r"^[^，。]{0,14}发生了[^，。]{0,8}(?:事|事情)$|^给你看|^我们找个?时间"
)

IMPORTANCE = (
    (9, r"\ballerg|\bdiagnos|\bcancer|\bsurger|\bhospital|\bdied|\b(?:his|her|their|'s|the|my) death|\bpassed away|"
        r"\bfuneral|\bpregnan|\bborn\b|\bbirth\b|过敏|去世|逝世|癌|手术|住院|怀孕|出生|确诊"),
    (8, r"\bmarri|\bwedding|\bengaged|\bdivorc|\bbirthday|\bmoved? (?:to|in)|\bnew (?:job|house|home|apartment)|"
        r"\blost (?:my|their) job|\bjob\b|\bworks? (?:as|at|for)|\blives? in|\bgraduat|\bpromot|\badopt|\binjur|"
        r"\bvegan|\bvegetarian|结婚|婚礼|离婚|订婚|生日|搬[到家去]|住在|工作(?![室坊量])|毕业|升职|受伤|失业|辞职|"
        r"素食|[领收]养"),
)  # fmt: skip
PLAN = (
    r"\b(?:going to|plan(?:s|ning)? (?:to|on|a|for)|hop(?:es?|ing) to|wants? to|will|thinking (?:about|of)|"
    r"looking forward|upcoming|goal|dreams? (?:of|is)|aims?|intends?|is considering|excited to)\b|打算|计划|准备|"
    r"想要|将|希望|期待|目标|梦想|考虑"
)
LIKING = (
    r"\b(?:loves?|likes?|enjoys?|prefers?|hates?|adores?|dislikes?|fav(?:ou?rite)?s?|passionate|fan of|interested in|"
    r"into)\b|喜欢|喜爱|热爱|最爱|讨厌|偏爱|感兴趣"
)
EVENT = (
    r"\b(?:went|got|took|made|saw|met|found|bought|won|lost|did|came|gave|started|began|wrote|ran|built|visited|"
    r"joined|attended|finished|held|moved|had|played|tried|learned|received|signed|created|launched|hosted|"
    r"organi[sz]ed|performed|\w+ed)\b|了|过|昨|去年|上[周个]"
)
RELATION = (
    r"'s (?:\w+ )?(?:mom|mother|dad|father|sister|brother|wife|husband|son|daughter|partner|friend|kids?|family|dog|"
    r"cat)\b|的(?:妈|爸|姐|妹|哥|弟|儿|女|妻|丈|朋友|孩子|狗|猫)"
)
POSSESSION = r"\b(?:has|owns|have) (?:a|an|two|three|four|the|some|their)\b|有一|养了|拥有"
_MONTH = "|".join(MONTHS)
_UPPER, _LOWER = "A-ZÀ-ÖØ-ÞŁŚŠŽ", "a-zß-öø-ÿāăąćčďēěęğıłńňőřśşšťūůűźžż"
_CAPITAL = rf"[{_UPPER}][{_LOWER}]+(?:-[{_UPPER}]?[{_LOWER}]+)*"
# What has a capital within a sentence, but for days, months, languages, and I.
NAMED = (
    rf"(?:(?<=[{_LOWER}\d,;\0] )|(?<=[{CJK}] )|(?<=[{CJK}]))(?!(?:{_MONTH}|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|Asked|"
    r"Now|Dutch|French|German|Greek|Thai|The|This|That|It|My|And|But|We|They|He|She|Is|Are|Plus|Also|Yes|No|"
    rf"[A-Z][a-z]*(?:ish|ese|ian|ean|can))\b)(?:St\.? |(?=\w{{3}})){_CAPITAL}(?:(?: of| de| van| von)? "
    rf"(?!(?:{_MONTH})\b){_CAPITAL}){{0,3}}(?!\w|-\w)"
)
# Two capitals and more where a sentence begins, of which the first may be no name: Harry Potter; Yesterday Ada.
NAMED_FIRST = rf"(?:^|(?<=[.!?;] ))({_CAPITAL}(?: (?!(?:{_MONTH})\b){_CAPITAL})+)"
NO_NAME = r"(?:asked|last|next|yesterday|today|tomorrow|tonight|besides|together|now|\w+day)s?$"
