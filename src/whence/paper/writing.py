"""The results as a folder: the page, its pictures, and one JSON document."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from whence import _files as files
from whence import io as formats
from whence.errors import FileError
from whence.model.machine import RewardMachine
from whence.paper import claims, figures
from whence.paper.experiment import Results, most_frequent
from whence.paper.nearby import difference
from whence.paper.page import machines, page
from whence.paper.triples import BINARY, Found
from whence.paper.worlds import BUILT_IN

PAGE, FIGURES = "README.md", "results.json"


def prepare(output: str) -> None:
    """Make the folder, or say why that fails."""
    try:
        Path(output).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"{output}: the folder cannot be made: {(error.strerror or '').lower()}; name "
            "another folder"
        ) from None


def write(output: str, results: Results) -> list[str]:
    """Write everything; return the files written, the page first."""
    prepare(output)
    contents = {PAGE: page(results).encode("utf-8"), FIGURES: _json(results)}
    for name, machine in machines(results).items():
        contents[f"{name}.svg"] = formats.machine_bytes(machine, "svg")
        contents[f"{name}.tex"] = formats.machine_bytes(machine, "tikz")
    for name, content in contents.items():
        files.write_bytes(Path(output) / name, content)
    return [str(Path(output) / name) for name in contents]


def _json(results: Results) -> bytes:
    return msgspec.json.format(msgspec.json.encode(document(results)), indent=1) + b"\n"


def document(results: Results) -> dict[str, Any]:
    """Return all that the page says, and every triple that it is made from."""
    worlds = results.plan.worlds
    return {
        "worlds": list(worlds),
        "triples": results.plan.triples,
        "seed": results.plan.seed,
        "steps": results.plan.steps,
        "references": {name: asdict(r) for name, r in results.references.items()},
        "table": [asdict(row) for name in worlds for row in figures.rows(results, name)],
        "outcomes": {name: asdict(figures.outcome(results.of(name))) for name in worlds},
        "surroundings": [asdict(s) for s in results.surroundings],
        "machines": {name: _machines(results, name) for name in worlds},
        "against_baselines": _against(results),
        "ablation": _ablation(results) if results.plan.ablation else None,
        "found": [_found(f) for f in results.found],
        "baselines": [asdict(b) for b in results.baselines],
    }


def _against(results: Results) -> dict[str, Any]:
    worlds = results.plan.worlds
    names = ("markovian", "per_state", "cloning")
    judged = {n: _comparison(figures.against_baseline(results, worlds, n)) for n in names}
    binary = [world for world in worlds if results.of(world, BINARY.name)]
    if binary:
        judged["binary"] = _comparison(figures.against_binary(results, binary))
    return judged


def _machines(results: Results, name: str) -> dict[str, Any]:
    world, found = BUILT_IN[name](None), results.of(name)
    machine, count = most_frequent(found)
    top = figures.best(found)
    return {
        "most_frequent": _tables(machine)
        | {"triples": count, "difference": difference(machine, world)},
        "best": _tables(top.machine)
        | {
            "seed": top.seed,
            "return": top.agent,
            "difference": difference(top.machine, world),
        },
    }


def _ablation(results: Results) -> dict[str, Any]:
    worlds = results.plan.worlds
    variants = ("paper", *(claim.variant for claim in claims.CLAIMS))
    return {
        "variants": [asdict(claims.summary(results, w, v)) for v in variants for w in worlds],
        "claims": [_claim(results, claim) for claim in claims.CLAIMS],
    }


def _claim(results: Results, claim: claims.Claim) -> dict[str, Any]:
    worlds = results.plan.worlds
    scores = claims.by_score(results, claim, worlds) if claim.same_score else None
    return {
        "claim": claim.text,
        "against": claim.without,
        "by_return": _comparison(claims.by_return(results, claim, worlds)),
        "by_score": None if scores is None else _comparison(scores),
        "worlds_disagree": claims.disagreement(results, claim),
    }


def _comparison(c: figures.Comparison) -> dict[str, Any]:
    return asdict(c) | {"verdict": c.verdict}


def _found(found: Found) -> dict[str, Any]:
    values = {name: getattr(found, name) for name in found.__dataclass_fields__}
    return values | {"machine": _tables(found.machine)}


def _tables(machine: RewardMachine) -> dict[str, Any]:
    return {
        "alphabet": list(machine.alphabet),
        "transitions": machine.transitions.tolist(),
        "rewards": machine.rewards.tolist(),
    }
