"""One inference of a sweep, wherever it is made: begun, or gone on with, and told in a row.

Where a worker sees the sweep's folder, the run is kept there and survives a kill of the worker;
elsewhere it is made in a folder of the worker's own, whose files are sent back.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from whence._files import read_bytes
from whence.cli.sweeps.plan import Cell, Plan
from whence.errors import WhenceError
from whence.model.prior import Prior
from whence.runs import manifest, units
from whence.search.settings import Exhaustive, Tempering

KEY = "sweep.key"
RUNS = "runs"
OWNERS = {"ladders": Tempering, "rungs": Tempering, "limit": Exhaustive}


def request(plan: Plan, cell: Cell, folder: Path, threads: int | None) -> dict[str, Any]:
    """Return what a worker needs to know of a cell: text, numbers and bytes."""
    from whence.cli import _inputs as inputs
    from whence.planning.simulation import simulate

    world = _path(plan, cell.world.world)
    given = inputs.setting(world, cell.world.start)
    if isinstance(cell.demos, str):
        shown = _path(plan, cell.demos)
        demos = inputs.demonstrations(shown, given.mdp, {})
    else:
        said = cell.world.simulate
        assert said is not None
        named = None if said.machine is None else _path(plan, said.machine)
        task = given.task(named, "machine")
        expert = given.expert(said.alpha, said.discount, said.lapse, given.alpha)
        sizes = {"episodes": said.episodes, "length": said.length}
        demos = simulate(given.mdp, task, expert, seed=cell.demos, **sizes)
    built_in = given.built_in
    usual = {} if built_in is None else {
        "states": built_in.task.n_states, "rewards": list(built_in.rewards),
    }  # fmt: skip
    return {
        "identity": units.identity(),
        "name": f"inference {cell.name}",
        "key": plan.key,
        "folder": str(folder.absolute()),
        "cell": cell.name,
        "pairs": manifest.pairs_parcel([(given.mdp, demos)]),
        "settings": usual | cell.settings | {"seed": cell.seed},
        "threads": threads or 1,
    }


def work(asked: dict[str, Any]) -> dict[str, Any]:
    """Make an inference; returns `row`, and `files` where the sweep's folder is not seen here."""
    refused = units.difference(asked["identity"], units.identity())
    if refused is not None:
        return {"worker": units.me(), "refused": refused}
    kept = Path(asked["folder"])
    try:
        if (kept / KEY).is_file() and read_bytes(kept / KEY) == asked["key"].encode():
            return {"worker": units.me(), "row": _row(asked, kept / RUNS / asked["cell"])}
        with tempfile.TemporaryDirectory(prefix="whence-") as own:
            row = _row(asked, Path(own) / "run")
            return {"worker": units.me(), "row": row, "files": _files(Path(own) / "run")}
    except WhenceError as error:
        return {"worker": units.me(), "row": {"status": "failed", "error": str(error)}}


def _row(asked: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Infer, or go on with what was begun; return what was found."""
    from whence.runs.inference import infer
    from whence.runs.resuming import resume

    if (folder / manifest.NAME).is_file():
        run = resume(folder, threads=asked["threads"], progress=False)
    else:
        ((mdp, demos),) = manifest.pairs_of(asked["pairs"])
        run = infer(
            mdp, demos, **arguments(asked["settings"]), threads=asked["threads"], folder=folder,
            progress=False,
        )  # fmt: skip
    expert = run.expert
    return {
        "status": "done",
        "stopped": run.stopped,
        "steps": run.steps,
        "evaluations": run.evaluations,
        "seconds": round(run.seconds, 2),
        "states": run.best.n_states,
        "score": run.score if np.isfinite(run.score) else None,
        "log_likelihood": run.log_likelihood if np.isfinite(run.log_likelihood) else None,
        "alpha": expert.alpha if np.isfinite(expert.alpha) else "inf",
        "discount": expert.discount,
        "lapse": expert.lapse,
        "doubts": len(run.doubts),
        "answer": run.answer,
    }


def arguments(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a file as arguments of `infer`."""
    said = dict(settings)
    for name, own in OWNERS.items():
        if name in said:
            kind = type(said["settings"]) if "settings" in said else own
            chosen = {each: said.pop(each) for each in OWNERS if each in said}
            said["settings"] = kind(**chosen)
    for name in ("states", "rewards", "discount", "alpha_prior", "lapse_prior", "sizes_prior"):
        if isinstance(said.get(name), list):
            said[name] = tuple(said[name])
    if "p_self" in said or "p_zero" in said:
        parts = {name: said.pop(name) for name in ("p_self", "p_zero") if name in said}
        said["prior"] = Prior(**parts)
    for name in ("alpha", "lapse", "discount"):
        if said.get(name) == "inf":
            said[name] = float("inf")
    return said


def _files(folder: Path) -> dict[str, bytes]:
    """Return the files of a run, by their places in its folder."""
    every = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in every}


def _path(plan: Plan, name: str) -> str:
    """Return a file as the sweep's own folder sees it; what is none there stays as it is."""
    beside = plan.folder / name
    return str(beside) if beside.exists() else name
