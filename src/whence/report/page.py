"""The whole page: one file, nothing to load, nothing that runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from whence import _files as files
from whence._files import __version__
from whence.report.alternatives import alternatives
from whence.report.answer import answer
from whence.report.diagnostics import diagnostics
from whence.report.episodes import episodes
from whence.report.facts import facts
from whence.report.fit import fit
from whence.report.following import following
from whence.report.html import LINE, Html, fill, join, retitled
from whence.report.machine import machine
from whence.report.maps import maps
from whence.report.prediction import prediction
from whence.report.recipe import recipe
from whence.report.replay import replay
from whence.report.study import Study
from whence.report.style import css
from whence.report.subjects import subjects

SECTIONS = (
    answer, facts, following, maps, replay, machine, alternatives, prediction, fit,
    diagnostics, episodes, recipe,
)  # fmt: skip
OF_ONE_TASK = (facts, following, maps, replay, machine, alternatives, episodes)
CONTENTS = {
    "answer": "Answer",
    "facts": "Facts",
    "next": "Next",
    "worlds": "World",
    "replay": "Replay",
    "machine": "Machine",
    "alternatives": "Single machines",
    "prediction": "Prediction",
    "fit": "Fit",
    "diagnostics": "Diagnostics",
    "episodes": "Outliers",
    "recipe": "Recipe",
}

# Nothing may be fetched and nothing may run, whatever a label says.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="whence {version}">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<h1>{title}</h1>
<p class="subtitle">{subtitle}</p>
</header>
<nav aria-label="Contents"><ul>{contents}</ul></nav>
<main id="content">
{sections}
</main>
<footer><p>Written by whence {version}. This file needs no network and runs no script.</p></footer>
</body>
</html>
"""


def render(study: Study) -> str:
    """Return the report on a study as one HTML document."""
    names = join(study.names[:3], ", ")
    more = Html(f" and {len(study.names) - 3} more" if len(study.names) > 3 else "")
    return fill(
        PAGE,
        policy=Html(POLICY),
        version=__version__,
        title="What does the expert want?",
        style=Html(css()),
        subtitle=fill("A reward machine inferred from demonstrations in {names}{more}",
                      names=names, more=more),
        contents=join(
            fill('<li><a href="#{anchor}">{name}</a></li>', anchor=anchor, name=name)
            for anchor, name in CONTENTS.items()
        ),
        sections=join(_sections(study), LINE),
    )  # fmt: skip


def _sections(study: Study) -> Iterator[Html]:
    """Return all sections; those about one task, once for each group of subjects."""
    for part in SECTIONS:
        if part in OF_ONE_TASK and study.groups:
            yield from _by_group(part, study)
        else:
            yield part(study)
        if part is answer:
            yield subjects(study)


def _by_group(part: Callable[[Study], Html], study: Study) -> Iterator[Html]:
    several = len(study.groups) > 1
    for number, each in enumerate(study.groups[: 1 if part is replay else None], start=1):
        mark = "" if number == 1 else f"-{number}"
        yield retitled(part(each), mark, f". {each.group}" if several else "")


def write(path: str | os.PathLike[str], study: Study) -> None:
    """Write the report on a study to a file, whole or not at all."""
    files.write_bytes(path, render(study).encode("utf-8"))
