"""Any scorer of the package autoevals as a scorer of this library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import Context
from copy import copy
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

from evaltoolkit.errors import ScorerError
from evaltoolkit.models import Example, Output
from evaltoolkit.scorers.adapters.autoevals_names import (
    ANSWERLESS,
    EMBEDS,
    Binding,
    asks_a_judge,
    check_settings,
    find_kind,
    published_name,
)
from evaltoolkit.scorers.adapters.foreign import Arguments, ForeignScorer, Returned
from evaltoolkit.scorers.adapters.judge_access import (
    JudgeAccess,
    JudgeOptions,
    naming_of,
    need_model,
    open_access,
)
from evaltoolkit.scorers.base import Unmeasurable, answer_of, is_several, need_package
from evaltoolkit.scorers.parsing import as_list

if TYPE_CHECKING:
    from openai import OpenAI

_EMBEDS_ONLY = ("AnswerSimilarity", "EmbeddingSimilarity")


class AutoevalsScorer(ForeignScorer):
    """A scorer of autoevals 0.4, found by its name or class.

    The example's reference goes in as ``expected``, its input as ``input`` (also as
    ``instructions``, where asked for); ``context``, ``criteria``, ``language`` and the like come
    from `arguments`, else from the example's attributes of that name. What the scorer needs and
    does not get leaves the example unscored: nothing blank is judged. None and NaN are unscored,
    exceptions a scorer error, and a share of nothing (0/0) is unscored.

    A scorer that asks a judge needs ``judge_base_url`` and ``model``. Each call runs with that
    one endpoint as the package's only client, so neither its hosted gateway nor a tracing wrapper
    nor ``autoevals.init`` has a say; scorers that need no judge get a client that refuses.

    Args:
        scorer: Name or class of the scorer; a class made by ``.partial(...)`` too.
        arguments: Further arguments of the call: a mapping, or a function of output and example.
        settings: Arguments of the scorer's own constructor, such as ``expected_min``.
        **options: See `JudgeOptions` and `Naming`.

    Raises:
        ScorerError: There is no such scorer, a setting is wrong, or the judge's endpoint or model
            is missing or unsafe.
        MissingDependencyError: autoevals is not installed.

    Example:
        >>> AutoevalsScorer("Factuality", model="judge")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        evaltoolkit.errors.ScorerError: judge_base_url: no endpoint is named; ...
    """

    default_threshold: ClassVar[float | None] = None

    def __init__(
        self,
        scorer: str | type[Any],
        *,
        arguments: Arguments | None = None,
        settings: Mapping[str, Any] | None = None,
        **options: Unpack[JudgeOptions],
    ) -> None:
        self._published = published_name(scorer)
        naming = naming_of(options, kind=type(self))
        naming["name"] = naming.get("name") or self._published
        super().__init__(**naming)
        settings = dict(settings or {})
        check_settings(self._published, settings)
        self._access = self._opened(scorer, settings, options)
        need_package("autoevals", purpose=self._published, extra="autoevals")
        kind = scorer if isinstance(scorer, type) else find_kind(scorer)
        self._access = self._access or self._opened(kind, settings, options)
        partial = getattr(kind, "_partial_args", dict)
        self._bind = Binding(self._published, settings, partial(), arguments)
        self._scorer = self._made(kind, settings)

    def ask(self, output: Output, example: Example, /) -> Returned | list[Returned]:
        """Call the scorer with what it needs, in a context of its own."""
        arguments = self._bind(output, example)
        answer = None if self._published in ANSWERLESS else answer_of(output)
        if self._published == "ListContains":
            answer = as_list(answer, "answer")
        try:
            result = Context().run(self._call, answer, arguments)
        except ZeroDivisionError as error:
            msg = f"{self._published} found nothing to count, so its share is 0/0"
            raise Unmeasurable(msg) from error
        except KeyError as error:
            msg = f"the reply has nothing usable under {error}"
            raise ScorerError(msg, code="bad_reply", path=self.name) from error
        if is_several(result):
            return [self._returned(one, named=True) for one in result]
        return self._returned(result)

    def without_secrets(self, text: str) -> str:
        """Take the judge's key out of an error's text."""
        return self._access.hide_key(text) if self._access else text

    def _opened(
        self, scorer: str | type[Any], settings: Mapping[str, Any], options: JudgeOptions
    ) -> JudgeAccess | None:
        """Say where the judge is, if there is one; checked before anything is imported."""
        name = self._published
        named = any(options.get(key) for key in ("judge_base_url", "model", "embedding_model"))
        if not (named or asks_a_judge(scorer, settings)):
            return None
        access = open_access(name, options, extra="autoevals")
        if name in _EMBEDS_ONLY:
            access = access._replace(embedding_model=access.embedding_model or access.model)
        elif name != "Moderation" and asks_a_judge(scorer, {}):
            need_model(access.model, purpose=name)
        if name in (*EMBEDS, *_EMBEDS_ONLY) and "pairwise_scorer" not in settings:
            need_model(access.embedding_model, purpose=name, keyword="embedding_model")
        return access

    def _made(self, kind: type[Any], settings: dict[str, Any]) -> Any:  # noqa: ANN401 - foreign
        def make() -> object:
            own = {key: self._nested(value) for key, value in settings.items()}
            return kind(**own, **self._judge_settings(kind))

        try:
            return Context().run(self._with_client, make)
        except (TypeError, ValueError) as error:
            msg = f"{self._published} cannot be made with these settings: {error}"
            raise ScorerError(msg, code="bad_option", path="settings", value=settings) from error

    def _judge_settings(self, kind: type[Any]) -> dict[str, Any]:
        if self._access is None or not asks_a_judge(kind, {}):
            return {}
        given: dict[str, Any] = {"client": _wrapped(self._access.client())}
        if self._published == "Moderation":
            return given
        embeds_only = self._published in _EMBEDS_ONLY
        given["model"] = self._access.embedding_model if embeds_only else self._access.model
        if self._published in ("AnswerCorrectness", "AnswerRelevancy"):
            given["embedding_model"] = self._access.embedding_model
        return given

    def _nested(self, value: object) -> object:
        """Give a scorer inside another one the same client; vectors are kept by client."""
        if self._access is None or isinstance(value, str) or not asks_a_judge(value, {}):
            return value
        inner: Any = value() if isinstance(value, type) else copy(value)
        if inner.client is not None:
            msg = f"the scorer {inner!r} brings a client of its own; leave that to judge_base_url"
            raise ScorerError(msg, code="own_client", path="settings", value=value)
        inner.client = _wrapped(self._access.client())
        return inner

    def _call(self, answer: object, arguments: Mapping[str, Any]) -> object:
        return self._with_client(lambda: self._scorer.eval(answer, **arguments))

    def _with_client(self, action: Callable[[], object]) -> object:
        """Run something with our client as the only one that the package knows."""
        from autoevals import init

        if self._access is None:
            init(client=_refusing_client())
            return action()
        models = {
            "completion": self._access.model or "no model was named",
            "embedding": self._access.embedding_model or "no embedding_model was named",
        }
        init(client=_wrapped(self._access.client()), default_model=models)
        return action()

    def _returned(self, result: Any, *, named: bool = False) -> Returned:  # noqa: ANN401 - foreign
        metadata = dict(getattr(result, "metadata", None) or {})
        if isinstance(error := getattr(result, "error", None), Exception):
            raise error
        if self._access:
            metadata["judge"] = self._access.shown()
        comment, choice = metadata.get("rationale"), metadata.get("choice")
        return Returned(
            getattr(result, "score", result),
            comment=_warning_of(self._published, metadata) or (str(comment) if comment else None),
            label=None if choice is None else str(choice),
            details=metadata or None,
            part=str(getattr(result, "name", "part")) if named else None,
        )


def _warning_of(name: str, metadata: Mapping[str, Any]) -> str | None:
    """Say where a share was counted over fewer things than the judge found."""
    if name != "Faithfulness":
        return None
    stated, judged = (len(metadata.get(key) or ()) for key in ("statements", "faithfulness"))
    if stated == judged:
        return None
    return f"the judge found {stated} statement(s) and gave {judged} verdict(s), which are counted"


@cache
def _wrapped(client: OpenAI) -> object:
    """Wrap the client so that no tracing wrapper and no endless retry gets hold of it."""
    from autoevals.oai import LLMClient

    wrapped = LLMClient(openai=client, complete=client.chat.completions.create)
    # The client itself tries again; the package would go on for hours.
    wrapped.RateLimitError = _NeverRaised
    return wrapped


@cache
def _refusing_client() -> object:
    from autoevals.oai import LLMClient

    refusing: Any = object.__new__(LLMClient)
    refusing.complete = refusing.embed = refusing.moderation = _refuse
    refusing.RateLimitError = _NeverRaised
    return refusing


class _NeverRaised(Exception):
    """Stands where the package would catch an exception and try again."""


def _refuse(**request: object) -> object:
    del request
    msg = "this scorer was to ask a judge or an embedding model; give judge_base_url and model"
    raise ScorerError(msg, code="missing_endpoint", path="judge_base_url")
