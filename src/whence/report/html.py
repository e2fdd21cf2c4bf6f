"""What the page is written in: pieces of HTML, and numbers as people read them.

Whatever is not `Html` already is text, and is escaped.
"""

from __future__ import annotations

import math
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
    """Take over a drawing: SVG from `whence.drawing`, which escapes text."""
    return Html(svg)


def code(shown: str) -> Html:
    """Return a name set as code: a label, a state or a file."""
    return fill("<code>{shown}</code>", shown=shown)


def marked(text: str) -> Html:
    """Return a sentence with what stands between backquotes set as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return safe(text)
    return join(code(part) if at % 2 else part for at, part in enumerate(parts))


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


def retitled(one: Html, mark: str, more: str) -> Html:
    """Return a section with a mark behind its anchor, and more behind its heading."""
    found = re.match('<section id="([^"]*)"', one)
    assert found is not None
    moved = str(one)
    for old in (f'"{found[1]}"', f'"{found[1]}-title"'):
        moved = moved.replace(old, f'{old[:-1]}{mark}"')
    return Html(moved.replace("</h2>", f"{safe(more)}</h2>", 1))


def figure(svg: str, caption: str, *, least: float = 0.0, kind: str = "") -> Html:
    """Return a drawing in a box of its own, where it scrolls rather than shrink too far.

    Args:
        svg: the drawing.
        caption: what it shows.
        least: the smallest width in pixels at which it can be read.
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


def width(svg: str) -> float:
    """Return the width that a drawing has by itself, in pixels."""
    found = re.search(r'width="([0-9.]+)"', svg)
    return float(found[1]) if found else 0.0


def height(svg: str) -> float:
    """Return the height that a drawing has by itself, in pixels."""
    found = re.search(r'height="([0-9.]+)"', svg)
    return float(found[1]) if found else 0.0


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
    """Return parts that can be unfolded; on paper they always are."""
    return fill(
        "<details><summary>{summary}</summary>\n{parts}\n</details>",
        summary=summary,
        parts=join(parts, LINE),
    )


def share(value: float) -> str:
    """Return a probability as a percentage."""
    if 0 < value < 0.0005:
        return "<0.1%"
    if 0.9995 < value < 1:
        return ">99.9%"
    return f"{100 * value:.1f}%" if value not in (0.0, 1.0) else f"{100 * value:.0f}%"


def share_with_error(value: float, error: float) -> str:
    """Return a probability with its standard error, where it has one."""
    if not error or value < 0.0005:
        return share(value)
    return f"{share(value)} ± {100 * error:.1f}%" if error >= 0.0005 else f"{share(value)} ± <0.1%"


def nats(value: float) -> str:
    """Return a number of nats."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if 0 < value < 0.001:
        return "<0.001"
    if value and abs(value) < 0.05:
        return f"{value:.1g}".replace("-", "−")
    return f"{value:,.1f}".replace("-", "−")


def plain(value: float, digits: int = 4) -> str:
    """Return a number with so many significant digits, and infinity as a sign."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return "–" if math.isnan(value) else f"{value:.{digits}g}".replace("-", "−")


def fixed(value: float, digits: int) -> str:
    """Return a number with so many decimals, and infinity as a sign."""
    if not math.isfinite(value):
        return plain(value)
    return f"{value:,.{digits}f}".replace("-", "−")


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return `3 episodes`, `1 episode`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(parts: list[str]) -> str:
    """Return `a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def duration(seconds: float) -> str:
    """Return how long something took."""
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} min"
