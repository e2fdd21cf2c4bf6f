"""Who acted: groups of subjects, and the expert that each of them is."""

from __future__ import annotations

from whence.report.html import Html, details, paragraph, section, share, table
from whence.report.study import Study
from whence.runs.groups import Subject

MOST_OPEN = 24  # subjects whose table is not folded away


def subjects(study: Study) -> Html:
    """Return the section; nothing where nothing was asked of single subjects."""
    found = study.run.groups
    if found is None:
        return Html("")
    rows = [_row(each) for each in found.subjects]
    header = ["subject", "group", "belongs there", "alpha, 95% interval", "lapse, 95% interval"]
    whole = table("Subjects, and the expert that each of them is", header, rows, numbers=(2,))
    if len(rows) > MOST_OPEN:
        whole = details(f"All {len(rows)} subjects", whole)
    said = (note[:1].upper() + note[1:] + "." for note in found.notes)
    return section("subjects", "Who acted", paragraph(" ".join(said)), whole)


def _row(each: Subject) -> list[str]:
    alpha, lapse = each.alpha, each.lapse
    return [
        each.name,
        str(each.group + 1),
        share(each.share),
        f"{alpha.mean:.3g} ({alpha.low:.3g} to {alpha.high:.3g})",
        f"{lapse.mean:.3f} ({lapse.low:.3f} to {lapse.high:.3f})",
    ]
