"""Which formats there are and which of them a file is in.

The formats of this package are loaded by name on first use. Another package adds one by an
entry point of the group ``evaltoolkit.formats`` that leads to a `Format` object.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

import pandas as pd

from evaltoolkit.errors import EvalToolkitError, nearest, warn
from evaltoolkit.readers.base import Format, Source

GROUP = "evaltoolkit.formats"

FORMATS: dict[str, str] = {
    "inspect": "inspect_ai",
    "lm_eval": "lm_eval",
    "evalshift": "evalshift",
    "agent_evals": "agent_evals",
    "braintrust": "braintrust",
    "autoevals": "autoevals",
    "agentevals": "agentevals",
    "langsmith": "langsmith",
    "alpaca_eval": "alpaca_eval",
    "mt_bench": "mt_bench",
    "arena_hard": "arena_hard",
    "promptfoo": "promptfoo",
    "deepeval": "deepeval",
    "deepteam": "deepteam",
    "ragas": "ragas",
    "openai_evals": "openai_evals",
    "langstate": "langstate",
    "llm_core": "llm_core",
    "otel": "otel",
    "junit": "junit",
    "helm": "helm",
    "mlflow": "mlflow",
    "phoenix": "phoenix",
    "lighteval": "lighteval",
    "swe_bench": "swe_bench",
    "tau_bench": "tau_bench",
    "terminal_bench": "terminal_bench",
    "bfcl": "bfcl",
    "table": "table",
}
"""Name of each built-in format and its module, in the order in which files are tried."""


@cache
def all_formats() -> tuple[Format, ...]:
    """Load every format, in the order of detection; the plain table comes last."""
    own = [import_module(f"{__package__}.{module}").FORMAT for module in FORMATS.values()]
    return (*own[:-1], *_plugins(), own[-1])


def _plugins() -> list[Format]:
    found: list[Format] = []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        problem = None
        try:
            plugin = entry.load()
        except (ImportError, AttributeError) as error:
            problem = str(error)
        else:
            if not isinstance(plugin, Format):
                problem = f"it leads to a {type(plugin).__name__}, not to a Format"
            elif plugin.name in FORMATS:
                problem = f"the format name {plugin.name!r} is taken"
            else:
                found.append(plugin)
        if problem is not None:
            warn(f"the format {entry.name!r} ({entry.value}) is left out: {problem}", stacklevel=4)
    return found


def formats() -> pd.DataFrame:
    """List the formats that can be read, and what each was seen to do.

    Returns:
        One row per format, in the order in which a file is tried: ``name`` (what ``format=``
        takes), ``title``, ``tables`` (which tables its files can give), ``detected_by`` (what
        its files are recognised by) and ``notes`` (what was seen in real files and what the
        reader makes of it); a format that says nothing on the last two has an empty text there.

    Example:
        >>> formats()["name"].tolist()[-1]
        'table'
    """
    rows = [
        (each.name, each.title, ", ".join(sorted(each.tables)), each.signs, each.quirks)
        for each in all_formats()
    ]
    return pd.DataFrame(rows, columns=["name", "title", "tables", "detected_by", "notes"])


def format_named(name: str) -> Format:
    """Find a format by its name.

    Raises:
        EvalToolkitError: There is none of that name; the message has the nearest ones.
    """
    by_name = {each.name: each for each in all_formats()}
    if name not in by_name:
        raise EvalToolkitError(
            f"format is {name!r}, which is not known; {nearest(name, by_name)} "
            "(evaltoolkit.formats() lists them; leave it out to detect the format by content)",
            code="unknown_format",
            path="format",
            value=name,
        )
    return by_name[name]


def detect_format(source: Source) -> Format | None:
    """Say which format a file or folder is in, by its content; None where no format fits.

    Raises:
        ReadError: The file is damaged, so that it cannot be told.
    """
    if source.is_folder:
        return next((each for each in all_formats() if each.folders and each.detect(source)), None)
    return next((each for each in all_formats() if each.detect(source)), None)
