"""The texts and resources of one sample in an Inspect log."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from evaltoolkit.readers.base import Row
from evaltoolkit.readers.records import as_cell, as_json, digest, finite_number

# Repeated texts stand once per sample, in `attachments`, and are referred to by their hash.
_ATTACHMENT = re.compile(r"attachment://([0-9a-f]{32})")


def input_digest(sample: Mapping[str, Any]) -> str:
    """Hash what was asked: input and choices, without the random ids of messages."""
    asked = sample.get("input")
    if isinstance(asked, list):
        asked = [[_part(message, "role"), _part(message, "content")] for message in asked]
    choices = sample.get("choices")
    return digest(_expanded([asked, choices] if choices else asked, sample))


def _part(message: object, name: str) -> object:
    return message.get(name) if isinstance(message, Mapping) else message


def _expanded(value: object, sample: Mapping[str, Any]) -> object:
    """Put attachments back in place, so that a log with and one without hash the same."""
    if isinstance(value, str):
        return _resolved(value, sample)
    if isinstance(value, Mapping):
        return {name: _expanded(part, sample) for name, part in value.items()}
    return [_expanded(part, sample) for part in value] if isinstance(value, list) else value


def output_row(sample: Mapping[str, Any], *, system: str) -> Row:
    """Give the columns of the outputs table that say what went in, came out and was used.

    Args:
        sample: A sample of the log, or its summary.
        system: The model that was evaluated; judges may have used tokens as well.
    """
    answer = sample.get("output") or {}
    return {
        "input": _resolved(_conversation(sample.get("input")), sample),
        "output": _resolved(_completion(answer), sample),
        "reference": as_cell(sample.get("target")),
        "finish_reason": _stop_reason(answer),
        "tool_calls": _tool_calls(sample),
        **_tokens(sample.get("model_usage") or {}, system),
        "latency_s": finite_number(sample.get("total_time")),
    }


def _resolved(text: str | None, sample: Mapping[str, Any]) -> str | None:
    attachments = sample.get("attachments") or {}
    if not text or not attachments:
        return text
    return _ATTACHMENT.sub(lambda found: str(attachments.get(found[1], found[0])), text)


def _conversation(messages: object) -> str | None:
    """Write the input as text: alone where it is one question, else each turn after its role."""
    if not isinstance(messages, list):
        return as_cell(messages)
    turns = [message for message in messages if isinstance(message, Mapping)]
    if len(turns) == 1:
        return _content(turns[0].get("content"))
    return "\n\n".join(f"{turn.get('role')}: {_content(turn.get('content'))}" for turn in turns)


def _content(content: object) -> str:
    if not isinstance(content, list):
        return as_cell(content) or ""
    parts = [part for part in content if isinstance(part, Mapping)]
    shown = (str(part["text"]) if "text" in part else f"[{part.get('type')}]" for part in parts)
    return "\n".join(shown)


def _first_choice(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = answer.get("choices") or [{}]
    return choices[0] if isinstance(choices[0], Mapping) else {}


def _completion(answer: Mapping[str, Any]) -> str | None:
    if answer.get("completion") is not None:
        return str(answer["completion"])
    message = _first_choice(answer).get("message") or {}
    return _content(message["content"]) if "content" in message else None


def _stop_reason(answer: Mapping[str, Any]) -> str | None:
    reason = answer.get("stop_reason") or _first_choice(answer).get("stop_reason")
    return str(reason) if reason else None


def _tool_calls(sample: Mapping[str, Any]) -> str | None:
    calls = list(_calls(sample.get("messages") or []))
    return _resolved(as_json(calls), sample) if calls else None


def _calls(messages: list[Any]) -> Iterator[Row]:
    for message in messages:
        for call in message.get("tool_calls") or []:
            yield {"name": call.get("function"), "arguments": call.get("arguments")}


def _tokens(usage: Mapping[str, Any], system: str) -> Row:
    """Count the tokens of the evaluated model, whatever is cached or reasoned included.

    Some providers leave reasoning out of `output_tokens`, but never out of the total.
    """
    own = usage.get(system) or (next(iter(usage.values())) if len(usage) == 1 else None)
    if not isinstance(own, Mapping):
        return {}
    tokens_in = sum(
        finite_number(own.get(name)) or 0.0
        for name in ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
    )
    written = finite_number(own.get("output_tokens")) or 0.0
    total = finite_number(own.get("total_tokens")) or 0.0
    reasoning = finite_number(own.get("reasoning_tokens")) or 0.0
    separate = reasoning > 0 and tokens_in + written + reasoning == total
    return {"tokens_in": tokens_in, "tokens_out": written + reasoning * separate}
