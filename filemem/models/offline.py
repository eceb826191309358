"""Where no model is configured: which model a name means, and what the program says itself, in English and Chinese.

What it says in Chinese stands here in traditional characters, each of which is one simplified one.
"""

import functools
import os
import re

from filemem.files import config
from filemem.files.folder import Folder, StoreFolder
from filemem.llm.client import OpenAIModel
from filemem.llm.model import FailFastModel, Messages, ModelError, OnText, Reply, Tools
from filemem.text import terms

NOTICE = (
    "No model is configured, so answers are quotes from your memories, and a message that begins with “remember” becomes "
    "a fact. To talk with a model, set OPENAI_API_KEY (and OPENAI_BASE_URL for another endpoint) and name it with --model, "
    "FILEMEM_MODEL or `model:` in ~/.config/filemem/config.yaml."
)
FOUND = ("From your memories:", "在記憶裡找到：")
NEAREST = (
    "I found nothing sure about that in your memories; the nearest:",
    "記憶裡沒有找到確定的答案，最接近的是：",
)
NOTHING = ("I found nothing about that in your memories.", "記憶裡沒有找到相關內容。")
SAID = ("It is in today's conversation.", "已記在今天的對話裡。")
UNRECORDED = ("Off the record: nothing of this is kept.", "不留記錄：這些話不會保存。")
KEPT = ("Kept as a fact: “{}”, {}", "已記為一條事實：“{}”，{}")
NOT_KEPT = ("Not kept as a fact: {}", "沒有記為事實：{}")
TAKEN_BACK = (
    "Kept back from now on, and not deleted yet:",
    "從現在起不再提，但還沒有刪除：",
)
DELETE = ("To delete it for good: {}forget {}", "要徹底刪除：{}forget {}")
TO_FORGET = (
    "Nothing was deleted. {}forget WORDS deletes what holds the words, and asks first.",
    "沒有刪除任何內容。用 {}forget 加上詞語，會先詢問，再刪除含有這些詞的內容。",
)
NOTHING_SAID = ("There is nothing before this to forget.", "前面沒有可以忘掉的內容。")
_TOLD = (
    FOUND,
    NEAREST,
    NOTHING,
    SAID,
    UNRECORDED,
    KEPT,
    NOT_KEPT,
    TAKEN_BACK,
    TO_FORGET,
    NOTHING_SAID,
)
_HAN, _WORD = re.compile(r"[\u3400-\u9fff]"), re.compile(r"[^\W\d\u3400-\u9fff]+")


class OfflineModel:
    """Stands for no model: a conversation with it quotes, see `chat.reply`."""

    name = "offline"

    def ask(self, messages: Messages, tools: Tools, on_text: OnText) -> Reply:
        """Fail: there is no model to ask."""
        raise ModelError(
            "no model is configured; name one with --model, FILEMEM_MODEL or `model:` in ~/.config/filemem/config.yaml."
        )


def chosen_model(folder: Folder, name: str | None) -> OpenAIModel | None:
    """Return the model called `name`, else the one in the settings, or None.

    Also None where the person has yet to say where this store's words go.
    """
    settings = config.of(folder)
    chosen = name or settings.model
    if not chosen or chosen == OfflineModel.name:
        return None
    if config.unanswered(folder.store, name or ""):
        return None
    key = os.environ.get("OPENAI_API_KEY")
    return OpenAIModel(chosen, settings.base_url or None, key, settings.timeout)


@functools.lru_cache(maxsize=2)
def model_of_run(run: str, store: str, name: str) -> FailFastModel | None:
    """One model for all users of a run, and for no later one, so that one that has failed is not asked for each."""
    found = chosen_model(StoreFolder(store).folder("all"), name)
    return FailFastModel(found) if found else None


def said_to(message: str, both: tuple[str, str]) -> str:
    """What the program says to a message, of its words in English and in Chinese: in the language of which it has more, in the
    characters that it is written with."""
    english, chinese = both
    if len(_HAN.findall(message)) <= len(_WORD.findall(message)):
        return english
    return (
        chinese if terms.simplified(message) != message else terms.simplified(chinese)
    )


def is_ours(answer: str) -> bool:
    """Is an answer the program's own, which no model wrote?"""
    begins = terms.simplified(answer[:80])
    told = (one.partition("{")[0] for both in _TOLD for one in both)
    return begins.startswith(("[no answer]", *map(terms.simplified, told)))
