"""What in Chinese text can be told to be a name, though no capital shows it: a surname where a name may begin, a foreign
name by the characters that write its sounds, a place by a list. Names that look like other words go unnoticed.
"""

import re
from collections.abc import Iterator

from filemem.text import terms

# A surname, each with what makes another word of it behind it.
_SURNAMES = {
    "王": "国子位朝冠者后牌", "李": "子", "张": "开望扬力罗口贴照嘴", "刘": "海", "陈": "列旧述设醋年", "杨": "树梅柳桃",
    "黄": "色金昏油瓜河山豆牛", "赵": "", "吴": "语", "周": "末围边年日六天一二三四五到岁期遭旋密", "徐": "徐",
    "孙": "子女辈", "马": "上路拉来匹车桶虎甲戏", "朱": "红", "胡": "萝子说乱椒同闹", "郭": "", "何": "时处必况事等种",
    "林": "子荫业地间区中里立", "高": "兴中考级度大山速铁温尔跟原低峰效质清楼三二一", "罗": "列", "郑": "重", "梁": "",
    "谢": "谢意幕", "宋": "朝代词", "唐": "朝代诗人装", "许": "多久愿可诺", "韩": "语剧式餐", "邓": "", "冯": "", "曹": "",
    "彭": "", "曾": "经是在有祖几", "董": "事", "萧": "条", "程": "序度式", "潘": "", "袁": "", "蔡": "", "蒋": "",
    "余": "下额生地", "杜": "绝", "叶": "子片", "魏": "", "吕": "", "苏": "打醒", "丁": "字", "沈": "",
    "任": "何务意性职教期", "姚": "", "卢": "", "崔": "", "钟": "头表楼点", "谭": "", "陆": "地续军", "廖": "", "贾": "",
    "韦": "", "邹": "", "孟": "", "秦": "朝", "薛": "", "侯": "", "雷": "雨电声达", "龙": "虾舟卷头井", "段": "落时子",
    "郝": "", "邵": "", "汤": "匙圆包", "尹": "", "黎": "明", "武": "术器功侠", "戴": "上着眼手帽口", "莫": "名非",
    "欧阳": "", "司马": "", "诸葛": "", "上官": "",
}  # fmt: skip
_NAMED = "|".join(f"{name}(?![{other}])" if other else name for name, other in _SURNAMES.items())
_BEFORE = r"(?:^|(?<=[^\u4e00-\u9fff])|(?<=[和与跟同给对把被让请找见识到了是叫问向替为由婆公妈爸姐妹哥弟儿友事师学]))"
_FOLLOWS = (
    "的了是在和与跟去来说给把被让从就都也很不没有会想要买做看吃喝住最今昨明上下又还更正已只可能"
    "用送带教问约到得过着付收拿借开写读听唱走跑坐现"
)
_OWN = re.compile(
    rf"{_BEFORE}(?:{_NAMED})(?![的了是在和与跟也都就很不])[\u4e00-\u9fff](?:(?<=[小晓])[\u4e00-\u9fff]|(?![{_FOLLOWS}])[\u4e00-\u9fff])?"
)
# Characters by which the sounds of foreign names are written, without those that are mostly other words.
_SOUNDS = (
    "阿埃艾奥巴贝彼毕宾波伯博布查戴黛德蒂迪杜顿厄恩尔法费芬弗夫盖甘戈格古哈汉赫黑亨吉伽杰捷卡凯坎康考科克肯奎拉莱兰朗劳勒黎"
    "丽利莉琳隆卢鲁露路伦罗洛玛马迈曼梅美门蒙米密缪摩莫默姆娜纳内尼妮诺欧帕潘佩彭皮珀普乔琼瑞萨塞桑沙莎珊史斯丝索塔泰坦特提廷"
    "图托瓦威韦维魏温沃伍西希夏谢辛休雪雅亚延扬耶伊英尤约泽詹珍朱卓兹佐安丹华简金基加林森逊翰"
)
_FOREIGN = re.compile(rf"(?!哈哈)[{_SOUNDS}]{{3,6}}|[\u30a1-\u30fa\u30fc]{{2,}}")
_PLACES = re.compile(
    "北京|上海|广州|深圳|杭州|成都|南京|武汉|西安|重庆|天津|苏州|长沙|青岛|厦门|大连|昆明|沈阳|郑州|济南|合肥|福州|宁波|无锡|"
    "哈尔滨|长春|南昌|南宁|贵阳|兰州|海口|三亚|丽江|大理|桂林|洛阳|西藏|拉萨|新疆|香港|澳门|台北|台湾|四川|云南|广东|浙江|江苏|"
    "湖南|湖北|河南|河北|山东|山西|陕西|福建|海南|中国|美国|英国|法国|德国|日本|韩国|印度|泰国|越南|俄罗斯|巴西|埃及|瑞典|瑞士|"
    "荷兰|希腊|挪威|丹麦|芬兰|波兰|澳洲|澳大利亚|加拿大|新西兰|新加坡|马来西亚|意大利|西班牙|葡萄牙|墨西哥|土耳其|爱尔兰|欧洲|"
    "亚洲|非洲|东京|大阪|京都|首尔|曼谷|巴黎|伦敦|柏林|罗马|米兰|纽约|波士顿|芝加哥|洛杉矶|旧金山|西雅图|多伦多|温哥华|悉尼|墨尔本"
)


def names(text: str) -> Iterator[str]:
    """The names in a text, in simplified characters; behind a surname and one character, a third may be another word's."""
    folded = terms.fold(text)
    for pattern in (_OWN, _FOREIGN, _PLACES):
        yield from (match[0] for match in pattern.finditer(folded))
