"""Where calls may go, and the key that opens the door there.

An address is taken literally or refused: one form is accepted, so that two parsers cannot disagree
about which machine it names.
"""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass
from typing import NoReturn

from evaltoolkit.errors import ScorerError

_ADDRESS = re.compile(
    r"(?P<scheme>https?)://(?P<host>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>(?:/[A-Za-z0-9._~!$&'()*+,;=:@%-]*)*)"
)
_CALLS = ("/chat/completions", "/completions", "/embeddings", "/responses")
_PORTS = range(1, 65_536)
_SHORTEST_KEY = 4
_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")


@dataclass(frozen=True)
class Endpoint:
    """A checked base address of an OpenAI-compatible service.

    Attributes:
        base_url: The address, without a slash at its end.
        host: Its machine and port, the part that may be shown anywhere.
        is_local: Whether it is this very machine.
    """

    base_url: str
    host: str
    is_local: bool

    def url(self, path: str) -> str:
        """Give the address of one call, such as ``chat/completions``."""
        return f"{self.base_url}/{path}"


def check_endpoint(base_url: object, *, argument: str = "base_url") -> Endpoint:
    """Check that an address is named, is whole, and carries nothing in clear text to elsewhere.

    Args:
        base_url: ``https://host[:port][/path]``, or ``http://`` to this machine only: localhost,
            127.0.0.0/8 or [::1].
        argument: Name of the argument that it came from, for the message.

    Returns:
        The `Endpoint`.

    Raises:
        ScorerError: It is missing or malformed, holds a password or a query, or is clear text to
            a remote host. The message says what to give, and repeats no password.

    Example:
        >>> check_endpoint("http://localhost:8080/v1/").base_url
        'http://localhost:8080/v1'
        >>> check_endpoint("https://judge.example/v1").is_local
        False
    """
    if base_url is None or base_url == "":
        _refuse(
            argument,
            "no endpoint is named; nothing is sent anywhere by default, so give the base address "
            "of an OpenAI-compatible service, such as 'https://host/v1' or 'http://localhost:8080/v1'",
            code="missing_endpoint",
        )
    match = _ADDRESS.fullmatch(base_url) if isinstance(base_url, str) else None
    if match is None or not _is_host(match["host"]) or int(match["port"] or 1) not in _PORTS:
        _refuse(argument, _fault_of(base_url))
    host = match["host"].lower()
    is_local = _is_this_machine(host)
    if match["scheme"] == "http" and not is_local:
        _refuse(
            argument,
            f"http:// would send prompts and answers in clear text to {host!r}; use https://, or "
            "http:// to this machine only (localhost, 127.0.0.1, [::1])",
            code="clear_text",
        )
    path = match["path"].rstrip("/")
    if path.endswith(_CALLS):
        call = next(call for call in _CALLS if path.endswith(call))
        _refuse(argument, f"leave out {call!r} at the end: the base address is wanted")
    place = host if match["port"] is None else f"{host}:{int(match['port'])}"
    return Endpoint(f"{match['scheme']}://{place}{path}", place, is_local)


def _refuse(argument: str, problem: str, *, code: str = "bad_endpoint") -> NoReturn:
    raise ScorerError(f"{argument}: {problem}", code=code, path=argument)


def _fault_of(base_url: object) -> str:
    """Say what is wrong with an address without repeating what may be a secret."""
    wanted = "it must look like 'https://host/v1' or 'http://localhost:8080/v1'"
    if not isinstance(base_url, str):
        return f"it is a {type(base_url).__name__}; {wanted}"
    if "@" in base_url:
        return "it holds a user name or password; give api_key= or api_key_env= instead"
    if "?" in base_url or "#" in base_url:
        return "it holds a query or fragment, where keys leak; give the plain base address"
    if not base_url.startswith(("http://", "https://")):
        return f"it does not start with https:// or http://; {wanted}"  # it may be a key
    return f"{base_url[:80]!r} is no address that can be used; {wanted}"


def _is_host(host: str) -> bool:
    if host.startswith("["):
        return _address(host) is not None
    labels = host.removesuffix(".").split(".")
    if labels[-1].isdigit() or labels[-1].lower().startswith("0x"):
        return _address(host) is not None  # 127.1 and 2130706433 mean different things to others
    return all(label and not label.startswith("-") and not label.endswith("-") for label in labels)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    address = _address(host)
    if isinstance(address, ipaddress.IPv6Address):
        return address == ipaddress.IPv6Address("::1")
    return address is not None and address.is_loopback


class Secret:
    """A key that shows itself to nobody who does not ask for it by `reveal`."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Give the key, for the header of a request and for nothing else."""
        return self._value

    def redact(self, text: str) -> str:
        """Take the key out of a text of somebody else, such as the error message of a server."""
        return text.replace(self._value, "[key]")

    def __repr__(self) -> str:
        """Say only that there is one."""
        return "Secret('***')"

    def __reduce__(self) -> NoReturn:
        """Refuse to be written into a file or sent to another process."""
        msg = "an API key is not pickled; make the client anew where it is needed"
        raise TypeError(msg)


def find_key(api_key: str | None, api_key_env: str | None) -> Secret | None:
    """Take the API key from the argument or from the environment variable that is named.

    Args:
        api_key: The key itself.
        api_key_env: Name of the environment variable that holds it.

    Returns:
        The key, or None where neither is given, as for most servers on this machine.

    Raises:
        ScorerError: Both are given, the variable is not set, or the key cannot be one. The
            message never holds the key.
    """
    if api_key is not None and api_key_env is not None:
        msg = "api_key and api_key_env are both given; give one of them"
        raise ScorerError(msg, code="bad_key", path="api_key")
    if api_key is None and api_key_env is None:
        return None
    for name, given in (("api_key", api_key), ("api_key_env", api_key_env)):
        if not isinstance(given, str | None):
            msg = f"{name} is a {type(given).__name__}; give a text"
            raise ScorerError(msg, code="bad_key", path=name)
    place = "api_key" if api_key_env is None else _variable(api_key_env)
    value = api_key if api_key_env is None else os.environ.get(api_key_env)
    if value is None or not value.strip():
        msg = f"the {place} is empty or not set; set it, or give the right name of the variable"
        raise ScorerError(msg, code="missing_key", path="api_key_env" if api_key_env else "api_key")
    value = value.strip()
    if len(value) < _SHORTEST_KEY or not value.isascii() or not value.isprintable() or " " in value:
        msg = f"the {place} does not hold a key: it is very short or has blanks or odd characters"
        raise ScorerError(msg, code="bad_key", path="api_key")
    return Secret(value)


def _variable(name: str) -> str:
    """Speak of an environment variable, without repeating a key that is given for its name."""
    return f"environment variable {name!r}" if _NAME.fullmatch(name) else "variable of api_key_env"
