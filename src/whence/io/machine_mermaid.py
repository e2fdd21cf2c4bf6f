"""Mermaid: a machine as a flowchart, one link from a state to another."""

from __future__ import annotations

import re

from whence.errors import FormatError
from whence.io.draft import Draft
from whence.io.labels import (
    by_ends,
    check_writable,
    entity,
    label_text,
    name_text,
    read_label,
    read_name,
    shown,
    symbols_text,
)
from whence.model.machine import RewardMachine

_NAMED = {'"': "#quot;", "&": "#amp;", "<": "#lt;", ">": "#gt;"}
_ESCAPED = re.compile(r"[!-*/:-@\[-`{}~ﬂ¶]|^[+-]|(?<![0-9])\.|\.(?![0-9])")
_ENTITY = re.compile(r"#(\w{1,10});")
_HEADER = re.compile(r"(?:flowchart|graph)(?:\s++(?:TB|TD|BT|RL|LR))?+\s*+;?+")
_ALPHABET = re.compile(r"%%\s*+alphabet\s*+:(.*+)")
_IGNORED = re.compile(r"(?:style|classDef|class|linkStyle|click|direction)\s")
_BREAK = re.compile(r"<br\s*+/?>")
_TEXT = r'\s*+("[^"]*+"|[^"()\[\]{}|<>]*+)\s*+'
_NODE = re.compile(rf"\s*+(\w++)(?:[(\[{{]{{1,3}}+{_TEXT}[)\]}}]{{1,3}}+)?+(?:::: *+\w++)?+\s*+")
_LINK = re.compile(
    rf"(?:(?:--+|==+|-\.+-)>\s*+(?:\|{_TEXT}\|)?+"
    r'|(?:--|==|-\.)\s*+("[^"]*+"|[^"|<>=-]*+)\s*+(?:--+|==+|\.+-)>)'
)


def dumps(machine: RewardMachine) -> str:
    """Return the machine as a Mermaid flowchart."""
    check_writable(machine)
    lines = [
        "flowchart LR",
        f"  %% alphabet: {_escaped(symbols_text(machine.alphabet))}".rstrip(),
        '  start((" "))',
        "  style start fill:none,stroke:none",
    ]
    for state, name in enumerate(machine.state_names):
        lines.append(f'  y{state}(("{_escaped(name_text(name))}"))')
    lines.append("  start --> y0")
    for (source, target), arrows in by_ends(machine).items():
        label = "<br>".join(_escaped(label_text(arrow)) for arrow in arrows)
        link = "-->" if source == target else "--->"  # the long one leaves room for loops
        lines.append(f'  y{source} {link}|"{label}"| y{target}')
    return "\n".join(lines) + "\n"


def loads(text: str, source: str) -> RewardMachine:
    """Read a Mermaid flowchart.

    A link holds labels such as `"a, b | 1"`, with `<br>` between them. The link out of a node
    with a blank text points to the initial state; without one, the first node is initial.

    Raises:
        FormatError: if the text is not such a flowchart.
    """
    reader = _Reader(source)
    for line, statement in enumerate(text.split("\n"), start=1):
        reader.read(statement.strip(), line)
    return reader.machine()


def _escaped(text: str) -> str:
    """Write as entity codes what Mermaid, Markdown or HTML would not show as it is."""
    return _ESCAPED.sub(lambda found: _NAMED.get(found[0], f"#{ord(found[0])};"), text)


def _unescaped(text: str) -> str:
    def shown_as(match: re.Match[str]) -> str:
        name = match[1]
        return entity(f"#{name}" if name[0] in "0123456789" else name) or match[0]

    return _ENTITY.sub(shown_as, text)


class _Reader:
    """A parser that takes one line at a time."""

    def __init__(self, source: str) -> None:
        self._draft = Draft(source)
        self._begun = False
        self._nodes: dict[str, tuple[str, int]] = {}
        self._links: list[tuple[int, str, str, str]] = []

    def read(self, statement: str, line: int) -> None:
        """Take a line, stripped of blanks."""
        declared = _ALPHABET.fullmatch(statement)
        if declared is not None:
            self._draft.declare(_unescaped(declared[1]), line)
        elif not statement or statement.startswith("%%") or _IGNORED.match(statement):
            return
        elif self._begun:
            self._statement(statement, line)
        elif _HEADER.fullmatch(statement):
            self._begun = True
        else:
            raise FormatError(
                f"{self._draft.place(line)}: {shown(statement)} does not open a flowchart; "
                "begin with 'flowchart LR'"
            )

    def machine(self) -> RewardMachine:
        """Return the machine that the lines draw."""
        points = {key for key, (text, _) in self._nodes.items() if not text.strip()}
        for key, (text, line) in self._nodes.items():
            if key not in points:
                name = read_name(_unescaped(text), self._draft.place(line))
                self._draft.names[key] = (name, line)
        for line, tail, head, label in self._links:
            self._take_link(line, tail, head, label, points)
        return self._draft.machine()

    def _take_link(self, line: int, tail: str, head: str, label: str, points: set[str]) -> None:
        place = self._draft.place(line)
        if head in points:
            raise FormatError(
                f"{place}: {shown(head)} is the start point, not a state; lead the link to a state"
            )
        if tail in points:
            self._draft.start(head, line)
        elif not label:
            raise FormatError(
                f"{place}: the link {tail} --> {head} has no label; write "
                f'{tail} -->|"symbol | reward"| {head}'
            )
        else:
            for said in _BREAK.split(label):
                self._draft.arrow(line, tail, head, read_label(_unescaped(said), place))

    def _statement(self, text: str, line: int) -> None:
        position = 0
        while position < len(text):
            tail, position = self._node(text, position, line)
            link = _LINK.match(text, position)
            while link is not None:
                head, position = self._node(text, link.end(), line)
                self._links.append((line, tail, head, _bare(link[1] or link[2] or "")))
                tail, link = head, _LINK.match(text, position)
            if text[position : position + 1] not in (";", ""):
                raise self._unreadable(text[position:], line)
            position += 1

    def _node(self, text: str, position: int, line: int) -> tuple[str, int]:
        match = _NODE.match(text, position)
        if match is None or match[1] == "subgraph":
            raise self._unreadable(text[position:], line)
        key, said = match[1], match[2]
        if said is not None or key not in self._nodes:
            self._nodes[key] = (key if said is None else _bare(said), line)
        return key, match.end()

    def _unreadable(self, text: str, line: int) -> FormatError:
        return FormatError(
            f"{self._draft.place(line)}: {shown(text)} cannot be read; write states as "
            'y0(("name")) and arrows as y0 -->|"symbol | reward"| y1'
        )


def _bare(text: str) -> str:
    text = text.strip()
    return text[1:-1].strip() if text.startswith('"') else text
