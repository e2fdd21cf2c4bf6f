"""What a run found, in its folder: best.json, trace.npz, draws.npz and, last, result.json.

`best.json` is the machine. While a run goes on, `provisional.json` is what `result.json` would be
if it ended now. Each file is written whole or not at all.
"""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from whence import _files as files
from whence.errors import FileError
from whence.io import arrays
from whence.runs import listed
from whence.runs.posterior_document import (
    arrows_document,
    facts_document,
    groups_document,
    machine_document,
    open_questions_document,
    posterior_document,
)
from whence.runs.result import Run
from whence.runs.weighing import DRAWS, draw_arrays
from whence.search.draws import Draws

TRACE = "whence/trace/1"
TOP = 10  # machines of an exact posterior that the result names
BEST, RESULT, PROVISIONAL = "best.json", "result.json", "provisional.json"
STEPS = "trace.npz"


def write(folder: Path, run: Run) -> None:
    """Write what a run found into its folder."""
    run.best.save(files.own(folder, BEST))
    files.write_bytes(files.own(folder, STEPS), arrays.write(_trace_arrays(run)))
    if run.draws is not None:
        files.write_bytes(
            files.own(folder, DRAWS), arrays.write(draw_arrays(run.draws, run.rough))
        )
    if run.groups is not None:
        found = listed.listed_arrays(run.groups.machines, run.groups.source)
        files.write_bytes(files.own(folder, listed.NAME), arrays.write(found))
    files.write_bytes(files.own(folder, RESULT), _json(result_document(run)))
    files.remove(files.own(folder, PROVISIONAL))


def write_provisional(folder: Path, run: Run) -> None:
    """Write what a run that goes on has found so far."""
    document = {"provisional": True} | result_document(run)
    files.write_bytes(files.own(folder, PROVISIONAL), _json(document))


def provisional(folder: Path) -> dict[str, Any] | None:
    """Return what a run that goes on had found at its last checkpoint, if it was written."""
    try:
        found = msgspec.json.decode(files.read_bytes(files.own(folder, PROVISIONAL)))
    except (FileError, msgspec.MsgspecError):
        return None
    whole = isinstance(found, dict) and {"answer", "doubts", "facts", "telling"} <= set(found)
    return found if whole else None


def write_told(folder: Path, run: Run) -> None:
    """Write what answers make of a run; what was drawn stays as it is."""
    run.best.save(files.own(folder, BEST))
    files.write_bytes(files.own(folder, RESULT), _json(result_document(run)))


def complete(folder: Path) -> bool:
    """Whether all that a run found was written."""
    return (folder / RESULT).is_file()


def discard(folder: Path) -> None:
    """Take back the result of a run that goes on."""
    files.remove(files.own(folder, RESULT))


def level_notes(folder: Path) -> tuple[str, ...] | None:
    """Return what a finished run says of other levels of rewards; None where it is not kept."""
    try:
        found = msgspec.json.decode(files.read_bytes(files.own(folder, RESULT)), type=_Kept)
    except (FileError, msgspec.MsgspecError):
        return None
    return found.level_notes


class _Kept(msgspec.Struct):
    level_notes: tuple[str, ...]


def result_document(run: Run) -> dict[str, Any]:
    """Return what a run found, for JSON: null stands for minus infinity."""
    return {
        "answer": run.answer,
        "facts": facts_document(run),
        "shown": machine_document(run.shown),
        "score": _finite(run.score),
        "log_likelihood": _finite(run.log_likelihood),
        "log_prior": run.log_prior,
        "temperature": run.temperature,
        "evaluations": run.evaluations,
        "steps": run.steps,
        "seconds": run.seconds,
        "stopped": run.stopped,
        "acceptance": float(run.trace.accepted.mean()) if run.trace.accepted.size else None,
        "doubts": list(run.doubts),
        "notes": list(run.notes),
        "level_notes": list(run.level_notes),
        "posterior": posterior_document(run),
        "groups": groups_document(run),
        "arrows": arrows_document(run),
        "telling": open_questions_document(run),
        "log_evidence": [
            _of_size(size) | {"value": value, "error": _finite(error)}
            for size, (value, error) in run.log_evidence.items()
        ],
        "exact": exact_document(run),
    }


def _of_size(size: int | tuple[int, str]) -> dict[str, Any]:
    """Return the number of states that evidence is of, and the kind of expert if there are two."""
    return {"states": size} if isinstance(size, int) else {"states": size[0], "expert": size[1]}


def exact_document(run: Run) -> dict[str, Any] | None:
    """Return what is known of all machines together, for JSON, or None."""
    if run.exact is None or run.draws is None:
        return None
    known, draws = run.exact, run.draws
    by_size = zip(known.sizes, known.machines, known.log_evidence, known.probability, strict=True)
    keys = ("states", "machines", "log_evidence", "probability")
    return {
        "evidence": [
            dict(zip(keys, (n, count, _finite(float(log)), float(p)), strict=True))
            for n, count, log, p in by_size
        ],
        "minimal_states": known.minimal.tolist(),
        "dropped": known.dropped,
        "kept": draws.size,
        "top": [_weighted(draws, place) for place in range(min(TOP, draws.size))],
    }


def _weighted(draws: Draws, place: int) -> dict[str, Any]:
    n = int(draws.n_states[place])
    return {
        "weight": float(draws.weight[place]),
        "log_likelihood": float(draws.log_likelihood[place]),
        "log_prior": float(draws.log_prior[place]),
        "transitions": draws.transitions[place, :n].tolist(),
        "rewards": draws.rewards[place, :n].tolist(),
    }


def settings_document(run: Run) -> dict[str, Any]:
    """Return how a run was made, for JSON: null stands for an infinite alpha."""
    return {
        "method": run.method,
        "seed": run.seed,
        "states": run.states[0] if len(run.states) == 1 else [run.states[0], run.states[-1]],
        "rewards": list(run.rewards),
        "alpha": _finite(run.expert.alpha),
        "discount": run.expert.discount,
        "lapse": run.expert.lapse,
        "expert": run.expert.kind,
        "inferred": list(run.inferred),
        "p_self": run.prior.p_self,
        "p_zero": run.prior.p_zero,
        "endings": run.job.endings,
        "settings": dataclasses.asdict(run.settings),
    }


def _trace_arrays(run: Run) -> arrays.Arrays:
    names = [field.name for field in dataclasses.fields(run.trace)]
    return {"format": np.array(TRACE)} | {name: getattr(run.trace, name) for name in names}


def _json(document: dict[str, Any]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
