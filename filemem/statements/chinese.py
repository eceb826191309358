"""A Chinese sentence in the first person, told of its speaker by name. Pure functions, no grammar beyond word lists."""

import re

from filemem.statements.utterance import outside_quotes, regex

_FILLERS = (
    r"^(?:(?:你好|您好|大家好|嗯+|哈+|嘿+|嗨|哇+|啊+|哦+|噢|喔|唉|哎呀?|呃|嘻+|呵+|是[啊呀的]|对[啊呀的]?|对对|"
    r"好[啊呀的吧]|当然|没错|确实|其实|不过|而且|所以|然后|那么?|有[的啊]?|会[的啊]?|发生了好多事|好久没聊了|"
    r"顺便(?:说一[下句]|问一下|一提)|说实话|老实说|不过说真的|说真的|你知道吗?|你猜怎么着|对了|另外|还有|还好|"
    r"谢谢你?|多谢|总之|反正|不对|我说错了|说错了|更正(?:一下)?|话虽这么说|真的|太好了|太棒了|"
    r"不是|我?跟你[说讲]|我?告诉你)[，,。！!：:~、…— ]+)+"
)
_TAILS = r"[，,]?(?:对吧|是吧|对不对|是不是|你懂的|你知道的?|哈+|呵+|嘻+|嘛|啦|呀|哦|噢|喔|呢|吧|啊)+$"
_TOGETHER = r"一起|你|您|咱|俩|上次聊|没聊|聊过"
_SAYING = r"(?:说|讲|觉得|认为|以为|知道|发现|相信|希望|担心|承认|决定|提醒|告诉[^，。]{1,6})(?:过|了|到)?$"
_VERB_AGAIN = (
    r"[，,](?!但|而|可|因|所|不过|然|也|还|就|只|或)[^，,；;：:—我你他她它则却都也]{1,6}$"  # 会继续努力，实现我的梦想
)
_GOES_ON = r"[，,；;—](?:所以|因为|但是?|不过|而且|然后|也|还|就|并且|于是|现在|后来|同时|当时)*$"
_LEADS = (  # news announced, not told: 昨天真是太棒了，
    r"^(?:(?:昨天|今天|上周末?|这周|最近|生活)?(?:真是|真的|真|可)?(?:太[^，。]{1,5}了|超[^，。]{1,4}的?)|"
    r"自从[^，。]{0,6}上次[聊见][^，。]{0,4}|是有点[^，。]{1,5}|不过有个好消息|告诉你(?:个|一个)?好消息|你(?:绝对|"
    r"肯定|一定)?(?:想不到|不会相信|不敢相信))[，,：:—]+"
)
_COMPANY = (
    r"家人|孩子们?|丈夫|妻子|老公|老婆|先生|太太|男朋友|女朋友|男友|女友|朋友们?|同事们?|队友们?|团队|爸妈|父母|妈妈|"
    r"爸爸|姐姐|妹妹|哥哥|弟弟|儿子|女儿|狗|猫"
)


def company(said: str, speaker: str, other: str) -> str:
    """Who 我们 are, in words: with those named in what was said so far, with the other one, or with others."""
    if named := regex(rf"(?:和|跟|与|带着?|我的?)(?:我的?)?({_COMPANY})").search(said):
        return f"{speaker}和{named[1]}"
    return f"{speaker}和{other}" if other and regex(_TOGETHER).search(said) else f"{speaker}和大家"


def bare(sentence: str, names: tuple[str, ...]) -> str:
    """The sentence without interjections, forms of address, and particles at the end."""
    text = sentence.strip().rstrip("。！？!?.…~～ ")
    called = "|".join(map(re.escape, filter(None, names)))
    for _ in range(4):
        before = text
        text = regex(_LEADS).sub("", regex(_FILLERS).sub("", text.lstrip(")）】、~ ")))
        text = regex(r"^(?:而且|所以|但是?|不过|并且|然后|因为|其实|确实|当然|说实话|顺便说一句)(?=我)").sub("", text)
        if called:
            text = regex(rf"^(?:{called})[，,！!、 ]+").sub("", text)
            text = regex(rf"[，, ]+(?:{called})$").sub("", text)
        text = regex(_TAILS).sub("", text).strip(" ，,、—–-")
        if text == before:
            break
    return text


def complete(sentence: str) -> str:
    """The sentence with the 我 that speech leaves out: 等不及想去, 我等不及想去."""
    left_out = (
        r"^(?:真?等不及|期待|希望|打算|准备|想|正在|一直在|刚刚?|最近(?!的)|迫不及待|觉得|决定|去了|买了|搬到|换了|"
        r"还?得(?!到)|(?:今天|昨天|前天|上周末?|最近|这周)(?:刚|才|开始|去|又|买|做)|还在)"
    )
    return (
        "我" + sentence
        if regex(left_out).search(sentence) and not regex(r"^.{0,7}我(?!们?的)").search(sentence)
        else sentence
    )


def third_person(sentence: str, speaker: str, other: str, group: str) -> str:
    """The sentence told of `speaker`: 我喜欢我的工作, 小明喜欢自己的工作. Quoted speech is left alone."""
    return outside_quotes(sentence, _Retelling(speaker, other, group).tell)


class _Retelling:
    """One sentence on its way to the third person: who was named so far, and in which clause."""

    def __init__(self, speaker: str, other: str, group: str) -> None:
        self.speaker, self.other, self.group = speaker, other, group
        self.last = ""  # who was named last as a subject

    def tell(self, text: str) -> str:
        text = regex(r"我和你|你和我|咱们|咱俩|咱").sub("我们", text)
        text = regex(rf"我们?(?=家的)|我们?(?={_COMPANY})").sub("我的", text).replace("我的家的", "我家的")
        text = regex(r"[你您]们都?").sub(lambda _: f"{self.other}和大家" if self.other else "大家", text)
        text = regex(r"[你您妳]").sub(lambda _: self.other or "对方", text)
        out, at = [], 0
        for m in regex(r"(?<!自)我(们)?(的|自己)?").finditer(text):
            between = text[at : m.start()]
            out += [between, self._named(m, between)]
            at = m.end()
        return "".join(out) + text[at:]

    def _named(self, m: re.Match[str], between: str) -> str:
        """What stands for one 我: the name, 自己, or nothing where the next clause goes on with the same subject."""
        who = self.group if m[1] else self.speaker
        clauses = len(regex(r"[，,；;：:—]+").findall(between))
        same = self.last == who
        if m[2] == "自己":
            return "自己" if same else f"{who}自己"
        if m[2]:
            near = same or (self.last == self.group and not m[1])
            goes_on = not clauses or (clauses == 1 and regex(_VERB_AGAIN).search(between))
            return "自己的" if near and goes_on else f"{who}的"
        if same and not m[1] and not clauses and regex(_SAYING).search(between):
            return "自己"
        # 我和朋友 … 我们: they were named together.
        self.last = self.group if regex(r"[和跟与]").match(m.string, m.end()) else who
        if same and clauses == 1 and regex(_GOES_ON).search(between):
            return ""
        return "他们" if same and m[1] else who
