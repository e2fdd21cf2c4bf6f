"""Graphviz DOT: a machine as a directed graph, one edge from a state to another."""

from __future__ import annotations

from whence.io.labels import by_ends, check_writable, label_text, name_text
from whence.io.machine_json import comment, read_comment
from whence.model.machine import RewardMachine

ENDINGS = (".dot", ".gv")
MARK = "//"


def dumps(machine: RewardMachine) -> str:
    """Return the machine as a DOT graph."""
    check_writable(machine)
    lines = [
        "digraph machine {",
        f"  {comment(machine, MARK)}",
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
    """Read the machine from the comment of a graph that whence wrote."""
    return read_comment(text, source, MARK, dumps)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return '"' + escaped.replace("\n", "\\n") + '"'
