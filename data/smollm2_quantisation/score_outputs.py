"""Score the outputs: examples.jsonl and outputs.jsonl -> scores.jsonl.

    python score_outputs.py

Each criterion is measured only on the examples that list it. An answer that was cut off at the
token limit is scored as it stands, because a reader would get no more of it either; a call that
failed (the prompt did not fit into the context window) is a system error and has no score.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from run_models import TASK, read_jsonl, write_jsonl

from evaltoolkit.evaluation import score_outputs
from evaltoolkit.models import Criterion, Example, Output, Score
from evaltoolkit.scorers import (
    BaseScorer,
    Contains,
    LengthBounds,
    Levenshtein,
    NumericDiff,
    Refusal,
    ValidJSON,
    Verdict,
    find_numbers,
)

HERE = Path(__file__).resolve().parent

Reference = Mapping[str, Any]
Maker = Callable[[Reference], BaseScorer]


class LastNumber(BaseScorer):
    """Nearness of the last number in the answer to the right one; an answer without one gets 0.

    Numbers are read as digits only: "eight" counts as no number.
    """

    def measure(self, output: Output, example: Example, /) -> Verdict:
        """Take the last number of the text and hold it against the reference."""
        found = find_numbers(output.text or "")
        if not found:
            return Verdict(0.0, "the answer holds no number")
        return NumericDiff().compare(found[-1], example.reference)


def _answer(reference: Reference) -> BaseScorer:
    return Contains(reference.get("answers"), criterion="answer")


def _number(reference: Reference) -> BaseScorer:
    del reference
    return LastNumber(criterion="number")


def _json_valid(reference: Reference) -> BaseScorer:
    return ValidJSON(reference.get("schema"), allow_fence=True, criterion="json_valid")


def _length(reference: Reference) -> BaseScorer:
    least, most = reference.get("min_chars", 0), reference.get("max_chars")
    return LengthBounds(least=least, most=most, criterion="length")


def _edit_similarity(reference: Reference) -> BaseScorer:
    del reference
    return Levenshtein(criterion="edit_similarity", threshold=0.95)


def _refusal_or_empty(reference: Reference) -> BaseScorer:
    del reference
    return Refusal(criterion="refusal_or_empty")


# criterion -> how to make its scorer from a reference, and the part that it compares with
MAKERS: dict[str, tuple[Maker, str | None]] = {
    "answer": (_answer, "answers"),
    "number": (_number, "number"),
    "json_valid": (_json_valid, "schema"),
    "length": (_length, None),
    "edit_similarity": (_edit_similarity, "text"),
    "refusal_or_empty": (_refusal_or_empty, None),
}


class PerExample:
    """A scorer whose settings (schema, limits, accepted answers) come from the example."""

    def __init__(self, criterion: str, wanted: Mapping[str, frozenset[str]]) -> None:
        self._make, self._part = MAKERS[criterion]
        self._wanted = wanted
        model = self._make({"max_chars": 0})
        self.name: str = model.name
        self.criterion: Criterion = model.criterion

    def applies(self, example: Example) -> bool:
        """Whether the example lists this criterion."""
        return self.criterion.name in self._wanted[example.id]

    def score(self, output: Output, example: Example, /) -> Score:
        """Measure with the settings of this example."""
        reference = example.reference
        part = reference[self._part] if self._part else None
        plain = example.model_copy(update={"reference": part})
        return self._make(reference).score(output, plain)


def as_example(row: Mapping[str, Any]) -> Example:
    """Turn one line of examples.jsonl into an `Example`."""
    return Example(
        id=row["id"],
        task=TASK,
        input=row["input"],
        reference=row["reference"],
        cluster=row["cluster"],
        attributes={"topic": row["topic"], "difficulty": row["difficulty"]},
    )


def score_bundle(examples: list[dict[str, Any]], outputs: list[dict[str, Any]]) -> pd.DataFrame:
    """Score every output by every criterion that its example lists.

    Args:
        examples: Lines of examples.jsonl.
        outputs: Lines of outputs.jsonl.

    Returns:
        A score table with the attributes ``topic`` and ``difficulty``.
    """
    wanted = {row["id"]: frozenset(row["criteria"]) for row in examples}
    scorers = [PerExample(criterion, wanted) for criterion in MAKERS]
    table = score_outputs([as_example(row) for row in examples], pd.DataFrame(outputs), scorers)
    # How an answer came to its score can be found out again; why there is none must stay.
    # Labels repeat the score in words.
    messages = table["message"].where(table["status"] != "scored")
    return table.assign(message=messages).drop(columns=["label", "threshold"])


def main() -> None:
    """Score the bundle and write the score table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--folder", type=Path, default=HERE)
    folder = parser.parse_args().folder
    examples, outputs = (read_jsonl(folder / f"{name}.jsonl") for name in ("examples", "outputs"))
    table = score_bundle(examples, outputs)
    cells = table.astype(object).where(table.notna(), None)
    write_jsonl(folder / "scores.jsonl", cells.to_dict("records"))


if __name__ == "__main__":
    main()
