"""The model that is meant: the one that is named, else that of the settings."""

import os

from filemem.endpoint import OpenAIModel, RequestLimits
from filemem.files.config import Config
from filemem.models.offline import OfflineModel


def model(settings: Config, name: str | None, limits: RequestLimits | None = None) -> OpenAIModel | None:
    """The model called `name`, else as the settings have it; None where the offline rules are meant."""
    chosen = name or settings.model
    if not chosen or chosen == OfflineModel.name:
        return None
    key = os.environ.get("OPENAI_API_KEY")
    return OpenAIModel(chosen, settings.base_url or None, key, settings.timeout, limits=limits)
