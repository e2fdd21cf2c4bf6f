"""Every setting, every version, and how to make the run again."""

from __future__ import annotations

import dataclasses

from whence.model.machine import number
from whence.report.html import (
    LINE,
    Html,
    code,
    counted,
    fill,
    join,
    paragraph,
    plain,
    section,
    table,
)
from whence.report.study import Study, current_versions
from whence.runs.result import Run


def recipe(study: Study) -> Html:
    """Return the section."""
    run = study.run
    rows = [[name, value] for name, value in settings(run).items()]
    now = current_versions()
    versions = [
        [name, *(code(found[name]) if name in found else "–" for found in (study.versions, now))]
        for name in {**study.versions, **now}
    ]
    inputs = [
        [
            code(study.names[at]),
            code(study.sources[at]),
            f"{len(demos):,}",
            f"{demos.n_steps:,}",
        ]
        for at, (_, demos) in enumerate(study.worlds)
    ]
    header = ["world", "demonstrations", "episodes", "steps"]
    return section(
        "recipe",
        "How to make this again",
        *_how(study),
        table("What it was made from", header, inputs, numbers=(2, 3)),
        table("Every setting", ["setting", "value"], rows),
        table("Versions", ["what", "of the run", "of this page"], versions),
    )


def _how(study: Study) -> list[Html]:
    if study.command:
        text = "In a shell, in the folder in which it was typed:"
        parts = [paragraph(text), _block(study.command)]
        if study.run.stopped == "minutes":
            note = (
                f"The clock ended the run, after {counted(study.run.steps, 'step')}. On another "
                "computer it may end elsewhere; give it that many steps and no minutes."
            )
            parts.append(paragraph(note))
        return parts
    return [
        paragraph("In Python, with the same world and demonstrations:"),
        _block(python_call(study)),
    ]


def _block(shown: str) -> Html:
    return fill(
        '<pre class="scroll" tabindex="0" role="group" aria-label="Command">'
        "<code>{lines}</code></pre>",
        lines=join(shown.split("\n"), LINE),
    )


def python_call(study: Study) -> str:
    """Return the call that makes a run again; it leaves out a machine to start from."""
    run, sizes = study.run, study.run.states
    states = str(sizes[0]) if len(sizes) == 1 else f"({sizes[0]}, {sizes[-1]})"
    said = {"states": states}
    for name in ("alpha", "lapse", "discount"):
        value = getattr(run.expert, name)
        shown = 'float("inf")' if value == float("inf") else repr(float(value))
        said[name] = '"infer"' if name in run.inferred else shown
    if "discount" in run.inferred and study.discounts:
        said["discount"] = repr(study.discounts)
    if run.expert.is_soft or "kind" in run.inferred:
        said["expert_kind"] = '"infer"' if "kind" in run.inferred else repr(run.expert.kind)
    rewards = ", ".join(number(level) for level in run.rewards)
    said["rewards"] = f"({rewards},)" if len(run.rewards) == 1 else f"({rewards})"
    said["prior"] = f"whence.{run.prior!r}"
    said["method"] = repr(run.method)
    said["settings"] = f"whence.{run.settings!r}"
    said["seed"] = str(run.seed)
    if study.fix:
        said["fix"] = repr(study.fix)
    given = "world, demos" if len(study.worlds) == 1 else "[(world, demos), ...]"
    lines = "".join(f"    {name}={value},\n" for name, value in said.items())
    return f"run = whence.infer(\n    {given},\n{lines})"


def settings(run: Run) -> dict[str, str]:
    """Return every setting of a run, in words."""
    sizes = run.states
    found = {
        "method": run.method,
        "seed": str(run.seed),
        "states": str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}",
        "rewards": ", ".join(number(level) for level in run.rewards),
    }
    for name in ("alpha", "lapse", "discount"):
        value = plain(getattr(run.expert, name), 10)
        found[name] = f"inferred; {value} with the best machine" if name in run.inferred else value
    found["kind of expert"] = run.expert.kind + (
        ", of two compared" if "kind" in run.inferred else ""
    )
    found["temperature"] = plain(run.temperature)
    found["prior: self-loop"] = plain(run.prior.p_self, 10)
    found["prior: reward of 0"] = plain(run.prior.p_zero, 10)
    for field in dataclasses.fields(run.settings):
        value = getattr(run.settings, field.name)
        said = "chosen by the method" if value is None else str(value)
        found[f"{run.method}: {field.name}"] = said
    return found
