"""The reader of TikZ pictures of machines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from whence.errors import FormatError
from whence.io.draft import Draft
from whence.io.labels import Lines, entity, read_name, read_reward, read_symbol, shown
from whence.model.machine import RewardMachine

_BEGIN, _END = "\\begin{tikzpicture}", "\\end{tikzpicture}"
_ALPHABET = re.compile(r"^[ \t]*+%[ \t]*+alphabet[ \t]*+:([^\n]*+)", re.MULTILINE)
_COMMENT = re.compile(r"(\\.)|%[^\n]*+", re.DOTALL)
_TOKEN = re.compile(
    r"\s++|(?P<command>\\(?:[A-Za-z]++|.))|(?P<open>[{\[(])|(?P<end>;)|(?P<word>[^\s\\{}\[\]();]++)",
    re.DOTALL,
)
_NESTED = re.compile(r"\\.|[{}\])]", re.DOTALL)
_TEX = re.compile(
    r"\\symbol\s*+\{(?P<code>[0-9]{1,7})\}|\\(?P<command>[A-Za-z]++)\s*+|\\(?P<escape>.)"
    r"|(?P<blank>\s++)|(?P<char>.)",
    re.DOTALL,
)
_CLOSING = {"{": "}", "[": "]", "(": ")"}
_KINDS = {"{": "group", "[": "options", "(": "place"}
_CHARACTERS = {
    "textbackslash": "\\",
    "textasciicircum": "^",
    "textasciitilde": "~",
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "ast": "*",
    "star": "*",
}
_WRAPPERS = frozenset(
    ["mbox", "text", "textrm", "textit", "textbf", "texttt", "mathit", "mathrm", "mathbf"]
)
_FORMULA = {"vee": ",", "lor": ",", "mid": "|", "vert": "|"}
_SPACES = frozenset(["quad", "qquad", " ", ",", ";", ":", "!"])


class _Token(NamedTuple):
    """A command, word, place, options, group (what its brackets hold) or statement end."""

    kind: str
    text: str
    line: int


def read_picture(text: str, source: str) -> RewardMachine:
    """Return the machine of the one `tikzpicture` in `text`."""
    draft = Draft(source)
    lines = Lines(text)
    for match in _ALPHABET.finditer(text):
        draft.declare(match[1], lines.of(match.start(1)))
    bare = _COMMENT.sub(lambda match: match[1] or "", text)
    statement: list[_Token] = []
    for token in _tokens(bare, draft):
        if token.kind == "end":
            _take(statement, draft)
            statement = []
        else:
            statement.append(token)
    if statement:
        raise FormatError(
            f"{draft.place(statement[0].line)}: {shown(statement[0].text)} begins a statement "
            "without an end; close it with ';'"
        )
    return draft.machine()


def _tokens(text: str, draft: Draft) -> Iterator[_Token]:
    """Cut the picture into tokens; its own options are left out."""
    lines = Lines(text)
    start, end = _limits(text, draft)
    position = first = start
    while position < end:
        match = _TOKEN.match(text, position, end)
        if match is None:
            raise FormatError(
                f"{draft.place(lines.of(position))}: {shown(text[position])} closes nothing; "
                "remove it"
            )
        kind, found, line = match.lastgroup, match[0], lines.of(position)
        position = match.end()
        if kind == "open":
            closing = _closing(text, match.start(), end)
            if closing < 0:
                raise FormatError(
                    f"{draft.place(line)}: {found!r} is not closed; add {_CLOSING[found]!r}"
                )
            kind, found = _KINDS[found], text[position:closing]
            position = closing + 1
        elif kind is None:
            first += (match.start() == first) * len(found)
            continue
        if kind != "options" or match.start() > first:
            yield _Token(kind, found, line)


def _limits(text: str, draft: Draft) -> tuple[int, int]:
    """Return where the inside of the one picture begins and ends."""
    start = text.find(_BEGIN)
    if start < 0:
        raise FormatError(f"{draft.place(1)}: no picture; the machine stands after {_BEGIN}")
    second = text.find(_BEGIN, start + 1)
    if second >= 0:
        line = Lines(text).of(second)
        raise FormatError(f"{draft.place(line)}: a second picture; keep one machine a file")
    end = text.find(_END, start)
    if end < 0:
        line = Lines(text).of(start)
        raise FormatError(f"{draft.place(line)}: the picture does not end; close it with {_END}")
    return start + len(_BEGIN), end


def _closing(text: str, start: int, end: int) -> int:
    """Return where the bracket at `start` is closed, or -1."""
    wanted, depth = _CLOSING[text[start]], 0
    for match in _NESTED.finditer(text, start + 1, end):
        if match[0] == wanted and depth == 0:
            return match.start()
        depth += (match[0] == "{") - (match[0] == "}")
        if depth < 0:
            break
    return -1


def _take(statement: list[_Token], draft: Draft) -> None:
    head = statement[0] if statement else None
    if head is None:
        return
    if head == ("command", "\\node", head.line):
        _take_node(statement, draft)
    elif head.kind == "command" and head.text in ("\\path", "\\draw"):
        _take_path(statement, draft)
    else:
        raise _unreadable(head, draft)


def _take_node(statement: list[_Token], draft: Draft) -> None:
    key, text, at, initial = "", "", False, False
    for token in statement[1:]:
        if token.kind == "options":
            initial |= _is_initial(token.text)
        elif token.kind == "place":
            key = key if at else token.text.strip()
        elif token.kind == "group":
            text = token.text
        elif token.text != "at":
            raise _unreadable(token, draft)
        at = token.text == "at"
    line = statement[0].line
    if not key or not text:
        raise FormatError(
            f"{draft.place(line)}: a node without a key or a text; write "
            "\\node[state] (0) {name};"
        )
    if key in draft.names:
        raise FormatError(f"{draft.place(line)}: a second node ({key}); rename one of the two")
    draft.names[key] = (_name(text, draft.place(line)), line)
    if initial:
        draft.start(key, line)


def _is_initial(options: str) -> bool:
    keys = (option.partition("=")[0].strip() for option in options.split(","))
    return any(re.fullmatch("initial( (by arrow|above|below|left|right))?", key) for key in keys)


def _take_path(statement: list[_Token], draft: Draft) -> None:
    """Read `(a) edge node {label} (b)`; further edges leave from (a) too, as in TikZ."""
    source, in_node = "", False
    labels: list[_Token] | None = None
    for token in statement[1:]:
        if token.kind == "options" or (in_node and token.kind != "group"):
            continue
        if token.kind == "group" and in_node and labels is not None:
            labels.append(token)
            in_node = False
        elif token.kind == "place" and labels is None:
            source = token.text.strip()
        elif token.kind == "place" and labels:
            _take_arrows(source, token.text.strip(), labels, draft)
            labels = None
        elif token.text == "edge" and source and labels is None:
            labels = []
        elif token.text == "node" and labels is not None:
            in_node = True
        else:
            raise _unreadable(token, draft)
    if labels is not None:
        raise _unreadable(statement[-1], draft)


def _take_arrows(source: str, target: str, labels: list[_Token], draft: Draft) -> None:
    for token in labels:
        for label in _labels(token.text, draft.place(token.line)):
            draft.arrow(token.line, source, target, label)


def _unreadable(token: _Token, draft: Draft) -> FormatError:
    return FormatError(
        f"{draft.place(token.line)}: {shown(token.text)} cannot be read here; write states as "
        "\\node[state] (0) {name}; and arrows as "
        "\\path[->] (0) edge node {$symbol \\mid reward$} (1);"
    )


def _name(text: str, place: str) -> str:
    """Return the name that a node's text shows; `$y_0$` is y0."""
    text = text.strip()
    if len(text) > 1 and text.startswith("$") and text.endswith("$"):
        text = text[1:-1].replace("_", "")
    return read_name("".join(c for c, _ in _characters(text, place, plain=True)), place)


