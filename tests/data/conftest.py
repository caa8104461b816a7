"""The bundled run of the small language model: its folder, its scripts and its files."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest


class Scripts(NamedTuple):
    """The scripts that made the bundle, as modules."""

    weights: ModuleType
    run_models: ModuleType
    score_outputs: ModuleType


class Rows(NamedTuple):
    """The files of the bundle, line by line."""

    examples: list[dict[str, Any]]
    outputs: list[dict[str, Any]]
    greedy: list[dict[str, Any]]


@pytest.fixture(scope="session")
def bundle(bundled_data: Path) -> Path:
    return bundled_data / "smollm2_quantisation"


@pytest.fixture(scope="session")
def scripts(bundle: Path) -> Iterator[Scripts]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(bundle))
        yield Scripts(*(import_module(name) for name in Scripts._fields))


@pytest.fixture(scope="session")
def rows(bundle: Path, scripts: Scripts) -> Rows:
    names = ("examples.jsonl", "outputs.jsonl", "greedy_q4_1.jsonl")
    return Rows(*(scripts.run_models.read_jsonl(bundle / name) for name in names))
