"""The house rules that a reader should be able to rely on, checked on the source itself.

The table `FLOORS` is the architecture: a module may import from lower floors and from its own
floor (never in a circle), and nothing else. Imports inside functions and under ``TYPE_CHECKING``
count like all others, since they tie rooms together just the same.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = "evaltoolkit"
SOURCE = Path(__file__).resolve().parents[1] / PACKAGE

# From the ground up: what stands in one line may import from the lines before it.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("errors", "formatting", "wording", "method_texts", "progress"),
    ("models", "schema"),
    ("scores", "criteria", "tidying", "storage", "measurements", "datasets", "stats"),
    ("readers", "clients"),
    ("scorers",),
    ("evaluation", "results"),
    ("comparison", "summary", "tables", "ranking", "judging", "planning", "composites", "repeats"),
    ("robustness",),
    ("plots", "decisions"),
    ("widgets", "reports"),
    ("cli",),
)

# Exceptions to "everything below": the only rooms that these may import ...
ONLY: dict[str, set[str]] = {
    "stats": {"errors"},
    "models": {"errors"},
    "results": {
        "errors", "formatting", "wording", "method_texts", "progress", "models", "schema", "scores",
        "criteria",
    },
}  # fmt: skip
# ... and rooms that these may not: what draws must not compute.
NEVER: dict[str, set[str]] = {
    "plots": {"stats", "decisions", "readers", "evaluation"},
    "reports": {"stats"},
    "widgets": {"stats"},
    "decisions": {"plots"},
}

# What may be loaded together with a module; all other packages load inside functions.
LIGHT = {"numpy", "pandas"}
ALSO_LIGHT: dict[str, set[str]] = {
    "models": {"pydantic", "pydantic_core"},
    "scorers": {"pydantic", "pydantic_core"},
    "clients": {"pydantic", "pydantic_core"},
    "evaluation": {"pydantic", "pydantic_core"},
    "decisions": {"pydantic", "pydantic_core"},
}

MODULE_LINES = 500
FUNCTION_LINES = 80

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Import(NamedTuple):
    """One imported module, by its full name, and where the import stands."""

    target: str
    line: int
    at_load: bool


class Module:
    """A parsed source file."""

    def __init__(self, path: Path) -> None:
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        self.is_package = parts[-1] == "__init__"
        self.name = ".".join(parts[:-1] if self.is_package else parts)
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)

    @property
    def room(self) -> str:
        return room_of(self.name)

    @property
    def functions(self) -> Iterator[Function]:
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    def at(self, line: int) -> str:
        return f"{self.name} line {line}"


def room_of(module: str) -> str:
    """Return the part of a module's name that follows the package, "" for the package itself."""
    return module.split(".")[1] if "." in module else ""


MODULES = {module.name: module for module in map(Module, sorted(SOURCE.rglob("*.py")))}
FRONT_DOOR = MODULES[PACKAGE]
ROOMS = {name: module for name, module in MODULES.items() if name != PACKAGE}
every_module = pytest.mark.parametrize("module", ROOMS.values(), ids=ROOMS.keys())


def imports_of(module: Module) -> Iterator[Import]:
    """Yield every import of a module, wherever it stands."""
    at_load = set(map(id, loaded_statements([*module.tree.body])))
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            targets = from_targets(module, node)
        else:
            continue
        for target in targets:
            yield Import(target, node.lineno, id(node) in at_load)


def from_targets(module: Module, node: ast.ImportFrom) -> list[str]:
    """Resolve ``from a import b`` to the module ``a.b`` where there is one, else to ``a``."""
    base = node.module or ""
    if node.level:
        parents = module.name.split(".")
        keep = len(parents) - node.level + module.is_package
        base = ".".join([*parents[:keep], *filter(None, [base])])
    return [
        f"{base}.{alias.name}" if f"{base}.{alias.name}" in MODULES else base
        for alias in node.names
        if (base, alias.name) != (PACKAGE, "__version__")
    ]


def loaded_statements(body: list[ast.AST]) -> Iterator[ast.AST]:
    """Yield the statements that run when a module loads."""
    for node in body:
        yield node
        if isinstance(node, Function) or (isinstance(node, ast.If) and is_type_checking(node)):
            continue
        for name in ("body", "handlers", "orelse", "finalbody", "cases"):
            yield from loaded_statements(getattr(node, name, []))


def is_type_checking(node: ast.If) -> bool:
    return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def floor_of(room: str) -> int:
    """Return the floor of a room.

    Raises:
        LookupError: The room is not in the table.
    """
    for floor, rooms in enumerate(FLOORS):
        if room in rooms:
            return floor
    raise LookupError(f"the room {room!r} has no floor yet: give it one in FLOORS")


