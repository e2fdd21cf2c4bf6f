"""Pieces of HTML. Whatever is not `Html` already is text, and is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from whence.drawing import text


class Html(str):
    """A piece of HTML that is safe as it is; made by the functions of this module."""

    __slots__ = ()


LINE = Html("\n")
SHORT = 8  # rows up to which a table stays on one page of paper


def safe(value: str) -> Html:
    """Return a piece of HTML as it is, and text escaped, hidden characters spelled out."""
    return value if isinstance(value, Html) else Html(text.xml(value))


def fill(template: str, **values: str) -> Html:
    """Return a template with its `{names}` filled in; only the template itself is trusted."""
    return Html(template.format_map({name: safe(value) for name, value in values.items()}))


def join(parts: Iterable[str], between: str = "") -> Html:
    """Return pieces one after the other."""
    return Html(safe(between).join(safe(part) for part in parts))


def drawn(svg: str) -> Html:
    """Take over a drawing: SVG from `whence.drawing` or `report.chart`, which escape text."""
    return Html(svg)


def code(shown: str) -> Html:
    """Return a name as such: a label, a state or a file."""
    return fill("<code>{shown}</code>", shown=shown)


def sequence(labels: Iterable[str]) -> Html:
    """Return labels in the order in which they are read."""
    return fill('<span class="sequence">{all}</span>', all=join(map(code, labels), ", "))


def paragraph(*parts: str, kind: str = "") -> Html:
    """Return a paragraph; `kind` is its class."""
    attribute = fill(' class="{kind}"', kind=kind) if kind else Html("")
    return fill("<p{attribute}>{text}</p>", attribute=attribute, text=join(parts))


def bullets(items: Iterable[str]) -> Html:
    """Return a list."""
    return fill("<ul>{all}</ul>", all=join(fill("<li>{item}</li>", item=item) for item in items))


def section(anchor: str, title: str, *parts: str) -> Html:
    """Return a section of the page with its heading."""
    return fill(
        '<section id="{anchor}" aria-labelledby="{anchor}-title">'
        '<h2 id="{anchor}-title">{title}</h2>\n{parts}\n</section>\n',
        anchor=anchor,
        title=title,
        parts=join(parts, LINE),
    )


def figure(svg: str, caption: str, *, least: float = 0.0, kind: str = "") -> Html:
    """Return a drawing in a box of its own, in which it scrolls rather than become too small.

    Args:
        svg: the drawing.
        caption: what it shows.
        least: the least width in pixels at which it can be read.
        kind: a further class.
    """
    return fill(
        '<figure class="drawing {kind}"><div class="scroll" tabindex="0" role="group" '
        'aria-label="{title}" style="--least:{least}px">{svg}</div>'
        "<figcaption>{caption}</figcaption></figure>",
        kind=kind,
        least=f"{least:.0f}",
        svg=drawn(svg),
        title=_title(svg),
        caption=caption,
    )


def _title(svg: str) -> Html:
    """Return the title of a drawing, which is escaped there already."""
    found = re.search("<title>(.*?)</title>", svg, re.DOTALL)
    return Html(found[1] if found else "Drawing")


def table(
    caption: str,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    numbers: Iterable[int] = (),
) -> Html:
    """Return a table; the first cell of each row is its heading.

    Args:
        caption: what the table says; screen readers announce it.
        header: a heading for each column.
        rows: the cells.
        numbers: the columns that are set flush right.
    """
    right, lines = set(numbers), list(rows)
    heads = join(
        fill('<th scope="col"{kind}>{cell}</th>', cell=cell, kind=_kind(at in right))
        for at, cell in enumerate(header)
    )
    return fill(
        '<div class="scroll" tabindex="0" role="group" aria-label="{caption}">'
        '<table class="{kind}"><caption>{caption}</caption><thead><tr>{heads}</tr></thead>\n'
        "<tbody>{rows}</tbody></table></div>",
        caption=caption,
        kind="short" if len(lines) <= SHORT else "long",
        heads=heads,
        rows=join((_row(row, right) for row in lines), LINE),
    )


def _row(cells: Sequence[str], right: set[int]) -> Html:
    first = fill('<th scope="row"{kind}>{cell}</th>', cell=cells[0], kind=_kind(0 in right))
    others = (
        fill("<td{kind}>{cell}</td>", cell=cell, kind=_kind(at in right))
        for at, cell in enumerate(cells[1:], start=1)
    )
    return fill("<tr>{first}{others}</tr>", first=first, others=join(others))


def _kind(number: bool) -> Html:
    return Html(' class="number"' if number else "")


def details(summary: str, *parts: str) -> Html:
    """Return what can be unfolded; on paper it is."""
    return fill(
        "<details><summary>{summary}</summary>\n{parts}\n</details>",
        summary=summary,
        parts=join(parts, LINE),
    )
