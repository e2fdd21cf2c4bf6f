"""The grammar of rule files in the manner of Toro Icarte's `reward_machines`."""

from __future__ import annotations

import json
import math
import re
import warnings
from typing import NamedTuple

from whence.errors import FormatError, WhenceWarning
from whence.io.labels import is_text, quoted, shown

END = -1  # the number that the repository's loader gives to terminal states
_INITIAL = re.compile(r"(-?[0-9]{1,9})\s*+(?:#(.*+))?+")
_TERMINAL = re.compile(r"\[([^\]#]*+)\]\s*+(?:#(.*+))?+")
_INTEGER = re.compile(r"-?[0-9]{1,9}")
_RULE = re.compile(
    r"""\(\s*+(-?[0-9]{1,9})\s*+,\s*+(-?[0-9]{1,9})\s*+,\s*+('[^'\\]*+'|"[^"\\]*+")\s*+,"""
    r"\s*+(\w++)\s*+\(([^()]*+)\)\s*+\)\s*+(?:#.*+)?+"
)
_FIELD = re.compile(r"(?:^|\|)\s*+(alphabet|names|copies)\s*+:")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?")
_ITEM = re.compile(r"[^,|]++")
_JSON = json.JSONDecoder()
_NOT_A_PROPOSITION = frozenset("!'\"\\#(), \t")


class Formula(NamedTuple):
    """Where a formula holds: at the symbols in `at`, and at all others except those in `but`.

    If `but` is None it holds nowhere else. A step without a symbol, None, is in neither.
    """

    at: set[str]
    but: set[str] | None
    said: tuple[str, ...]

    def hits(self, labels: set[str | None]) -> set[str | None]:
        """Return the labels at which the formula holds."""
        return labels & self.at if self.but is None else labels - self.but


class Rule(NamedTuple):
    """One line of the file: where the formula holds, `source` leads to `target` and is paid."""

    line: int
    source: int
    target: int
    formula: Formula
    reward: float


class RuleFile(NamedTuple):
    """The content of a rule file.

    Attributes:
        source: the file's name, for messages.
        initial: the initial state.
        terminal: the terminal states.
        rules: the rules by source, in order.
        pairs: the last line for each source and target; all ends count as the target `END`.
        fields: what the comments of the first two lines declare.
        first: the line where each state is first named.
        heads: the lines of the initial and of the terminal states.
    """

    source: str
    initial: int
    terminal: frozenset[int]
    rules: dict[int, list[Rule]]
    pairs: dict[tuple[int, int], int]
    fields: dict[str, tuple[str, ...]]
    first: dict[int, int]
    heads: tuple[int, int]

    def head(self, which: int) -> str:
        """Return the place of the first (0) or the second (1) line."""
        return f"{self.source}, line {self.heads[which]}"

    def is_end(self, state: int) -> bool:
        """Whether a state is terminal."""
        return state == END or state in self.terminal

    def place(self, state: int) -> str:
        """Return where a state is first named."""
        return f"{self.source}, line {self.first.get(state, 1)}"


def parse(text: str, source: str) -> RuleFile:
    """Return the content of a rule file."""
    lines = [
        (line, content.strip())
        for line, content in enumerate(text.split("\n"), start=1)
        if content.strip() and not content.lstrip().startswith("#")
    ]
    if len(lines) < 2:
        raise FormatError(
            f"{source}, line {len(text.splitlines()) + 1}: the file ends; it begins with the "
            "initial state, such as 0, and on the next line the terminal states, such as [2]"
        )
    (one, initial), (two, terminal) = lines[:2]
    places = f"{source}, line {one}", f"{source}, line {two}"
    start, remark = _matched(_INITIAL, initial, places[0], "the initial state, such as 0")
    ends, other = _matched(_TERMINAL, terminal, places[1], "the terminal states, such as [2]")
    fields = {**_fields(remark, places[0]), **_fields(other, places[1])}
    listed = _integers(ends, places[1])
    first = {**dict.fromkeys(listed, two), int(start): one}
    content = RuleFile(source, int(start), frozenset(listed), {}, {}, fields, first, (one, two))
    for line, rule in lines[2:]:
        _take(_rule(rule, f"{source}, line {line}", line), content)
    return content


def _matched(pattern: re.Pattern[str], line: str, place: str, wanted: str) -> tuple[str, str]:
    match = pattern.fullmatch(line)
    if match is None:
        raise FormatError(f"{place}: {shown(line)} cannot be read; write {wanted}")
    return match[1], match[2] or ""


def _integers(text: str, place: str) -> tuple[int, ...]:
    items = [item.strip() for item in text.split(",")]
    if items[-1] == "":
        items.pop()
    for item in items:
        if not _INTEGER.fullmatch(item):
            raise FormatError(
                f"{place}: terminal state {shown(item)} is not a whole number; write a list such "
                "as [2, 3]"
            )
    return tuple(dict.fromkeys(map(int, items)))


def _fields(comment: str, place: str) -> dict[str, tuple[str, ...]]:
    """Read what the comment says in fields such as `| names: a, b`."""
    found = {}
    match = _FIELD.search(comment)
    while match is not None:
        end = comment.find("|", match.end())
        values: tuple[str, ...] = ()
        if comment[match.end() : end if end >= 0 else None].strip():
            values, end = _scan_symbols(comment, match.end(), place)
        if len(set(values)) < len(values):
            raise FormatError(f"{place}: {match[1]!r} names something twice; name each once")
        found[match[1]] = values
        match = _FIELD.search(comment, end) if end >= 0 else None
    return found