def may_import(room: str, other: str) -> bool:
    if room == other:
        return True
    if other == "" or other in NEVER.get(room, set()):
        return False
    return floor_of(other) <= floor_of(room) and other in ONLY.get(room, {other})


@every_module
def test_imports_point_downwards(module: Module) -> None:
    inside = [each for each in imports_of(module) if each.target.split(".")[0] == PACKAGE]
    wrong = [each for each in inside if not may_import(module.room, room_of(each.target))]
    assert not wrong, [f"{module.at(each.line)} imports {each.target}" for each in wrong]


def test_no_import_goes_in_a_circle() -> None:
    graph = {
        name: {each.target for each in imports_of(module) if each.target in ROOMS} - {name}
        for name, module in ROOMS.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("imports go in a circle: " + " <- ".join(error.args[1]))


@every_module
def test_heavy_packages_load_on_first_use(module: Module) -> None:
    import sys

    allowed = LIGHT | ALSO_LIGHT.get(module.room, set()) | {PACKAGE} | sys.stdlib_module_names
    heavy = [
        each
        for each in imports_of(module)
        if each.at_load and each.target.split(".")[0] not in allowed
    ]
    assert not heavy, [f"{module.at(each.line)} loads {each.target}" for each in heavy]


@every_module
def test_modules_and_functions_are_short(module: Module) -> None:
    assert len(module.text.splitlines()) <= MODULE_LINES
    long = {f.name: n for f in module.functions if (n := body_lines(f)) > FUNCTION_LINES}
    assert not long


def body_lines(function: Function) -> int:
    """Count the lines of a function without its signature and docstring."""
    has_docstring = ast.get_docstring(function) is not None
    body = function.body[1:] if has_docstring else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


@every_module
def test_everything_is_annotated(module: Module) -> None:
    bare = [f.name for f in module.functions if f.returns is None or bare_arguments(f)]
    assert not bare


def bare_arguments(function: Function) -> list[str]:
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    starred = [each for each in (given.vararg, given.kwarg) if each]
    return [
        each.arg
        for each in [*named, *starred]
        if each.annotation is None and each.arg not in ("self", "cls")
    ]


@every_module
def test_no_print_no_assert_no_bare_except_no_pyplot(module: Module) -> None:
    found = [
        module.at(node.lineno)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Assert)
        or (isinstance(node, ast.ExceptHandler) and node.type is None)
        or (isinstance(node, ast.Call) and calls(node, "print") and module.room != "cli")
    ]
    pyplot = [each.line for each in imports_of(module) if "pyplot" in each.target]
    assert not found
    assert not pyplot
    assert "matplotlib.pyplot" not in module.text
    assert "import pyplot" not in module.text


def calls(node: ast.Call, name: str) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == name


def test_no_public_function_shares_its_name_with_a_module() -> None:
    stems = {name.rsplit(".", 1)[-1]: name for name in MODULES}
    shared = [
        f"{module.name}.{node.name} and {stems[node.name]}"
        for module in MODULES.values()
        for node in module.tree.body
        if isinstance(node, Function) and node.name in stems
    ]
    assert not shared


def test_the_table_for_contributors_is_that_of_the_floors() -> None:
    text = (SOURCE.parent / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \|", text, re.MULTILINE)
    told = {int(floor): set(re.findall(r"`(\w+)`", rooms)) for floor, rooms in rows}
    assert told == {floor: set(rooms) for floor, rooms in enumerate(FLOORS)}


def test_the_checks_see_what_they_look_for() -> None:
    """A guard that never fires guards nothing."""
    assert may_import("plots", "results")
    assert may_import("tidying", "scores")
    assert not may_import("results", "plots")
    assert not may_import("stats", "scores")
    assert not may_import("plots", "stats")
    assert not may_import("readers", "")
    with pytest.raises(LookupError, match="no floor yet"):
        floor_of("attic")

    lazy = ast.parse("def f():\n    from evaltoolkit.scores import check_scores\n")
    module = Module.__new__(Module)
    module.name, module.is_package, module.tree = f"{PACKAGE}.errors", False, lazy
    assert list(imports_of(module)) == [Import(f"{PACKAGE}.scores", 2, at_load=False)]
    module.tree = ast.parse("try:\n    pass\nexcept ImportError:\n    import scipy\n")
    assert list(imports_of(module)) == [Import("scipy", 4, at_load=True)]
    module.tree = ast.parse("from . import scores\nfrom .scores import x\n")
    assert [each.target for each in imports_of(module)] == [f"{PACKAGE}.scores"] * 2
