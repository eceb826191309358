"""Text that gives orders to its reader, an assistant or its memory, instead of telling something. Pure functions.

This is a tripwire, not a wall: it knows the usual wordings in English and Chinese. What it lets through is still data, in
marked tool results; what it stops does not become a fact by itself. It does not know who speaks: a user may well ask to be
remembered from now on, a document or an assistant's turn may not, and telling those apart is the caller's part.
"""

import re
import unicodedata
from functools import cache

IGNORE = "tells the reader to ignore its instructions"
PERSONA = "tells the reader who to be"
NEW_ORDERS = "gives the reader new instructions"
PROMPT = "asks for the system prompt"
MEMORY = "asks to be written into the memory"
ADDRESSED = "speaks to an AI that reads it"
SECRECY = "asks to hide something from the user"
MARKS = "has marks of a prompt's parts"
HIDDEN = "has hidden text"

_HAN = "\u3400-\u9fff"
_COMMANDS = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}\b(?:instruction|prompt|rule|direction|guideline|system|"
    r"previous|above)s?\b|\bnew instructions?:|\bsystem prompt\b|<\|?(?:system|im_start)|\byou are now (?:an?|in)\b|"
    r"(?:忽略|无视|忘[记掉]|不要理会|绕过).{0,12}(?:指令|指示|提示词|规则|设定)|系统提示词?|新的?指令[:：]",
    re.IGNORECASE,
)
_UNSEEN = "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]"
_FLAG = (
    "\U0001f3f4[\U000e0020-\U000e007e]{1,7}\U000e007f"  # England's, Scotland's and the like are spelt in tag characters
)
_TAGS = "[\U000e0020-\U000e007e]"
_SPELT = r"(?<!\w)[a-z](?:[ .*_-]{1,3}[a-z]){5,}(?!\w)"  # i g n o r e
_SQUEEZED = (
    r"(?:ignore|disregard|forget|override)(?:all|any|the|your|my|these|of|previous|prior|above|earlier|system)+"
    r"(?:instruction|rule|prompt|guideline)"
)
_LEET = str.maketrans("01345@$7", "oleasast")
_LOOKALIKES = str.maketrans("аеорсухіѕјһԁкмтвнαορνι", "aeopcyxisjhdkmtbhaopvi")

