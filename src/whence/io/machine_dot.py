"""Graphviz DOT: a machine as a directed graph, one edge from a state to another."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from whence.errors import FormatError
from whence.io.draft import Draft
from whence.io.labels import (
    Lines,
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

_TOKEN = re.compile(
    r"""(?P<blank>\s++|//[^\n]*+|\#[^\n]*+|/\*(?s:.*?)\*/)
    |(?P<text>"[^"\\]*+(?:\\(?s:.)[^"\\]*+)*+")
    |(?P<word>[^\W\d]\w*+|-?(?:\.[0-9]++|[0-9]++(?:\.[0-9]*+)?))
    |(?P<mark>->|--|[{}\[\];,=])""",
    re.VERBOSE,
)
_READ = frozenset(["alphabet", "label", "shape", "style"])  # attributes that matter
_PAIR = re.compile(r"\\(.)", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)|&(#?\w{1,10});", re.DOTALL)


def dumps(machine: RewardMachine) -> str:
    """Return the machine as a DOT graph."""
    check_writable(machine)
    lines = [
        "digraph machine {",
        f"  alphabet={_quoted(symbols_text(machine.alphabet))};",
        "  rankdir=LR;",
        "  node [shape=circle];",
        '  start [shape=point, style=invis, label=""];',
        "  start -> y0;",
    ]
    for state, name in enumerate(machine.state_names):
        label = f" [label={_quoted(name_text(name))}]" if machine.names is not None else ""
        lines.append(f"  y{state}{label};")
    for (source, target), arrows in by_ends(machine).items():
        label = _quoted("\n".join(map(label_text, arrows)))
        lines.append(f"  y{source} -> y{target} [label={label}];")
    return "\n".join([*lines, "}"]) + "\n"


def loads(text: str, source: str) -> RewardMachine:
    """Read a DOT graph.

    An edge holds labels such as `a, b | 1`, one a line. The edge out of an invisible or
    unlabelled node points to the initial state; without one, the first node is initial.

    Raises:
        FormatError: if the text is not such a graph.
    """
    return _Reader(text, source).machine()


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return '"' + escaped.replace("\n", "\\n") + '"'


class _Token(NamedTuple):
    """A word, a quoted text (what stands between the quotes) or a mark; "end" at the end."""

    kind: str
    text: str
    line: int


class _Edge(NamedTuple):
    line: int
    tail: str
    head: str
    label: str | None


class _Reader:
    """A recursive-descent parser of the part of DOT that draws machines."""

    def __init__(self, text: str, source: str) -> None:
        self._draft = Draft(source)
        self._tokens = self._tokenised(text)
        self._next = 0
        self._nodes: dict[str, tuple[dict[str, str], int]] = {}
        self._edges: list[_Edge] = []
        self._defaults: dict[str, dict[str, str]] = {"graph": {}, "node": {}, "edge": {}}

    def machine(self) -> RewardMachine:
        self._graph()
        points = {key for key, (attributes, _) in self._nodes.items() if _is_point(attributes)}
        for key, (attributes, line) in self._nodes.items():
            if key not in points:
                label = self._unescaped(attributes.get("label", r"\N"), key, line)
                name = read_name(label, self._draft.place(line))
                self._draft.names[key] = (name, line)
        for edge in self._edges:
            self._take_edge(edge, points)
        return self._draft.machine()

    def _take_edge(self, edge: _Edge, points: set[str]) -> None:
        place = self._draft.place(edge.line)
        if edge.head in points:
            raise FormatError(
                f"{place}: {shown(edge.head)} is the start point, not a state; lead the edge "
                "to a state"
            )
        if edge.tail in points:
            self._draft.start(edge.head, edge.line)
            return
        if edge.label is None:
            raise FormatError(
                f"{place}: the edge {edge.tail} -> {edge.head} has no label; write "
                '[label="symbol | reward"]'
            )
        for label in self._unescaped(edge.label, "", edge.line).strip("\n").split("\n"):
            self._draft.arrow(edge.line, edge.tail, edge.head, read_label(label, place))

    def _graph(self) -> None:
        self._expect("digraph", "the file begins with 'digraph machine {'")
        if self._peek().text != "{":
            self._word("a name for the graph, or '{'")
        self._expect("{", "statements stand between '{' and '}'")
        while not self._taken("}"):
            self._statement()
            self._taken(";")
        if self._peek().kind != "end":
            raise self._unexpected("nothing follows the closing '}'")

    def _statement(self) -> None:
        token = self._word("a node, an edge or '}'")
        keyword = token.text.lower() if token.kind == "word" else ""
        if keyword == "subgraph":
            raise FormatError(
                f"{self._draft.place(token.line)}: subgraphs cannot be read; write all nodes in "
                "one graph"
            )
        if keyword in self._defaults:
            attributes = self._attributes()
            self._defaults[keyword].update(attributes)
            if keyword == "graph":
                self._declare(attributes, token.line)
        elif self._taken("="):
            self._declare({token.text: self._word("a value").text}, token.line)
        else:
            self._nodes_or_edges(token)

    def _nodes_or_edges(self, first: _Token) -> None:
        chain = [first]
        while self._taken("->"):
            chain.append(self._word("a node after '->'"))
        for token in chain:
            self._nodes.setdefault(token.text, (dict(self._defaults["node"]), token.line))
        attributes = self._attributes()
        if len(chain) == 1:
            self._nodes[first.text][0].update(attributes)
            return
        label = {**self._defaults["edge"], **attributes}.get("label")
        for tail, head in pairwise(chain):
            self._edges.append(_Edge(tail.line, tail.text, head.text, label))

    def _attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self._taken("["):
            while not self._taken("]"):
                key = self._word("an attribute or ']'").text
                self._expect("=", "an attribute is written name=value")
                value = self._word("a value").text
                if key in _READ:
                    found[key] = value
                if not self._taken(","):
                    self._taken(";")
        return found

    def _declare(self, attributes: dict[str, str], line: int) -> None:
        if "alphabet" in attributes:
            self._draft.declare(self._unescaped(attributes["alphabet"], "", line), line)

    def _unescaped(self, raw: str, key: str, line: int) -> str:
        """Return what Graphviz would show for a label; `key` is the node's own."""

        def shown_as(match: re.Match[str]) -> str:
            escape, name = match.groups()
            if escape is None:
                return entity(name) or match[0]
            if escape in "GETHL":
                raise FormatError(
                    f"{self._draft.place(line)}: the escape \\{escape} cannot be read; write "
                    "the text itself, and a backslash as \\\\"
                )
            return {"n": "\n", "l": "\n", "r": "\n", "N": key}.get(escape, escape)

        return _ESCAPE.sub(shown_as, raw)

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _taken(self, mark: str) -> bool:
        token = self._peek()
        found = token.kind == "mark" and token.text == mark
        self._next += found
        return found

    def _expect(self, wanted: str, cure: str) -> None:
        token = self._peek()
        if token.kind in ("text", "end") or token.text.lower() != wanted:
            raise self._unexpected(cure)
        self._next += 1

    def _word(self, wanted: str) -> _Token:
        token = self._peek()
        if token.kind not in ("word", "text"):
            raise self._unexpected(f"write {wanted} here")
        self._next += 1
        return token

    def _unexpected(self, cure: str) -> FormatError:
        token = self._peek()
        found = "the file ends" if token.kind == "end" else f"{shown(token.text)} is unexpected"
        return FormatError(f"{self._draft.place(token.line)}: {found}; {cure}")

    def _tokenised(self, text: str) -> list[_Token]:
        lines, position, tokens = Lines(text), 0, []
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise FormatError(
                    f"{self._draft.place(lines.of(position))}: "
                    f"{shown(text[position : position + 20])} cannot be read; quote names and "
                    "close every quote and comment"
                )
            kind = match.lastgroup or ""
            if kind != "blank":
                found = _unwrapped(match[0][1:-1]) if kind == "text" else match[0]
                tokens.append(_Token(kind, found, lines.of(position)))
            position = match.end()
        return [*tokens, _Token("end", "", lines.of(len(text)))]


def _unwrapped(text: str) -> str:
    """Return a quoted text as Graphviz reads it: quotes bare, wrapped lines joined."""
    return _PAIR.sub(lambda pair: {'"': '"', "\n": ""}.get(pair[1], pair[0]), text)


def _is_point(attributes: dict[str, str]) -> bool:
    """Whether a node is the start point rather than a state."""
    return (
        attributes.get("shape") == "point"
        or "invis" in attributes.get("style", "")
        or not attributes.get("label", r"\N").strip()
    )