def _rule(text: str, place: str, line: int) -> Rule:
    match = _RULE.fullmatch(text)
    if match is None:
        raise FormatError(
            f"{place}: {shown(text)} is not a rule; write (0,1,'a&!b',ConstantRewardFunction(1))"
        )
    source, target, formula, function, amount = match.groups()
    if function != "ConstantRewardFunction":
        raise FormatError(
            f"{place}: {function} is not a constant reward, and a reward machine here pays "
            "constants only; write ConstantRewardFunction(number)"
        )
    reward = _read_reward(amount, place)
    return Rule(line, int(source), int(target), _formula(formula[1:-1], place), reward)


def _formula(text: str, place: str) -> Formula:
    """Read a disjunction of conjunctions, assuming that at most one proposition holds."""
    at: set[str] = set()
    but: set[str] | None = None
    said: dict[str, None] = {}
    for conjunction in text.split("|"):
        wanted, unwanted = _conjunction(conjunction, said, place)
        if "True" in unwanted or len(wanted) > 1 or not wanted.isdisjoint(unwanted):
            continue
        if wanted:
            at |= wanted
        else:
            but = unwanted if but is None else but & unwanted
    return Formula(at, but if but is None else but - at, tuple(said))


def _conjunction(text: str, said: dict[str, None], place: str) -> tuple[set[str], set[str]]:
    """Return the propositions that must hold and those that must not; add them to `said`.

    A false constant is returned as `True` among those that must not hold.
    """
    wanted: set[str] = set()
    unwanted: set[str] = set()
    for literal in map(str.strip, text.split("&")):
        proposition = literal.lstrip("! ")
        holds = literal.count("!", 0, len(literal) - len(proposition)) % 2 == 0
        if not proposition or not _NOT_A_PROPOSITION.isdisjoint(proposition):
            raise FormatError(
                f"{place}: {shown(literal)} is not a proposition; write formulas such as "
                "'a&!b|c', without parentheses"
            )
        if proposition not in ("True", "False"):
            (wanted if holds else unwanted).add(proposition)
            said[proposition] = None
        elif holds != (proposition == "True"):
            unwanted.add("True")
    return wanted, unwanted


def _take(rule: Rule, content: RuleFile) -> None:
    """Add a rule, unless it leaves a terminal state."""
    if content.is_end(rule.source):
        return
    content.first.setdefault(rule.source, rule.line)
    content.first.setdefault(rule.target, rule.line)
    content.rules.setdefault(rule.source, []).append(rule)
    pair = rule.source, END if content.is_end(rule.target) else rule.target
    if pair in content.pairs:
        warnings.warn(
            f"{content.source}, line {rule.line}: line {content.pairs[pair]} leads from state "
            f"{rule.source} to the same state, all ends being one; both rules are read, but the "
            "repository's loader keeps only the last; to suit it, lead one to a copy of the state",
            WhenceWarning,
            stacklevel=2,
        )
    content.pairs[pair] = rule.line


def _scan_symbols(text: str, start: int, place: str) -> tuple[tuple[str, ...], int]:
    """Read symbols up to a bar or the end of `text`; return them and where they end."""
    symbols, position = [], start
    while True:
        symbol, position = _scan_symbol(text, position, place)
        symbols.append(symbol)
        if position == len(text) or text[position] == "|":
            return tuple(symbols), position
        position += 1


def _scan_symbol(text: str, start: int, place: str) -> tuple[str, int]:
    """Read one symbol; the position returned is that of a comma, a bar or the end."""
    position = start
    while position < len(text) and text[position].isspace():
        position += 1
    if text[position : position + 1] != '"':
        item = _ITEM.match(text, position)
        end = position if item is None else item.end()
        return _read_symbol(text[position:end].strip(), place), end
    symbol, position = _read_quoted(text, position, place)
    item = _ITEM.match(text, position)
    end = position if item is None else item.end()
    _read_symbol(quoted(symbol) + text[position:end].strip(), place)
    return symbol, end


def _read_symbol(text: str, place: str) -> str:
    """Return the symbol that `text` stands for."""
    if not text.startswith('"'):
        if not text:
            raise FormatError(f"{place}: an empty symbol; write symbols as in 'a, b | 1'")
        return text
    symbol, end = _read_quoted(text, 0, place)
    if end < len(text):
        raise FormatError(
            f"{place}: {shown(text[end:])} follows the symbol {shown(symbol)}; separate symbols "
            "with commas"
        )
    return symbol


def _read_quoted(text: str, start: int, place: str) -> tuple[str, int]:
    try:
        value, end = _JSON.raw_decode(text, start)
    except ValueError:
        value, end = "", start
    if not isinstance(value, str) or not value or not is_text(value):
        raise FormatError(
            f"{place}: {shown(text[start:])} does not begin with a non-empty JSON string; "
            'write one, such as "a, b"'
        )
    return value, end


def _read_reward(text: str, place: str) -> float:
    """Read a finite decimal number."""
    said = text.strip()
    value = float(said) if _NUMBER.fullmatch(said) else math.nan
    if not math.isfinite(value):
        raise FormatError(
            f"{place}: the reward {shown(said)} is not a finite number; write one, such "
            "as 1 or -0.5"
        )
    return value
