"""`LLMMutator`: a model reads a message and says what it adds to the state."""

from __future__ import annotations

import asyncio
import contextvars
import hashlib
import inspect
import threading
import uuid
from collections.abc import Callable
from typing import Any

from evaltoolkit.errors import ScorerError
from evaltoolkit.models import describe_error
from evaltoolkit.scorers.state.extractions import Extractions, read_extractions
from evaltoolkit.scorers.state.interpretive import Inference, ValueConfidence
from evaltoolkit.scorers.state.mutation import (
    MutationContext,
    MutationError,
    MutationResult,
    TextClient,
)

INSTRUCTIONS = """\
You keep a record of what a person has said so far. Below are the record, as JSON by dotted path
with candidate values and how sure each of them is, and the person's next message.

Write down what the message adds or corrects, and nothing that it does not say. Answer with one
JSON array and nothing around it. Each item is an object with four keys:
- "path": the dotted path of the field; list items are numbered from 0, as in "guests.0.email"
- "value": the value, as a JSON string
- "confidence": a number from 0 (a guess) to 1 (said outright)
- "inference": one sentence: which words of the message say so
If the message adds nothing, answer []."""


class LLMMutator:
    """Asks a model for new values and adds them to a copy of the state.

    Each item of the reply appends a candidate and sets the inference of its field, in order. The
    record in the prompt is sorted and holds nothing random, so that equal states give equal
    prompts.

    Args:
        client: Anything with a method ``generate(prompt)``, sync or async, that gives a text. A
            sync one is called in a thread.
        mutator_id: Who infers, as it stands in the inferences; default a random one.
        strict: Whether replies are read as langstate reads them; see `read_extractions`.
        instructions: What the model is told before record and message.

    Raises:
        ScorerError: The client has no method ``generate``.

    Example:
        >>> from evaltoolkit.scorers.state.interpretive import InterpretiveState
        >>> class Fixed:
        ...     def generate(self, prompt):
        ...         return ('[{"path": "registrant.name", "value": "Ada Lovelace", '
        ...                 '"confidence": 0.95, "inference": "She gives her name."}]')
        >>> context = MutationContext(input="I am Ada Lovelace", state=InterpretiveState())
        >>> result = asyncio.run(LLMMutator(Fixed()).mutate(context))
        >>> result.updated_state.get_best_value("registrant.name").value
        'Ada Lovelace'
    """

    def __init__(
        self,
        client: TextClient,
        *,
        mutator_id: str | None = None,
        strict: bool = True,
        instructions: str = INSTRUCTIONS,
    ) -> None:
        if isinstance(client, type) or not callable(getattr(client, "generate", None)):
            msg = f"{client!r} is no client; give an object with a method generate(prompt)"
            raise ScorerError(msg, code="bad_client", path="client", value=client)
        self.mutator_id = str(uuid.uuid4()) if mutator_id is None else mutator_id
        self._client = client
        self._strict = strict
        self._instructions = instructions

    async def mutate(self, context: MutationContext) -> MutationResult:
        """Update a copy of the state.

        Returns:
            The new state; its metadata hold ``extractions`` and ``prompt_digest``.

        Raises:
            MutationError: The client failed, or its reply cannot be read; `stage` says which.
        """
        state = context.state.copy()
        prompt = self.prompt(context)
        reply = await self._ask(prompt)
        read = read_extractions(reply, strict=self._strict)
        for item in read.items:
            inference = Inference(
                content=item.inference,
                mutator_id=self.mutator_id,
                message_id=context.input.message_id,
            )
            state.add_value(
                item.path, ValueConfidence(value=item.value, confidence=item.confidence)
            )
            state.add_inference(item.path, inference)
        return MutationResult(updated_state=state, metadata=_metadata(read, prompt))

    def prompt(self, context: MutationContext) -> str:
        """Give the prompt that the model gets.

        Raises:
            Unmeasurable: The state holds something that is not JSON.
        """
        record = context.state.to_json()
        return f"{self._instructions}\n\nRecord:\n{record}\n\nMessage:\n{context.input.prompt}"

    async def _ask(self, prompt: str) -> object:
        generate = self._client.generate
        try:
            if inspect.iscoroutinefunction(generate):
                return await generate(prompt)
            reply = await _in_thread(lambda: generate(prompt))
            return await reply if inspect.isawaitable(reply) else reply
        except Exception as error:  # whatever a client raises is a failure of the client
            msg = f"the client failed: {describe_error(error)}"
            raise MutationError(msg, stage="client", cause=error) from error

    def __repr__(self) -> str:
        return f"LLMMutator({self._client!r}, mutator_id={self.mutator_id!r})"


def _metadata(read: Extractions, prompt: str) -> dict[str, Any]:
    data = prompt.encode("utf-8", "surrogatepass")
    return {
        "extractions": list(read.rows),
        "prompt_digest": hashlib.sha256(data).hexdigest()[:12],
    }


async def _in_thread(call: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever the call gives
    """Call something that blocks without holding up the loop, or the end of the program."""
    loop = asyncio.get_running_loop()
    context = contextvars.copy_context()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(value: object, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def work() -> None:
        value: object = None
        failure: BaseException | None = None
        try:
            value = context.run(call)
        except BaseException as error:
            # A future cannot carry a StopIteration.
            failure = RuntimeError(repr(error)) if isinstance(error, StopIteration) else error
        try:
            loop.call_soon_threadsafe(settle, value, failure)
        except RuntimeError:  # the loop is closed: nobody waits any more
            return

    threading.Thread(target=work, name="evaltoolkit-client", daemon=True).start()
    return await future
