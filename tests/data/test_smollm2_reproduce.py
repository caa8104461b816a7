"""The stored answers at temperature 0 come out again, letter by letter, when the model runs."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.models

COMPARED = ("output", "error", "finish_reason", "tokens_in", "tokens_out")


def skip_other_machines(bundle: Path) -> None:
    """Floating-point kernels differ between kinds of processors, and with them the texts."""
    import xllamacpp

    recorded = json.loads((bundle / "provenance.json").read_text("utf-8"))
    here = (platform.machine(), xllamacpp.get_system_info().strip())
    if here != (recorded["machine"], recorded["cpu_features"]):
        pytest.skip("the stored answers come from a processor with other instructions")


def essentials(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row.get(name) for name in COMPARED}


def test_twenty_prompts_give_the_stored_answers(bundle: Path, scripts: Any, rows: Any) -> None:
    run = scripts.run_models
    run.versions()
    skip_other_machines(bundle)
    server = run.start_server(scripts.weights.source_path())
    calls = run.plan_greedy(rows.examples, "q4_1")
    assert [call.example_id for call in calls] == [row["example_id"] for row in rows.greedy]
    stored = {row["example_id"]: essentials(row) for row in rows.greedy}
    # From the last to the first, since an answer must not depend on what was asked before it.
    asked = [call for call in reversed(calls) if stored[call.example_id]["output"]][:20]
    assert len(asked) == 20
    for call in asked:
        assert essentials(run.ask(server, call, run.PLAIN)) == stored[call.example_id]