_AI = r"(?:ais?|ai (?:assistant|agent|model|system)s?|assistants?|llms?|(?:large )?language models?|chat ?bots?)"
_UNNARRATED = (  # an order, not a report of what someone does or must not do
    r"(?<!not )(?<!n't )(?<!never )(?<!\bi )(?<!\bwe )(?<!they )(?<!people )(?<!always )(?<!often )(?<!tend to )(?<!tends to )"
    r"(?<!used to )\b"
)
_RULES = (
    r"(?:instructions?|rules?|prompts?|guidelines?|directions?|directives?|commands?|constraints?|restrictions?|programming"
    r"|training|guardrails|safety \w+|context)\b"
)
_OFF = (
    r"(?:ignore|disregard|forget|override|bypass|discard|(?:do not|don't|stop) (?:follow|obey|listen to)(?:ing)?"
    r"|pay no attention to)"
)
_ENGLISH = (
    (
        IGNORE,
        rf"{_UNNARRATED}{_OFF} (?:[a-z]+ ){{0,3}}?(?:previous|prior|above|earlier|preceding|foregoing|original|initial"
        rf"|existing|system"
        rf"|your|all (?:of )?(?:the|my|these|those|other)|all|any)\b,? (?:[a-z-]+ ){{0,3}}?{_RULES}"
        rf"|(?:^|[.!?:;\n\"'(*>] ?|\b(?:please|now|then) ){_OFF} (?:instructions|rules|guidelines)\b"
        r"|(?:^|[.!?:;,\n\"'(*>] ?|\b(?:please|now|and|then) )(?:ignore|disregard|forget) (?:all |everything "
        r"|anything )?(?:of )?(?:the )?"
        r"above\b(?! (?:e-?mail|message|post|comment|photo|picture|link))"
        rf"|{_UNNARRATED}forget (?:everything|all) (?:that )?(?:you(?:'ve| have)? (?:know|knew|were|been|learn)|above"
        rf"|prior\b|previous)",
    ),
    (
        PERSONA,
        r"\byou(?: are|'re) now (?:in )?(?:an? |the |my |called |named )?(?:[\w-]+ ){0,4}?(?:ai|assistant|chatbot|bot"
        r"|language model|llm"
        r"|\w*gpt|dan|jailbroken|unrestricted|unfiltered|uncensored|(?:developer|god|dan) mode)\b"
        r"|\byou(?: are|'re) no longer (?:bound|restricted|limited|an? (?:ai|assistant|language model|chatbot))\b"
        r"|\bfrom now on,? you (?:are (?:an?|the|my|called|named)\b|will (?:act|respond|answer|reply|obey|speak)|(?:must"
        r"|shall) (?:act|respond"
        r"|answer|reply|obey|always|never|only)|act as|answer|respond|obey)"
        r"|\b(?:act|behave|respond|answer) as (?:if|though) you (?:have|had|are|were) (?:no|not|un\w+|free)\b"
        r"|\bpretend (?:that )?(?:you are|you're|to be) (?:an? )?(?:[\w-]+ ){0,3}?(?:ai|bot|language model|unrestricted"
        r"|dan|jailbroken)\b"
        r"|\b(?:dan|jailbreak) mode\b|\b(?:developer|god) mode (?:enabled|activated)",
    ),
    (
        PROMPT,
        r"\b(?:reveal|print|show|repeat|output|display|tell me|leak|disclose|what (?:is|are|was)|give me|dump|write out"
        r"|send) (?:me )?"
        r"(?:the |us )?(?:(?:full|entire|complete|exact|whole|your) ){0,3}(?:system prompt\b|system instructions|system message"
        r"|(?:hidden|initial|secret) (?:prompt|instructions)|(?<=your )prompt\b(?! (?:reply|response|attention|action"
        r"|answer)))",
    ),
    (
        NEW_ORDERS,
        r"\b(?:new|updated|revised|real|actual|hidden|secret|overriding) (?:system |admin |developer )?(?:instructions?"
        r"|directives?|orders"
        r"|commands?) ?:|\bsystem prompt ?[:=]"
        r"|\byour (?:new|only|real) (?:task|objective|directive|goal|instructions?) (?:is (?:now )?to|are|is:)\b"
        r"|\b(?:obey|execute) (?:the|these|my) (?:following|below|new) (?:instructions?|orders|directives?)",
    ),
    (
        MEMORY,
        r"\b(?:add|save|store|write|commit|record|insert|append|put|copy|log) (?:(?:all )?(?:this|that|it|these"
        r"|the following|a note)"
        r"(?: [\w-]+){0,3}? )?(?:in|into|to) (?:your|the user'?s?|(?:the|its) (?:assistant|model"
        r"|agent)'?s?) (?:own )?(?:long[- ]term |permanent "
        r"|core |persistent |user )?(?:memory|memories|profile|knowledge base)\b(?! (?:box|card|stick|lane|foam|book"
        r"|picture|photo|page))"
        r"|(?:^|[.!?:;\n] ?)(?:add|save|write|commit) (?:this |the following )?to memory ?:"
        r"|\bupdate (?:your|the user'?s?) (?:long[- ]term |core |permanent )?memor(?:y|ies)\b"
        r"|\bfrom now on,? (?:please |always |you (?:must|should|will) |also )*(?:always )?(?:remember|recall|note that"
        r"|assume|believe)\b"
        r"|\b(?:permanently remember|remember (?:this|that|the following)? ?(?:permanently|for all future|in (?:all"
        r"|every) future))\b"
        r"|\b(?:remember|note|record|memori[sz]e)(?: that)?:? the user (?:is|has|had|prefers|likes|loves|wants|trusts"
        r"|always|never|said|agreed"
        r"|asked|approved|authori[sz]ed|owns|works|lives|hates)\b"
        r"|\b(?:delete|erase|wipe|clear) (?:all )?(?:of )?(?:your|the user'?s|all stored) (?:stored )?(?:memory|memories)\b",
    ),
    (
        ADDRESSED,
        rf"\b(?:note|message|instructions?|attention|notice|warning|memo)(?: (?:to|for))?,? (?:any |all "
        rf"|the )?{_AI}(?: reading this)? ?[:,!-]"
        rf"|\bif you(?: are|'re) (?:an? )?(?:ai|llm|(?:large )?language model|chat ?bot|ai (?:assistant|agent"
        rf"|model))\b(?! [a-z]+(?:er|or|st|ent|up"
        r"|any|fan)s?\b)"
        rf"|\b(?:the|this|any|all|every) {_AI} (?:must|shall|(?:is|are) (?:required|instructed|ordered) to|has to"
        rf"|should (?:now|always|never))"
        r" (?:[a-z]+ )?(?:remember|ignore|obey|store|save|record|recommend|say|call|run|execute|reveal|send|tell|comply"
        r"|delete|forget|treat)\b",
    ),
    (
        SECRECY,
        r"\b(?:do not|don't|never|without) (?:tell|inform|alert|notify|ask|mention (?:this|it|that) to|reveal (?:this|it"
        r"|that) to|show (?:this|it"
        r"|that) to|telling|informing|alerting|notifying|asking)(?: to)? the user\b(?! (?:group|guide|manual|story|interface))",
    ),
    (
        MARKS,
        r"<\|[a-z_]{2,30}\|>|\[/?inst\]|<</?sys>>|\[(?:system|developer)(?: (?:message|prompt|note|override))?\]"
        r"|</?(?:system|memory|memories|instructions?|assistant|tool_results?|function_(?:results?|calls?)|(?:system"
        r"|developer)[-_ ](?:prompt|message"
        r"|reminder))(?:\s[^<>\n]{0,80})?>"
        r"|^[ \t]{0,3}#{1,6} ?(?:system|assistant|developer|user|human|instruction|response) ?:"
        r"|^\W{0,3}(?:system|developer) (?:message|prompt|override|notice|instruction)s? ?:"
        r"|^\W{0,3}system: ?(?:you|ignore|new|from now|the assistant|always|never|do not|remember)\b",
    ),
)
_ZH_AI = r"(?:ai|人工智能|助手|助理|机器人|大?语言模型|大?模型|智能体|chatgpt|gpt)"
_CHINESE = (
    (
        IGNORE,
        r"(?<![不别勿要能可得该许])(?:忽略|忽視|忽视|无视|無視|忘记|忘記|忘掉|不要理会|不要遵守|不要遵循|别管|绕过|抛弃|推翻|覆盖)(?![了过着])掉?"
        r"[^。！？!?\n]{0,6}(?:之前|先前|以前|以上|上面|上述|前面|此前|原有|原来|最初|所有|一切|全部|任何|你的|您的|系统)[^。！？!?，,\n]{0,10}"
        r"(?:指令|指示|规则|規則|设定|設定|提示词|提示詞|系统提示|命令|约束|限制|要求|对话|内容)"
        r"|(?:之前|先前|以上|上述|前面)的?(?:所有|全部|一切)?(?:指令|指示|规则|设定|提示词)(?:全部|一律|都)?(?:作废|无效|失效)",
    ),
    (
        PERSONA,
        rf"你现在(?:起)?就?是(?!不是|在|否)[^，。！？,!?\n]{{0,16}}(?:{_ZH_AI}|没有(?:任何)?限制|不受(?:任何)?限制|管理员|开发者模式|猫娘|越狱)"
        r"|从现在(?:开始|起)[，,]?(?:请)?你(?:就是|是|将扮演|要扮演|扮演|必须(?:服从|听从|回答|始终)|只能(?:回答|说|输出))"
        rf"|(?:扮演|假装你?是|假设你是)[^，。！？,!?\n]{{0,12}}(?:{_ZH_AI}|没有限制|不受限制|越狱)|你不再(?:受|是)[^，。！？,!?\n]{{0,10}}(?:限制|约束|{_ZH_AI})"
        r"|(?:进入|开启|启用)(?:越狱|dan|上帝)模式",
    ),
    (
        PROMPT,
        r"(?:显示|输出|泄露|告诉我|打印|复述|重复|透露|说出|给我看)(?:一?遍|一下)?你?的?(?:完整|全部|原始)?的?(?:你的|系统)[^，。！？,!?\n]{0,4}"
        r"(?:提示词|提示語|提示语|系统提示|初始指令|系统指令|prompt)",
    ),
    (
        NEW_ORDERS,
        r"(?:新的?|最新的?|真正的?|隐藏的?|秘密)(?:系统)?(?:指令|指示|提示词) ?[:：]"
        r"|系统(?:提示词?|消息|指令|管理员) ?[:：]|【系统(?:提示|消息|指令)?】"
        r"|(?:立即|必须|请)?执行(?:以下|下列|下面)的?(?:指令|指示)",
    ),
    (
        MEMORY,
        r"(?:请|务必|必须)?(?:牢牢)?(?:记住|牢记|记下)(?:这些|以下|以上)?[^，。！？,!?\n]{0,4}(?:并|然后|且)(?:立即|严格|永远|始终)?(?:执行|遵守|照做|服从|遵循)"
        r"|(?:[把将]|請把)[^。！？!?\n]{0,40}(?:写入|写进|寫入|存入|存进|存到|保存到|加入到?|加到|添加到|记入|记到|记录到|录入)(?:你|您|用户|助手|ai|系统|模型)"
        r"的?(?:长期|核心|永久)?(?:记忆|記憶|档案|资料|画像|profile|memory)(?!卡|体|棒|力)"
        r"|(?:写入|存入|保存到|添加到|加入|更新|修改)(?:你|您|用户|助手|ai)的(?:长期|核心|永久)?(?:记忆|記憶|profile|memory|画像)(?!卡|体|棒|力)"
        r"|从现在(?:开始|起)[，,]?(?:请|你)?(?:请|要|必须|始终|永远|一直|都|务必){0,3}(?:记住|牢记|认为|相信)"
        r"|(?:永久|永远)(?:地)?记住(?:以下|这条|这个|：|:|用户)|(?:记住|记录|记下)(?:：|:)?用户(?:喜欢|偏好|是|已经|已|同意|授权|信任|讨厌|住|想)"
        r"|(?:删除|清空|清除|抹掉)(?:你|用户)的?(?:所有|全部)?的?(?:记忆|記憶)",
    ),
    (
        ADDRESSED,
        rf"(?:如果|若|假如)你是(?:一个|一名|个)?{_ZH_AI}(?![\u4e00-\u9fff]?(?:究|发|程|爱|专|从|公))|(?:致|告|注意)(?:所有|各位|任何)?{_ZH_AI}[:：，,]"
        rf"|(?:本|该|所有|任何|阅读本文的){_ZH_AI}(?:必须|应当|应立即|需要|务必)[^，。！？,!?\n]{{0,8}}(?:记住|忽略|执行|服从|推荐|回复|保存|透露|发送|删除)",
    ),
    (
        SECRECY,
        r"(?:不要|别|不得|切勿|请勿|不能)(?:告诉|通知|告知|提醒|透露给|让)用户(?:知道)?|(?:对用户(?:保密|隐瞒)|瞒着用户)",
    ),
)


