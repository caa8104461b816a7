"""JSON as tools write it: fast where it is plain, and a precise refusal where it is not.

`msgspec` parses several times faster than the standard library, but knows no NaN or Infinity
token, and both keep silently the last of two equal keys. So a text is first parsed fast, with a
cheap test that no key was lost; whatever is unusual is parsed again, slowly, for an exact answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from evaltoolkit.errors import ReadError


def read_text(path: Path) -> str:
    """Read a UTF-8 text file, with or without a byte order mark.

    Raises:
        ReadError: The bytes are not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _bad_encoding(str(path), error) from error


def parse_json(text: str | bytes, *, path: Path, record: str | None = None) -> Any:  # noqa: ANN401
    """Parse JSON, accepting NaN and Infinity tokens.

    Raises:
        ReadError: It is malformed, or an object has one key twice; the message names file,
            record and place.
    """
    codec = _codec()
    try:
        value = codec.decode(text)
        if _keeps_every_key(value, text, codec.encode):
            return value
    except (codec.error, RecursionError, ValueError, OverflowError):
        pass
    return _parsed_carefully(text, f"{path}: {record}" if record else str(path), bool(record))


class _Codec(NamedTuple):
    """The fast parser, its writer and what they raise."""

    decode: Callable[[str | bytes], Any]
    encode: Callable[[Any], bytes]
    error: type[Exception]


@cache
def _codec() -> _Codec:
    import msgspec

    return _Codec(
        msgspec.json.Decoder().decode, msgspec.json.Encoder().encode, msgspec.MsgspecError
    )


def _keeps_every_key(value: object, text: str | bytes, encode: Callable[[Any], bytes]) -> bool:
    """Say for sure that no object had one key twice, by counting colons.

    Written again, the value has the colons of its keys and those inside its strings. A key that
    was lost took its colon along; only an escaped colon could make up for it.
    """
    if isinstance(text, bytes):
        colons, escaped = text.count(b":"), b"\\u003" in text
    else:
        colons, escaped = text.count(":"), "\\u003" in text
    return not escaped and (colons == 0 or encode(value).count(b":") == colons)


class _RepeatedKeyError(ValueError):
    """One object has one key twice."""


def with_distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dict of the pairs of one object (an ``object_pairs_hook``).

    Raises:
        ValueError: A key occurs twice.
    """
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _RepeatedKeyError(next(key for key in keys if keys.count(key) > 1))
    return value


def _parsed_carefully(text: str | bytes, where: str, is_record: bool) -> Any:  # noqa: ANN401
    try:
        plain = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        value = json.loads(plain, object_pairs_hook=with_distinct_keys)
        return mended(value) if "\\ud" in plain or "\\uD" in plain else value
    except _RepeatedKeyError as error:
        raise ReadError(
            f"{where}: the key {str(error)!r} occurs more than once in one JSON object, so one of "
            "its values would be lost; correct what wrote it, or read the rest with "
            "on_error='skip'",
            code="repeated_key",
            path=where,
            value=str(error),
        ) from error
    except json.JSONDecodeError as error:
        raise _bad_json(where, error, is_record) from error
    except UnicodeDecodeError as error:
        raise _bad_encoding(where, error) from error
    except RecursionError as error:
        raise ReadError(
            f"{where}: the JSON is nested too deeply to be results; check what wrote it",
            code="bad_json",
            path=where,
        ) from error
    except ValueError as error:
        # Python refuses whole numbers of thousands of digits.
        raise ReadError(
            f"{where}: the JSON cannot be read ({error}); check what wrote it",
            code="bad_json",
            path=where,
        ) from error


def _bad_json(where: str, error: json.JSONDecodeError, is_record: bool) -> ReadError:
    open_string = error.msg.startswith("Unterminated")
    cut = open_string or error.pos >= len(error.doc.rstrip()) - 1
    what = "the JSON is cut off" if cut else "the JSON is malformed"
    line = "" if is_record and error.lineno == 1 else f"line {error.lineno}, "
    return ReadError(
        f"{where}: {what} at {line}column {error.colno} ({error.msg}); "
        "copy the file again, or read the rest with on_error='skip'",
        code="bad_json",
        path=where,
    )


def _bad_encoding(where: str, error: UnicodeDecodeError) -> ReadError:
    return ReadError(
        f"{where}: byte {error.start} is not UTF-8; save the file as UTF-8 and read it again",
        code="bad_encoding",
        path=where,
    )


def mended(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Replace halves of a character (an emoji that a token limit cut): no text can hold them."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {mended(key): mended(part) for key, part in value.items()}
    return [mended(part) for part in value] if isinstance(value, list) else value


def json_or_none(line: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """Parse a line where anything else than a whole value is no error."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def is_canonical_number(text: str) -> bool:
    """Say whether Python would write a JSON number as it stands.

    Example:
        >>> [is_canonical_number(text) for text in ("1", "0.5", "1.50", "1e5", "-0")]
        [True, True, False, False, False]
    """
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return json.dumps(value) == text
