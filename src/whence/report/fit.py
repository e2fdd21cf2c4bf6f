"""Whether real episodes look like those that the model makes."""

from __future__ import annotations

from whence.analysis.misfit import Discrepancy
from whence.report.html import Html, counted, marked, paragraph, section, table
from whence.report.study import Study
from whence.runs.checking import Check

MOST_ROWS = 12
TITLE = "Does the model fit?"


def fit(study: Study) -> Html:
    """Return the section."""
    found = study.check
    if found is None:
        reason = study.left_out or "No episode that was set aside could be made anew."
        return section("fit", TITLE, paragraph(marked(f"Left out. {reason}")))
    rows = [_row(each) for each in found.discrepancies[:MOST_ROWS]]
    header = ["real episodes", "observed", "replicas: mean", "95% of them", "p", "p, of all"]
    return section(
        "fit",
        TITLE,
        *(paragraph(line) for line in found.lines),
        *_pooled(study),
        table("Episodes set aside beside replicas", header, rows, numbers=(1, 2, 3, 4, 5)),
        paragraph(_how(found), kind="note"),
    )


def _pooled(study: Study) -> list[Html]:
    """Say what is tested where subjects have experts or tasks of their own."""
    if study.run.groups is None:
        return []
    return [paragraph("Here everybody is taken for one expert with one task; of single groups, "
                      "run.of_group(0).check() tells whether the model fits.")]  # fmt: skip


def _row(each: Discrepancy) -> list[str]:
    low, high = each.shown(each.low), each.shown(each.high)
    return [
        each.name,
        each.shown(each.observed),
        each.shown(each.expected),
        f"{low} to {high}",
        f"{each.p_value:.3f}",
        f"{each.adjusted:.3f}",
    ]


def _how(found: Check) -> str:
    return (
        f"Machines and experts were drawn from what {counted(found.training_episodes, 'episode')} "
        f"tell, and each made a replica of the other {counted(found.episodes, 'episode')} "
        f"({counted(found.steps, 'step')}), which it had not seen: the same starts, "
        f"{found.misfit.replicas:,} times. Were the model right, the real episodes would be one "
        "more replica. p is how often a replica is as far out in that row; p, of all, how often "
        "one is that far out in any row. States are those of the machine that was inferred from "
        f"the training episodes. The {MOST_ROWS} rows that are farthest out are shown."
    )