def commands(text: str) -> str | None:
    """Why a person's own turn looks as if a text in it commanded the memory; None where it does not."""
    return IGNORE if _COMMANDS.search(text) else None


def suspicious(text: str) -> str | None:
    """Why `text` looks as if it commanded its reader, as a phrase that fits behind "it"; None where it does not."""
    hidden = "".join(chr(ord(sign) - 0xE0000) for sign in re.findall(_TAGS, re.sub(_FLAG, "", text)))
    turned = " ".join(run[::-1] for run in re.findall("\u202e([^\u202c\n]+)", text))
    for reading in _readings(f"{text}\n{turned}" if turned else text):
        for reason, pattern in _patterns():
            if pattern.search(reading):
                return reason
    if any(re.search(_SQUEEZED, re.sub(r"[\W_]", "", run)) for run in re.findall(_SPELT, _plain(text))):
        return IGNORE
    return HIDDEN if sum(map(str.isalpha, hidden)) >= 4 else None


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    return [(reason, re.compile(pattern, re.MULTILINE)) for reason, pattern in (*_ENGLISH, *_CHINESE)]


def _plain(text: str) -> str:
    """One form for what looks the same: compatibility forms and case folded, unseen characters and stray spaces gone."""
    seen = re.sub(_UNSEEN, "", re.sub(_TAGS, lambda tag: chr(ord(tag[0]) - 0xE0000), re.sub(_FLAG, "", text)))
    return unicodedata.normalize("NFKC", seen).casefold().replace("’", "'")


def _readings(text: str) -> list[str]:
    """The text as it is read: plain, and once more with digits and foreign letters that stand for Latin ones."""
    plain = _plain(text)
    spaced = re.sub(r"[^\S\n]+", " ", re.sub(rf"(?<=[{_HAN}])[^\S\n]+(?=[{_HAN}])", "", plain))
    # An order may be broken over lines; only what must begin a line is looked for in the text as it stands.
    joined = re.sub(r"[ \n]+", " ", spaced)
    latin = re.sub(r"\S+", lambda word: _latin(word[0]), joined)
    return [spaced, joined, *([latin] if latin != joined else [])]


def _latin(word: str) -> str:
    if word.isascii():
        return word.translate(_LEET) if re.search("[a-z][01345@$7]|[01345@$7][a-z]", word) else word
    return word.translate(_LOOKALIKES) if re.search("[a-z]", word) else word
