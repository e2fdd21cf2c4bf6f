"""Who acted: groups of subjects, and the expert that each of them is."""

from __future__ import annotations

from whence.drawing import machine_svg
from whence.report.html import Html, details, figure, join, marked, paragraph, share, table
from whence.report.study import Study
from whence.runs.subjects import Group, Groups, Subject

MOST_OPEN = 24  # subjects whose table is not folded away


def subjects(study: Study) -> Html:
    """Return what is known of single subjects; nothing where that was not asked for."""
    found = study.run.groups
    if found is None:
        return Html("")
    several = len(found.groups) > 1
    parts = [_group(number, each, several) for number, each in enumerate(found.groups, start=1)]
    rows = [_row(each) for each in found.subjects]
    header = ["subject", "group", "belongs there", "alpha, 95% interval", "lapse, 95% interval"]
    whole = table("Subjects, and the expert that each of them is", header, rows, numbers=(2,))
    if len(rows) > MOST_OPEN:
        whole = details(f"All {len(rows)} subjects", whole)
    return join((paragraph(_counts(found)), *parts, whole))


def _counts(found: Groups) -> str:
    return " ".join(note[:1].upper() + note[1:] + "." for note in found.notes)


def _group(number: int, each: Group, several: bool) -> Html:
    if not several:
        return Html("")
    said = paragraph(marked(f"Group {number}, {each.called}: {each.answer}"))
    caption = (
        f"The likeliest machine of group {number} ({share(float(each.posterior.weights[0]))})"
    )
    return join((said, figure(machine_svg(each.best), caption)))


def _row(each: Subject) -> list[str]:
    alpha, lapse = each.alpha, each.lapse
    return [
        each.name,
        str(each.group + 1),
        share(each.share),
        f"{alpha.mean:.3g} ({alpha.low:.3g} to {alpha.high:.3g})",
        f"{lapse.mean:.3f} ({lapse.low:.3f} to {lapse.high:.3f})",
    ]
