"""What is raised when a call to an endpoint fails."""

from __future__ import annotations

from evaltoolkit.errors import ScorerError


class CallError(ScorerError):
    """A call to an endpoint failed, after all tries that were allowed.

    Attributes:
        code: ``timeout``, ``connection``, ``http_status``, ``redirected``, ``bad_reply`` or
            ``too_large``.
        path: The host that was called.
        status: The HTTP status, where one came.
        attempts: How often the call was tried.
        reply: The start of what came back, where anything did.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "connection",
        path: str | None = None,
        status: int | None = None,
        reply: str | None = None,
        attempts: int = 1,
    ) -> None:
        # The message alone is enough to make one, so that it can be sent to another process.
        super().__init__(message, code=code, path=path, value=status)
        self.status = status
        self.attempts = attempts
        self.reply = reply


def excerpt(text: str, *, limit: int = 300) -> str:
    r"""Show the start and the end of a text of somebody else in one line.

    Example:
        >>> excerpt("a\n b " + "x" * 50, limit=20)
        'a b xxxxxx ... xxxxx'
    """
    # Only the ends of a huge text are ever looked at.
    ends = text[: 4 * limit] + text[-limit:] if len(text) > 5 * limit else text
    shown = " ".join(ends.split())
    if len(shown) <= limit:
        return shown
    tail = limit // 4
    return f"{shown[: limit - tail - 5]} ... {shown[-tail:]}"
