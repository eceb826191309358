"""Which model a name means, and what stands for it where none is configured."""

import functools
import os

from filemem.llm.client import OpenAIModel
from filemem.llm.model import FailFastModel, Messages, ModelError, OnText, Reply, Tools
from filemem.store import config
from filemem.store.folder import Folder
from filemem.store.users import StoreFolder

NOTICE = (
    "No model is configured, so answers are quotes from your memories; /remember TEXT"
    " in a chat keeps a fact. To talk with a model, set OPENAI_API_KEY (and"
    " OPENAI_BASE_URL for another endpoint) and name it with --model, FILEMEM_MODEL or"
    " `model:` in ~/.config/filemem/config.yaml."
)


class OfflineModel:
    """Stands for no model: a conversation with it quotes what it finds."""

    name = "offline"

    def ask(self, messages: Messages, tools: Tools, on_text: OnText) -> Reply:
        """Fail: there is no model to ask."""
        raise ModelError(
            "no model is configured; name one with --model, FILEMEM_MODEL or `model:` "
            "in ~/.config/filemem/config.yaml."
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
    key = os.environ.get(config.KEY)
    return OpenAIModel(chosen, settings.base_url or None, key, settings.timeout)


@functools.lru_cache(maxsize=2)
def model_of_run(run: str, store: str, name: str) -> FailFastModel | None:
    """Return one model for all users of a run, and for no later one.

    So one that has failed is not asked again for each user.
    """
    found = chosen_model(StoreFolder(store).folder("all"), name)
    return FailFastModel(found) if found else None
