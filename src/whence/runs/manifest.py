"""The manifest of a run: what it was asked to do, from which files, by which versions.

The worlds and demonstrations themselves are copied into the run's folder, so that a run can go on
where the files that it was made from are gone.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from whence import _files as files
from whence._files import __version__
from whence.errors import FormatError, WhenceError
from whence.io import demos_jsonl, demos_npz, documents, machine_json, world_json, world_npz
from whence.likelihood.endings import IGNORE, checked_endings
from whence.likelihood.engines import CPU, checked_device
from whence.likelihood.posterior import Worlds
from whence.model.demos import Demonstrations
from whence.model.expert import BOLTZMANN, checked_kind
from whence.model.expert_prior import AlphaPrior, LapsePrior
from whence.model.mdp import LabeledMDP
from whence.model.prior import Prior
from whence.runs.answers import answer_of
from whence.runs.job import SHARED, Job, checked_tasks
from whence.search.methods import method
from whence.search.problem import checked_sizes
from whence.search.unknowns import INFER, Unknowns

TAG = "whence/run/1"
WITH_KINDS = "whence/run/2"  # which names kinds of expert
NAME = "manifest.json"
INPUTS = "inputs"
ANY_PRECISION = 1.0  # of runs that name none
OLD_ALPHAS = (10.0, math.inf, 0.1, 1000.0)  # of runs that name no prior


class Source(msgspec.Struct, forbid_unknown_fields=True):
    """A world or demonstrations: where they came from, and the copy.

    Attributes:
        copy: the name of the copy, in `inputs`.
        sha256: of the copy.
        name: what the user called it: a built-in world or a file; or null, from Python.
        original_sha256: of the file, where it was one.
    """

    copy: str
    sha256: str
    name: str | None = None
    original_sha256: str | None = None


class Input(msgspec.Struct, forbid_unknown_fields=True):
    """One world with its demonstrations."""

    world: Source
    demos: Source


class Manifest(msgspec.Struct, forbid_unknown_fields=True):
    """The file `manifest.json`.

    Attributes:
        format: `whence/run/1`, or `whence/run/2`, which names kinds of expert.
        created: when.
        versions: of whence, numpy and python.
        command: what was typed, or null.
        inputs: worlds and demonstrations.
        job: every setting.
    """

    format: str
    created: str
    versions: dict[str, str]
    command: list[str] | None
    inputs: list[Input]
    job: dict[str, Any]


Names = Sequence[tuple[str | None, str | None]]


def begin(folder: Path, job: Job, names: Names, command: list[str] | None) -> Manifest:
    """Write the copies, then the manifest."""
    inputs = [
        Input(
            _copied(folder, f"world-{number}", _world(mdp), world),
            _copied(folder, f"demos-{number}", _demos(demos), shown),
        )
        for number, ((mdp, demos), (world, shown)) in enumerate(
            zip(job.pairs, names, strict=True), start=1
        )
    ]
    versions = {"whence": __version__, "numpy": np.__version__}
    versions["python"] = platform.python_version()
    created = datetime.now(UTC).isoformat(timespec="seconds")
    document = job_document(job)
    tag = WITH_KINDS if "expert_kinds" in document else TAG
    manifest = Manifest(tag, created, versions, command, inputs, document)
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
    files.write_bytes(folder / NAME, text)
    return manifest


def read(folder: Path) -> Manifest:
    """Return the manifest of a run."""
    path = files.own(folder, NAME)
    if not path.exists():
        raise FormatError(f"{folder}: no run: there is no {NAME}; name a folder of whence infer")
    manifest = documents.decode_any(
        files.read_text(path), {TAG: Manifest, WITH_KINDS: Manifest}, str(path)
    )
    if not manifest.inputs:
        raise FormatError(f"{path}: inputs is empty; restore the file, or start the run again")
    return manifest


def changed(manifest: Manifest) -> list[str]:
    """Return the names of the files that a run was made from and that are not the same now."""
    found = []
    for each in manifest.inputs:
        for source in (each.world, each.demos):
            if source.name is None or source.original_sha256 is None:
                continue
            path = Path(source.name)
            if path.is_file() and _sha256(files.read_bytes(path)) != source.original_sha256:
                found.append(source.name)
    return found


def job_of(folder: Path, manifest: Manifest) -> Job:
    """Return what a run was asked to do, from its manifest and its copies."""
    source = str(folder / NAME)
    try:
        return _job(manifest.job, _pairs(folder, manifest))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise FormatError(
            f"{source}: job: {type(error).__name__}: {error}; restore the file, or start the run "
            "again with whence infer"
        ) from None
    except WhenceError as error:
        if str(error).startswith(str(folder)):
            raise
        raise FormatError(f"{source}: job: {error}") from None


def job_document(job: Job) -> dict[str, Any]:
    """Return every setting of a job, for JSON."""
    unknown = job.unknowns
    return {
        "method": job.method,
        "seed": job.seed,
        "states": [job.sizes[0], job.sizes[-1]],
        "rewards": list(job.rewards),
        "alpha": _spelled(unknown.alpha),
        "lapse": _spelled(unknown.lapse),
        "discounts": list(unknown.discounts),
        "alpha_prior": [_spelled(part) for part in dataclasses.astuple(unknown.alpha_prior)],
        "lapse_prior": list(dataclasses.astuple(unknown.lapse_prior)),
        "p_self": job.prior.p_self,
        "p_zero": job.prior.p_zero,
        "sizes_prior": job.prior.sizes,
        "settings": dataclasses.asdict(job.settings),
        "fix": list(job.fix),
        "init": None if job.init is None else machine_json.dumps(job.init),
        "minutes": job.minutes,
        **({} if job.endings == IGNORE else {"endings": job.endings}),
        **({} if unknown.kinds == (BOLTZMANN,) else {"expert_kinds": list(unknown.kinds)}),
        **(
            {"experts": job.experts, "tasks": [job.tasks[0], job.tasks[-1]]}
            if job.by_subject
            else {}
        ),
        **({} if job.device == CPU else {"device": job.device}),
        **({"answers": [each.document() for each in job.answers]} if job.answers else {}),
    }


def parcel(job: Job) -> dict[str, Any]:
    """Return all of a job, worlds and demonstrations among it, for another process."""
    return {
        "job": msgspec.json.encode(job_document(job)),
        "pairs": pairs_parcel(job.pairs),
    }


def unparcelled(parcel: dict[str, Any]) -> Job:
    """Return the job of a parcel."""
    return _job(msgspec.json.decode(parcel["job"]), pairs_of(parcel["pairs"]))


def pairs_parcel(pairs: Worlds) -> list[tuple[str, bytes, str, bytes]]:
    """Return worlds and demonstrations as bytes, each with its format."""
    return [(*_world(mdp), *_demos(demos)) for mdp, demos in pairs]


def pairs_of(parcel: list[tuple[str, bytes, str, bytes]]) -> Worlds:
    """Return the worlds and demonstrations of a parcel."""
    worlds = {"npz": world_npz.loads, "json": world_json.loads}
    demonstrations = {"npz": demos_npz.loads, "jsonl": demos_jsonl.loads}
    pairs = []
    for world_ending, world, demos_ending, demos in parcel:
        mdp = worlds[world_ending](world, "the world")
        pairs.append((mdp, demonstrations[demos_ending](demos, "the demonstrations", mdp)))
    return pairs


def settings_of(name: str, document: dict[str, Any]) -> Any:
    """Return the settings of a method from JSON."""
    usual = {"precision": ANY_PRECISION} if name == "tempering" else {}
    return method(name).settings_type(**(usual | document))


def _job(document: dict[str, Any], pairs: Worlds) -> Job:
    least, most = document["states"]
    init = document["init"]
    return Job(
        pairs=pairs,
        unknowns=Unknowns(
            _number(document["alpha"]),
            _number(document["lapse"]),
            tuple(float(discount) for discount in document["discounts"]),
            AlphaPrior(*(float(part) for part in document.get("alpha_prior", OLD_ALPHAS))),
            LapsePrior(*(float(part) for part in document.get("lapse_prior", ()))),
            kinds=tuple(map(checked_kind, document.get("expert_kinds", (BOLTZMANN,)))),
        ),
        sizes=checked_sizes((least, most)),
        rewards=tuple(float(level) for level in document["rewards"]),
        prior=Prior(
            document["p_self"], document["p_zero"], _sizes_prior(document.get("sizes_prior", 0.5))
        ),
        method=document["method"],
        settings=settings_of(document["method"], document["settings"]),
        seed=document["seed"],
        fix=tuple(document["fix"]),
        init=None if init is None else machine_json.loads(init, "init"),
        minutes=document["minutes"],
        endings=checked_endings(document.get("endings", IGNORE)),
        device=checked_device(document.get("device", CPU)),
        answers=tuple(answer_of(each) for each in document.get("answers", ())),
        experts=document.get("experts", SHARED),
        tasks=checked_tasks(tuple(document.get("tasks", (1, 1)))),
    )


def _pairs(folder: Path, manifest: Manifest) -> Worlds:
    pairs = []
    for each in manifest.inputs:
        mdp = LabeledMDP.load(_checked_copy(folder, each.world, "world"))
        demos = Demonstrations.load(_checked_copy(folder, each.demos, "demonstrations"), mdp)
        pairs.append((mdp, demos))
    return pairs


def _checked_copy(folder: Path, source: Source, what: str) -> Path:
    """Return the path of a copy, if it is still what was written."""
    if source.copy != Path(source.copy).name:
        raise FormatError(
            f"{folder / NAME}: {source.copy!r} is no file in {INPUTS}; restore the manifest"
        )
    path = files.own(folder, f"{INPUTS}/{source.copy}")
    if _sha256(files.read_bytes(path)) != source.sha256:
        raise FormatError(
            f"{path}: the {what} changed since the run began; put the file back, or start a new "
            "run with whence infer"
        )
    return path


def _copied(folder: Path, stem: str, content: tuple[str, bytes], name: str | None) -> Source:
    """Write a copy and return where it came from."""
    ending, data = content
    copy = f"{stem}.{ending}"
    (folder / INPUTS).mkdir(exist_ok=True)
    files.write_bytes(folder / INPUTS / copy, data)
    original = None
    if name is not None and Path(name).is_file():
        original = _sha256(files.read_bytes(name))
        name = str(Path(name).absolute())
    return Source(copy, _sha256(data), name, original)


def _world(mdp: LabeledMDP) -> tuple[str, bytes]:
    try:
        return "npz", world_npz.dumps(mdp)
    except FormatError:  # a name that arrays cannot hold
        return "json", world_json.dumps(mdp)


def _demos(demos: Demonstrations) -> tuple[str, bytes]:
    try:
        return "npz", demos_npz.dumps(demos)
    except FormatError:
        return "jsonl", demos_jsonl.dumps(demos)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _spelled(value: float | None) -> float | str:
    if value is None:
        return INFER
    return value if math.isfinite(value) else "inf"


def _sizes_prior(value: Any) -> float | tuple[float, ...]:
    return tuple(float(part) for part in value) if isinstance(value, list) else float(value)


def _number(value: Any) -> float | None:
    return None if value == INFER else float(value)
