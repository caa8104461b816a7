"""What a mutator gets and gives: it reads a message and updates an interpreted state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Protocol

from pydantic import BeforeValidator

from evaltoolkit.errors import ScorerError
from evaltoolkit.models import Model, OptionalText
from evaltoolkit.scorers.state.interpretive import InterpretiveState

ErrorStage = Literal["copy", "client", "json", "shape", "item", "mutate", "compare"]
"""Where a mutation broke: while the state before was copied, in the client of the model, its
reply being no JSON, no list, or with a malformed item, elsewhere in the mutator, or afterwards,
while the states were compared."""


class StructuredInput(Model):
    """What is said to a mutator.

    Attributes:
        prompt: The message.
        message_id: Its name, which inferences refer to.
    """

    prompt: str
    message_id: OptionalText = None


def as_input(value: object) -> object:
    """Let a bare text stand for an input."""
    return StructuredInput(prompt=value) if isinstance(value, str) else value


class MutationContext(Model):
    """One call of a mutator.

    Attributes:
        input: The message.
        state: The state before; it is the mutator's own copy.
        metadata: Whatever the case says beside.
    """

    input: Annotated[StructuredInput, BeforeValidator(as_input)]
    state: InterpretiveState
    metadata: Mapping[str, Any] | None = None


class MutationResult(Model):
    """What a mutator made of it.

    Attributes:
        updated_state: The state after.
        metadata: Whatever the mutator says beside. To the tables of `evaluate_mutators` go
            ``extractions`` (a list of mappings), ``model``, ``prompt_rev``, ``prompt_digest``,
            ``cost_usd``, ``tokens_in`` and ``tokens_out``.
    """

    updated_state: InterpretiveState
    metadata: Mapping[str, Any] | None = None


class MutationError(ScorerError):
    """A mutator could not update the state.

    Attributes:
        stage: Where it broke.
        error_type: The type of what was raised there.
        extractions: What had been read of the reply.
    """

    def __init__(
        self,
        message: str,
        *,
        stage: ErrorStage,
        cause: BaseException | None = None,
        extractions: tuple[Mapping[str, Any], ...] = (),
        value: object = None,
    ) -> None:
        super().__init__(message, code=f"mutation_{stage}", path=stage, value=value)
        self.stage = stage
        self.error_type = type(self if cause is None else cause).__name__
        self.extractions = extractions


class TextClient(Protocol):
    """A model that writes text: anything with one method, sync or async."""

    def generate(self, prompt: str, /) -> Any:  # noqa: ANN401 - a text or an awaitable of one
        """Answer a prompt with text."""
        ...