def _labels(text: str, place: str) -> list[tuple[tuple[str, ...] | None, float]]:
    """Read the labels of an arrow; without a bar, a label is a reward for every symbol."""
    found: list[tuple[tuple[str, ...] | None, float]] = []
    parts, bar = [[""]], False
    for character, plain in [*_characters(text, place), ("\n", False)]:
        if plain or character not in "\n,| $":
            parts[-1].append(character)
        elif character == "\n" and (any(map(any, parts)) or not found):
            found.append(_label(["".join(part) for part in parts], bar, place))
            parts, bar = [[""]], False
        elif character == "," and not bar:
            parts.append([])
        elif character in "|," and bar:
            parts[-1].append(character)
        elif character == "|":
            parts.append([])
            bar = True
    return found


def _label(parts: list[str], bar: bool, place: str) -> tuple[tuple[str, ...] | None, float]:
    if not bar and len(parts) > 1:
        raise FormatError(
            f"{place}: the label of {shown(', '.join(parts))} has no reward; write "
            "$a \\vee b \\mid 1$"
        )
    symbols = tuple(read_symbol(part, place) for part in parts[:-1]) if bar else None
    return symbols, read_reward(parts[-1], place)


def _characters(text: str, place: str, plain: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield what TeX shows, and whether it is plain text rather than part of a formula.

    In a formula a line break reads as a newline, a disjunction as a comma, a divider as a bar.
    """
    depth, inside, wrapped = 0, 0, False
    for match in _TEX.finditer(text):
        command, character = match["command"], match["char"]
        if character == "{":
            depth += 1
            inside = depth if wrapped and not inside else inside
        elif character == "}":
            inside = 0 if inside == depth else inside
            depth -= 1
        elif command not in _WRAPPERS:
            shown_as, is_text = _shown_by(match, place)
            yield shown_as, is_text or plain or inside > 0
        wrapped = command in _WRAPPERS


def _shown_by(match: re.Match[str], place: str) -> tuple[str, bool]:
    """Return what one piece of TeX shows, and whether it is plain text wherever it stands."""
    command, escape, code = match["command"], match["escape"], match["code"]
    if code is not None:
        return entity(f"#{code}") or "", True
    if match["blank"] or command in _SPACES or (escape and escape in _SPACES):
        return " ", False
    if escape is not None:
        return ("\n", False) if escape == "\\" else (escape, True)
    if command in _CHARACTERS:
        return _CHARACTERS[command], True
    if command in _FORMULA:
        return _FORMULA[command], False
    if command is not None:
        raise FormatError(
            f"{place}: the command \\{shown(command)[1:-1]} cannot be read; write the text itself"
        )
    return match["char"], False
