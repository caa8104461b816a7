"""One run of `evaluate`: take up what is in its folder, work, and save what it gives."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pandas as pd

from evaltoolkit.errors import listed
from evaltoolkit.evaluation.accounting import account, count_failures, describe_run
from evaltoolkit.evaluation.driving import Interrupted, Shown
from evaltoolkit.evaluation.engine import Engine, take_up
from evaltoolkit.evaluation.journal import (
    Journal,
    Log,
    NoJournal,
    check_choices,
    write_run_file,
)
from evaltoolkit.evaluation.planning_runs import Plan
from evaltoolkit.evaluation.run_tables import outputs_table, scores_and_details
from evaltoolkit.formatting import counted
from evaltoolkit.results.evaluations import Evaluation
from evaltoolkit.schema import DETAILS, OUTPUTS, SCORES, Table
from evaltoolkit.storage import note_path, write_table


class Supervisor:
    """One run from its first call to its saved tables; a context manager, for the journal."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._open = ExitStack()
        try:
            log = self._journal()
            self.engine = Engine(
                units=plan.units,
                scorers=plan.scorers,
                log=log,
                concurrency=plan.options.concurrency,
                timeout=plan.options.timeout,
                cache=plan.cache,
                cache_keys=plan.cache_keys,
            )
            if isinstance(log, Journal):
                take_up(self.engine, log.lines())
                self._describe(log.folder, "running")
        except BaseException:
            self._open.close()
            raise

    def _journal(self) -> Log:
        folder = self.plan.folder
        if folder is None:
            return NoJournal()
        check_choices(folder, self.plan.choices)
        return self._open.enter_context(Journal(folder))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    async def work(self) -> None:
        """Ask and score everything that is not finished yet."""
        await self.engine.run()

    def shown(self) -> Shown:
        """Give the display of progress."""
        return Shown(
            lambda: len(self.engine.finished),
            len(self.plan.units),
            noun="answer",
            asked=self.plan.options.progress,
        )

    def keep(self) -> None:
        """Save what is finished, where there is a folder."""
        if self.plan.folder is not None:
            self.result()

    def interrupted(self) -> Interrupted:
        """Give the exception that holds what is finished, which is saved like a result."""
        folder = self.plan.folder
        where = (
            "in .evaluation of this exception; give folder= to be able to go on"
            if folder is None
            else f"kept in {folder}, and the same call finishes the run"
        )
        return Interrupted(self.result(), noun="answer", where=where)

    def result(self) -> Evaluation:
        """Make the tables of what is finished, and save them where there is a folder."""
        plan, engine = self.plan, self.engine
        done = [(u, engine.finished[u.number]) for u in plan.units if u.number in engine.finished]
        scores, details = scores_and_details(done, plan.scorers, plan.known, plan.run_id)
        outputs = outputs_table(done, plan.known, plan.run_id)
        settings = self._settings(len(done))
        table = account(scores)
        failures = count_failures(scores, outputs)
        made = Evaluation(
            table,
            settings,
            describe_run(table, settings, failures),
            _methods(settings),
            warnings=tuple(self._warnings()),
            scores=scores,
            outputs=outputs,
            details=details,
            failures=failures,
            run_id=plan.run_id,
            folder=plan.folder,
        )
        self._save(made, finished=len(done) == len(plan.units))
        return made

    def _save(self, made: Evaluation, *, finished: bool) -> None:
        folder = self.plan.folder
        if folder is None:
            return
        tables = ((SCORES, made.scores), (OUTPUTS, made.outputs), (DETAILS, made.details))
        for name, (kind, table) in zip(("scores", "outputs", "details"), tables, strict=True):
            path = folder / f"{name}.jsonl"
            if len(table):
                _write_at_once(table, path, kind)
            else:  # to readers, an empty file is a broken one
                path.unlink(missing_ok=True)
        self._describe(folder, "finished" if finished else "interrupted")

    def _describe(self, folder: Path, state: str) -> None:
        facts = {
            "state": state,
            "run_id": self.plan.run_id,
            "choices": self.plan.choices,
            "settings": self._settings(len(self.engine.finished)),
        }
        write_run_file(folder, facts)

    def _settings(self, n_finished: int) -> dict[str, Any]:
        plan = self.plan
        return {
            "run_id": plan.run_id,
            "n_examples": len(plan.known.by_key),
            "systems": [system.name for system in plan.systems],
            "recorded": [system.name for system in plan.systems if system.call is None],
            "scorers": [scorer.name for scorer in plan.scorers],
            "trials": plan.options.trials,
            "concurrency": plan.options.concurrency,
            "timeout": plan.options.timeout,
            "n_planned": len(plan.units),
            "n_finished": n_finished,
            "python": ".".join(map(str, sys.version_info[:3])),
        }

    def _warnings(self) -> list[str]:
        plan = self.plan
        notes = []
        for system in plan.systems:
            count = len(plan.known.by_key) - len(system.recorded)
            if system.call is None and count:
                notes.append(
                    f"{system.name}: {counted(count, 'example')} of {len(plan.known.by_key)} "
                    "without a recorded answer; there is no row for them."
                )
        if lost := [name for name in plan.known.attributes if name in OUTPUTS.known]:
            notes.append(
                f"The attribute(s) {listed(lost)} are in the score table only: the outputs table "
                "has columns of that name; rename them to keep them there, too."
            )
        if self.engine.given_up:
            notes.append(
                f"{counted(self.engine.given_up, 'call')} did not come back within "
                f"{plan.options.timeout:g} s; sync ones go on in the background until they return "
                "or the program ends."
            )
        if self.engine.cache_failures:
            times = counted(self.engine.cache_failures, "time")
            notes.append(f"The cache could not be read or written {times}.")
        return notes


def _write_at_once(frame: pd.DataFrame, path: Path, kind: Table) -> None:
    """Write a table so that a kill leaves the old file or the new one, never half of one."""
    # Readers of a folder pass over hidden files.
    beside = path.with_name(f".{path.name}")
    write_table(frame, beside, table=kind)
    if note_path(beside).exists():
        note_path(beside).replace(note_path(path))
    else:
        note_path(path).unlink(missing_ok=True)
    beside.replace(path)


def _methods(settings: dict[str, Any]) -> str:
    limit = settings["timeout"]
    trials = settings["trials"]
    return (
        f"Run {settings['run_id']}: {counted(settings['n_examples'], 'example')}, systems "
        f"{', '.join(settings['systems'])}, {counted(trials, 'trial')} each, scored by "
        f"{', '.join(settings['scorers'])}; "
        + (f"time limit {limit:g} s a call. " if limit is not None else "no time limit. ")
        + "Means and pass rates are over scored answers, examples equally weighted; errors are "
        "counted apart."
    )
