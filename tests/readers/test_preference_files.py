"""Files of judges who prefer or rate answers: AlpacaEval, MT-bench, Arena-Hard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evaltoolkit as et


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def annotation(preference: object, **more: object) -> dict[str, Any]:
    return {
        "instruction": "Name a river.",
        "output_1": "The Elbe.",
        "generator_1": "house",
        "output_2": "The Rhone, which rises in a glacier.",
        "generator_2": "guest",
        "dataset": "rivers",
        "annotator": "judge-1",
        "preference": preference,
        **more,
    }


class TestAlpacaEval:
    def read(self, tmp_path: Path, *preferences: object) -> pd.DataFrame:
        records = [
            annotation(preference, instruction=f"Name {number} rivers.")
            for number, preference in enumerate(preferences)
        ]
        path = tmp_path / "annotations.json"
        path.write_text(json.dumps(records), encoding="utf-8")
        return et.read_scores(path)

    def test_the_preference_runs_from_the_baseline_to_the_model(self, tmp_path: Path) -> None:
        scores = self.read(tmp_path, 1, 1.5, 2, 1.25, 0, None)
        assert scores["score"].tolist()[:5] == [0.0, 0.5, 1.0, 0.25, 0.5]
        assert scores["status"].tolist() == ["scored"] * 5 + ["unscored"]
        assert scores["system"].unique().tolist() == ["guest"]
        assert scores["versus"].unique().tolist() == ["house"]
        assert scores["scorer"].unique().tolist() == ["judge-1"]

    def test_a_preference_outside_its_range_is_a_bad_record(self, tmp_path: Path) -> None:
        with pytest.raises(et.ReadError, match=r"record 1 .* preference is 3"):
            self.read(tmp_path, 1, 3)

    def test_words_instead_of_a_number_are_a_broken_measurement(self, tmp_path: Path) -> None:
        row = self.read(tmp_path, 2, "model")[lambda t: t["label"].notna()].iloc[0]
        assert (row["status"], row["label"]) == ("scorer_error", "model")

    def test_one_instruction_is_one_example_in_every_file(self, tmp_path: Path) -> None:
        one = lines(tmp_path / "a.jsonl", annotation(2, generator_2="a"))
        two = lines(tmp_path / "b.jsonl", annotation(1, generator_2="b"))
        scores = et.read_scores([one, two])
        assert scores["example_id"].nunique() == 1
        assert scores["system"].tolist() == ["a", "b"]

    def test_outputs_of_both_sides(self, tmp_path: Path) -> None:
        path = lines(tmp_path / "a.jsonl", annotation(2))
        outputs = et.read_outputs(path)
        assert outputs.set_index("system")["output"].to_dict() == {
            "house": "The Elbe.",
            "guest": "The Rhone, which rises in a glacier.",
        }

    def test_an_annotation_twice_is_refused_with_the_choice(self, tmp_path: Path) -> None:
        path = lines(tmp_path / "a.jsonl", annotation(2), annotation(1))
        with pytest.raises(et.SchemaError, match="duplicates="):
            et.read_scores(path)
        assert et.read_scores(path, duplicates="trials")["trial"].tolist() == [0, 1]

    @pytest.mark.parametrize(
        ("name", "mean"),
        [("claude-2.1", 0.10899943414), ("gpt-3.5-turbo-1106_verbose", 0.08044222717)],
    )
    def test_real_annotations(self, shared_data: Path, name: str, mean: float) -> None:
        path = shared_data / "alpaca_eval" / f"{name}.weighted.annotations.first60.json"
        scores = et.read_scores(path)
        assert len(scores) == 60
        assert scores["example_id"].nunique() == 60
        assert set(scores["versus"]) == {"gpt4_1106_preview"}
        assert scores["score"].mean() == pytest.approx(mean, abs=1e-10)
        assert set(scores["dataset"]) == {"helpful_base"}


def rating(score: object, **more: object) -> dict[str, Any]:
    return {
        "question_id": 7,
        "model": "m",
        "judge": ["judge-1", "single-v1"],
        "user_prompt": "…",
        "judgment": "Fine. Rating: [[8]]",
        "score": score,
        "turn": 1,
        "tstamp": 1_700_000_000.5,
        **more,
    }


def pair(first: object, second: object, **more: object) -> dict[str, Any]:
    return {
        "question_id": 7,
        "model_1": "m",
        "model_2": "n",
        "g1_winner": first,
        "g2_winner": second,
        "judge": ["judge-1", "pair-v2"],
        "g1_judgment": "[[A]]",
        "g2_judgment": "[[B]]",
        "turn": 1,
        "tstamp": 1_700_000_000.5,
        **more,
    }


class TestMtBench:
    def test_minus_one_is_a_failed_judge_and_no_score(self, tmp_path: Path) -> None:
        path = lines(tmp_path / "gpt-4_single.jsonl", rating(8), rating(-1, turn=2))
        scores = et.read_scores(path)
        assert scores["status"].tolist() == ["scored", "scorer_error"]
        assert scores["label"].tolist()[1] == "-1"
        assert scores["example_id"].tolist() == ["7.1", "7.2"]
        assert scores["cluster"].tolist() == ["7", "7"]
        assert str(scores["timestamp"][0]) == "2023-11-14 22:13:20.500000+00:00"

    def test_a_rating_given_again_is_refused_until_it_is_said_what_it_means(
        self, tmp_path: Path
    ) -> None:
        later = rating(6, tstamp=1_800_000_000.0)
        path = lines(tmp_path / "single.jsonl", later, rating(8))
        with pytest.raises(et.SchemaError, match="duplicates="):
            et.read_scores(path)
        assert et.read_scores(path, duplicates="last")["score"].tolist() == [6.0]

    def test_categories_come_from_the_questions_beside(self, tmp_path: Path) -> None:
        lines(
            tmp_path / "question.jsonl",
            {"question_id": 7, "category": "rivers", "turns": ["Name one.", "And another?"]},
        )
        path = lines(tmp_path / "single.jsonl", rating(8))
        scores = et.read_scores(path)
        assert scores["category"].tolist() == ["rivers"]
        assert scores.attrs["notes"] == ["categories taken from question.jsonl"]
        with pytest.raises(et.ReadError, match="list of questions"):
            et.read_scores(tmp_path / "question.jsonl")
        assert len(et.read_scores(tmp_path)) == 1

    def test_both_orders_of_a_pair_are_kept(self, tmp_path: Path) -> None:
        path = lines(
            tmp_path / "pair.jsonl", pair("model_1", "tie"), pair("error", "model_2", turn=2)
        )
        scores = et.read_scores(path)
        assert scores["position"].tolist() == ["first", "second"] * 2
        assert scores["trial"].tolist() == [0, 1, 0, 1]
        assert scores["score"].tolist()[:2] == [1.0, 0.5]
        assert scores["status"].tolist() == ["scored", "scored", "scorer_error", "scored"]
        assert set(scores["versus"]) == {"n"}

    def test_an_unknown_winner_is_a_bad_record(self, tmp_path: Path) -> None:
        path = lines(tmp_path / "pair.jsonl", pair("model_1", "tie"), pair("both", "tie", turn=2))
        with pytest.raises(et.ReadError, match="line 2"):
            et.read_scores(path)

    def test_judgements_are_details(self, tmp_path: Path) -> None:
        path = lines(tmp_path / "pair.jsonl", pair("model_1", "tie"))
        details = et.read_details(path)
        assert [json.loads(text)["judgment"] for text in details["details"]] == ["[[A]]", "[[B]]"]

    def test_real_pairs(self, shared_data: Path) -> None:
        # 75 records: model_1 wins both games in 18, model_2 in 20, the first shown wins both in
        # 16, the second shown in 2, both tie in 8; one record has one error, one has two.
        scores = et.read_scores(shared_data / "mt_bench" / "gpt-4_pair.phi-3_vs_phi-3-dpo.jsonl")
        assert scores["status"].value_counts().to_dict() == {
            "scored": 147, "scorer_error": 3, "unscored": 0, "system_error": 0
        }  # fmt: skip
        games = scores.pivot(index="example_id", columns="position", values="score")
        counts = games.value_counts()
        assert counts[1.0, 1.0] == 18
        assert counts[0.0, 0.0] == 20
        assert counts[1.0, 0.0] == 16
        assert counts[0.0, 1.0] == 2
        assert counts[0.5, 0.5] == 8
        assert set(scores["category"].value_counts()) == {10, 20}

    def test_real_ratings(self, shared_data: Path) -> None:
        scores = et.read_scores(shared_data / "mt_bench" / "gpt-4_single.first200.jsonl")
        assert len(scores) == 200
        assert scores["score"].mean() == pytest.approx(5.405)
        assert scores["system"].value_counts().to_dict() == {
            "llama2_chat_7b": 72,
            "finetune_llama2_chat_7b_FFNet": 68,
            "finetune_llama2_chat_7b": 60,
        }


def battle(*verdicts: object, **more: object) -> dict[str, Any]:
    games = [{"score": verdict, "judgment": f"[[{verdict}]]"} for verdict in verdicts]
    return {
        "uid": "q1",
        "category": "hard_prompt",
        "judge": "judge-1",
        "model": "guest",
        "baseline": "house",
        "games": games,
        **more,
    }


class TestArenaHard:
    @pytest.mark.parametrize(
        ("verdicts", "scores"),
        [
            (("A>>B", "A>B"), [0.0, 1.0]),  # the model is B in the first game, A in the second
            (("B>A", "B>>A"), [1.0, 0.0]),
            (("A<B", "A=B"), [1.0, 0.5]),
            (("[[A>B]]", "A<<B"), [0.0, 0.0]),
        ],
    )
    def test_verdicts_are_turned_to_the_model(
        self, tmp_path: Path, verdicts: tuple[str, str], scores: list[float]
    ) -> None:
        table = et.read_scores(lines(tmp_path / "guest.jsonl", battle(*verdicts)))
        assert table["score"].tolist() == scores
        assert table["label"].tolist() == list(verdicts)
        assert table["position"].tolist() == ["second", "first"]
        assert set(table["versus"]) == {"house"}

    def test_games_without_a_verdict_stay_unscored(self, tmp_path: Path) -> None:
        record = battle("A>B", None)
        record["games"].append(None)
        table = et.read_scores(lines(tmp_path / "guest.jsonl", record))
        assert table["status"].tolist() == ["scored", "unscored", "unscored"]

    def test_a_verdict_of_other_words_is_a_bad_record(self, tmp_path: Path) -> None:
        with pytest.raises(et.ReadError, match=r"line 1 .*verdict is 'C>A'"):
            et.read_scores(lines(tmp_path / "guest.jsonl", battle("C>A")))

    def test_a_battle_needs_its_baseline(self, tmp_path: Path) -> None:
        with pytest.raises(et.ReadError, match="baseline"):
            et.read_scores(lines(tmp_path / "guest.jsonl", battle("A>B", baseline=None)))

    def test_ratings_of_the_layout_before_the_release(self, tmp_path: Path) -> None:
        folder = tmp_path / "model_judgment" / "judge-1"
        folder.mkdir(parents=True)
        row = {"question_id": "q1", "model": "m-0613", "user_prompt": "…", "judgment": "ok"}
        path = lines(
            folder / "m.jsonl", {**row, "score": 7}, {**row, "question_id": 2, "score": None}
        )
        table = et.read_scores(path)
        assert table["status"].tolist() == ["scored", "unscored"]
        assert table["score"].tolist()[0] == 7.0
        assert set(table["scorer"]) == {"judge-1"}
        assert "m-0613" in table.attrs["notes"][0]
