"""A Chinese sentence in the first person, told of its speaker by name. Pure functions, no grammar beyond word lists."""

import re

from filemem.utterance import regex

_FILLERS = (
    r"^(?:(?:嗯+|哈+|嘿+|嗨|哇+|啊+|哦+|噢|喔|唉|哎呀?|呃|嘻+|呵+|是[啊呀的]|对[啊呀的]?|对对|好[啊呀的吧]|当然|没错|"
    r"确实|其实|不过|而且|所以|然后|那么?|有[的啊]?|会[的啊]?|发生了好多事|好久没聊了|顺便(?:说一[下句]|问一下|一提)|"
    r"说实话|老实说|说真的|你知道吗?|你猜怎么着|对了|另外|还有|还好|谢谢你?|多谢|总之|反正|不对|我说错了|说错了|"
    r"更正(?:一下)?|话虽这么说|真的|太好了|太棒了|不是)[，,。！!：:~、…— ]+)+"
)
_TAILS = r"[，,]?(?:对吧|是吧|对不对|是不是|你懂的|你知道的?|哈+|呵+|嘻+|嘛|啦|呀|哦|噢|喔|呢|吧|啊)+$"
_TOGETHER = r"一起|你|您|咱"
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
        text = regex(_FILLERS).sub("", text)
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
        r"^(?:真?等不及|期待|希望|打算|准备|想|正在|一直在|刚刚?|最近(?!的)|迫不及待|觉得|决定|去了|买了|搬到|换了)"
    )
    return "我" + sentence if regex(left_out).search(sentence) and "我" not in sentence[:8] else sentence


def third_person(sentence: str, speaker: str, other: str, group: str) -> str:
    """The sentence told of `speaker`: 我喜欢我的工作, 小明喜欢自己的工作. What stands in quotation marks is left."""
    pieces = regex(r"([“「『\"][^”」』\"]*[”」』\"])").split(sentence)
    named = False
    for number in range(0, len(pieces), 2):
        pieces[number], named = _tell(pieces[number], speaker, other, group, named)
    return "".join(pieces)


def _tell(text: str, speaker: str, other: str, group: str, named: bool) -> tuple[str, bool]:
    text = regex(r"(?:我和你|你和我|咱们|咱俩|咱)").sub("我们", text)
    text = regex(r"[你您]们(?:都)?").sub(f"{other}和大家" if other else "大家", text)
    text = regex(r"[你您妳]").sub(other or "对方", text)
    led = regex(r"^(?:[^，,]{0,10}?)(?:我|我们)(?!的)").match(text) is not None or named
    out, at = [], 0
    for m in regex(r"我们(的)?|我(的|自己)?").finditer(text):
        out.append(text[at : m.start()])
        before = text[: m.start()]
        out.append(_subject(m, before, speaker, group, named, led))
        named, at = True, m.end()
    return "".join(out) + text[at:], named


def _subject(m: re.Match[str], before: str, speaker: str, group: str, named: bool, led: bool) -> str:
    """What stands for one 我: the name, 自己, or nothing where a clause goes on with the same subject."""
    who = group if m[0].startswith("我们") else speaker
    if m[2] == "自己":
        return "自己" if named else f"{speaker}自己"
    if m[1] or m[2]:
        return "自己的" if named and led and not m[1] else f"{speaker}的"
    if (
        named
        and led
        and regex(r"[，,；;—](?:所以|因为|但是?|不过|而且|然后|也|还|就|并且|于是|现在|后来|同时|当时)*$").search(
            before
        )
    ):
        return "" if who == speaker else "他们"
    return "他们" if named and who == group else who
