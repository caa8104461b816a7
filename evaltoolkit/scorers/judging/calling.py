"""One question to a judge and its reading: what both kinds of judges share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

from evaltoolkit.clients import (
    CallError,
    ChatClient,
    ChatModel,
    ChatOptions,
    ChatReply,
    ChatRequest,
    Message,
)
from evaltoolkit.clients.failures import excerpt
from evaltoolkit.clients.options import check_keywords, check_option, is_number
from evaltoolkit.errors import ScorerError
from evaltoolkit.models import Example
from evaltoolkit.scorers.base import Unmeasurable, as_text
from evaltoolkit.scorers.judging.prompts import PROMPT_VERSION, judge_messages, verdict_schema
from evaltoolkit.scorers.judging.replies import ChoiceList, Reading, UnclearReply, read_reply

ReplyFormat = Literal["json_schema", "json_object"] | None
ReferenceUse = Literal["required", "optional", "hidden"]
_FORMATS = ("json_schema", "json_object", None)
_USES = ("required", "optional", "hidden")
_LONGEST_REASON = 4_000
_MESSAGE = 300


class JudgeClientOptions(ChatOptions, total=False):
    """Keywords that say who judges.

    ``model`` and ``judge_base_url`` (or ``base_url``, which means the same) name the judge;
    further ones are those of a `ChatClient`: key, limits, cache, temperature, seed, prices.
    ``client`` is a `ChatModel` instead of all these.
    """

    model: str
    judge_base_url: str
    base_url: str
    client: ChatModel


class Ruling(NamedTuple):
    """What came of one question: a reading, or why there is none, with the evidence."""

    reading: Reading | None
    problem: str | None
    details: dict[str, Any]

    @property
    def message(self) -> str | None:
        """The reason of the judge in one line, or why there is no verdict."""
        if self.reading is None or self.reading.reason is None:
            return self.problem
        return excerpt(self.reading.reason, limit=_MESSAGE)

    @property
    def cost_usd(self) -> float | None:
        """What the reply cost, where prices are known."""
        cost: float | None = self.details.get("cost_usd")
        return cost


@dataclass(frozen=True)
class Brief:
    """What a judge is told of every item, apart from the answers.

    Attributes:
        task: What it is to do, in a sentence.
        criterion: Name of what is judged.
        rubric: How to judge it.
        reference: Whether the reference is shown.
        max_chars: Longest text that is sent.
    """

    task: str
    criterion: str
    rubric: str
    reference: ReferenceUse
    max_chars: int

    def __post_init__(self) -> None:
        rubric: object = self.rubric
        if not (isinstance(rubric, str) and rubric.strip()):
            msg = "the rubric is empty or no text; say how to judge, in words"
            raise ScorerError(msg, code="missing_rubric", path="rubric")
        allowed = f"it must be one of {_USES}"
        check_option("reference", self.reference, allowed, fits=self.reference in _USES)
        fits = is_number(self.max_chars, least=1, whole=True)
        check_option("max_chars", self.max_chars, "give a whole number from 1", fits=fits)

    def material(self, answers: Mapping[str, object], example: Example) -> dict[str, str]:
        """Collect what the judge is shown, by name.

        Raises:
            Unmeasurable: The reference is missing, or a text is too long or cannot be written.
        """
        shown = {} if example.input is None else {"INPUT": example.input}
        if self.reference == "required" and example.reference is None:
            msg = "the example has no reference; to judge without one give reference='hidden'"
            raise Unmeasurable(msg)
        if self.reference != "hidden" and example.reference is not None:
            shown["REFERENCE"] = example.reference
        texts = {name: as_text(value) for name, value in {**shown, **answers}.items()}
        for name, text in texts.items():
            if len(text) > self.max_chars:
                msg = f"the {name.lower()} has {len(text)} characters; at most {self.max_chars} are"
                raise Unmeasurable(f"{msg} sent")
        return texts

    def messages(self, material: Mapping[str, str], choices: ChoiceList) -> list[Message]:
        """Write the question."""
        return judge_messages(
            self.task,
            criterion=self.criterion,
            rubric=self.rubric,
            choices=choices,
            material=material,
        )


@dataclass(frozen=True)
class Bench:
    """A judge and the choices that it has.

    Attributes:
        client: The model.
        choices: The choices.
        reply_format: What the server is asked to hold the reply to.
        repeat: Number of the repetition.
    """

    client: ChatModel
    choices: ChoiceList
    reply_format: ReplyFormat = None
    repeat: int = 0

    def __post_init__(self) -> None:
        allowed = f"it must be one of {_FORMATS}"
        fits = self.reply_format in _FORMATS
        check_option("reply_format", self.reply_format, allowed, fits=fits)
        fits = is_number(self.repeat, whole=True)
        check_option("repeat", self.repeat, "give a whole number from 0", fits=fits)

    def ask(self, messages: list[Message]) -> Ruling:
        """Put a question and read the reply."""
        try:
            return self._ruling(self.client.complete(self._request(messages), accept=self.is_plain))
        except CallError as error:
            return self._failed(error)

    async def ask_async(self, messages: list[Message]) -> Ruling:
        """Do the same without blocking."""
        request = self._request(messages)
        try:
            return self._ruling(await self.client.complete_async(request, accept=self.is_plain))
        except CallError as error:
            return self._failed(error)

    def is_plain(self, reply: ChatReply) -> bool:
        """Whether a choice can be read; only such replies are worth keeping in a cache."""
        try:
            _read(reply, self.choices)
        except UnclearReply:
            return False
        return True

    def _request(self, messages: list[Message]) -> ChatRequest:
        if self.reply_format == "json_schema":
            return ChatRequest(messages, verdict_schema(self.choices), self.repeat)
        kind = None if self.reply_format is None else {"type": self.reply_format}
        return ChatRequest(messages, kind, self.repeat)

    def _ruling(self, reply: ChatReply) -> Ruling:
        details = self._facts() | {
            "model_reported": reply.model,
            "finish_reason": reply.finish_reason,
            "tokens_in": reply.tokens_in,
            "tokens_out": reply.tokens_out,
            "cost_usd": reply.cost_usd,
            "latency_s": reply.latency_s,
            "cached": reply.cached,
            "attempts": reply.attempts,
        }
        try:
            reading = _read(reply, self.choices)
        except UnclearReply as problem:
            shown = excerpt(reply.text)
            return Ruling(None, f"{problem}; it says: {shown!r}", details | {"reply": shown})
        reason = reading.reason and excerpt(reading.reason, limit=_LONGEST_REASON)
        return Ruling(reading, None, {"choice": reading.choice, "reason": reason} | details)

    def _failed(self, error: CallError) -> Ruling:
        details = self._facts() | {
            "error": error.code,
            "http_status": error.status,
            "attempts": error.attempts,
            "reply": error.reply,
        }
        return Ruling(None, str(error), details)

    def judge(self) -> dict[str, Any]:
        """Say who judges and with what settings, as a JSON value."""
        return {
            "model": self.client.model,
            "base_url": getattr(self.client, "base_url", None),
            **self.client.settings(),
        }

    def _facts(self) -> dict[str, Any]:
        return self.judge() | {"repeat": self.repeat, "prompt_version": PROMPT_VERSION}


def find_judge(options: JudgeClientOptions) -> ChatModel:
    """Make the client of a judge, or take the one that is given.

    Raises:
        ScorerError: No judge is named, or it is named twice.
        MissingDependencyError: The package httpx is not installed.
    """
    given = dict(options)
    client = given.pop("client", None)
    if client is not None:
        if given:
            msg = f"client= already says who judges; leave out {', '.join(sorted(given))}"
            raise ScorerError(msg, code="two_judges", path="client", value=sorted(given))
        if not isinstance(client, ChatModel):
            msg = f"client is a {type(client).__name__}; it needs model, settings and complete"
            raise ScorerError(msg, code="bad_client", path="client", value=client)
        return client
    addresses = [given.pop("judge_base_url", None), given.pop("base_url", None)]
    named = {address for address in addresses if address is not None}
    if len(named) > 1:
        msg = "judge_base_url and base_url are both given and differ; give one of them"
        raise ScorerError(msg, code="two_judges", path="judge_base_url")
    argument = "judge_base_url" if addresses[0] is not None or not named else "base_url"
    model = cast("str", given.pop("model", None))
    address = cast("str | None", next(iter(named), None))
    check_keywords(given, ChatOptions.__annotations__, purpose="a judge")
    chat = cast("ChatOptions", given)
    return ChatClient(address, model=model, kind="judge", argument=argument, **chat)


def checked_scores(choices: Mapping[str, float | None]) -> dict[str, float | None]:
    """Check what the choices are worth: finite numbers, at least two of them different.

    Raises:
        ScorerError: They are not.
    """
    given: object = choices
    fits = isinstance(given, Mapping) and all(isinstance(name, str) for name in given)
    check_option("choices", given, "give a dict of scores by the text of the choice", fits=fits)
    for name, score in choices.items():
        if not (score is None or isinstance(score, bool) or is_number(score, least=-math.inf)):
            msg = f"the choice {name!r} is worth {score!r}; give a number, or None for no score"
            raise ScorerError(msg, code="bad_choices", path="choices", value=score)
    if len({score for score in choices.values() if score is not None}) <= 1:
        msg = f"choices is {dict(choices)!r}; at least two choices must be worth different scores"
        raise ScorerError(msg, code="bad_choices", path="choices", value=dict(choices))
    return {name: None if score is None else float(score) for name, score in choices.items()}


def _read(reply: ChatReply, choices: ChoiceList) -> Reading:
    if reply.finish_reason == "length":
        msg = "the reply was cut off at the limit of tokens; raise max_tokens"
        raise UnclearReply(msg)
    return read_reply(reply.text, choices)
