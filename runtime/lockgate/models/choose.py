"""Which model an agent means: one it brings itself, or a provider's model named by a text."""

from __future__ import annotations

from functools import lru_cache

from lockgate.models.protocol import Model
from lockgate.models.pydantic_ai import PydanticAIModel

MAX_KEPT_MODELS = 64  # each keeps a provider's client; an application names a handful


def model_from(model: Model | str) -> Model:
    """Return a model as it is, or the one that a text such as `openai:gpt-4.1` names.

    Errors  ModelError: the extra `llm` is missing, or the text or the provider's key is no good
    """
    return _named(model) if isinstance(model, str) else model


def model_name(model: Model) -> str:
    """Return the name under which a model's usage is counted: its own `name`, or its class's."""
    name = getattr(model, "name", None)
    return name if isinstance(name, str) and name else type(model).__name__


@lru_cache(maxsize=MAX_KEPT_MODELS)
def _named(model: str) -> PydanticAIModel:
    return PydanticAIModel(model)
