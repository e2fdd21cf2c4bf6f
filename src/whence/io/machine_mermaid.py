"""Mermaid: a machine as a flowchart, one link from a state to another."""

from __future__ import annotations

import re

from whence.io.labels import by_ends, check_writable, label_text, name_text
from whence.io.machine_json import comment, read_comment
from whence.model.machine import RewardMachine

ENDINGS = (".mmd", ".mermaid")
_NAMED = {'"': "#quot;", "&": "#amp;", "<": "#lt;", ">": "#gt;"}
_ESCAPED = re.compile(r"[!-*/:-@\[-`{}~ﬂ¶]|^[+-]|(?<![0-9])\.|\.(?![0-9])")
MARK = "%%"


def dumps(machine: RewardMachine) -> str:
    """Return the machine as a Mermaid flowchart."""
    check_writable(machine)
    lines = [
        "flowchart LR",
        f"  {comment(machine, MARK)}",
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
    """Read the machine from the comment of a flowchart that whence wrote."""
    return read_comment(text, source, MARK, dumps)


def _escaped(text: str) -> str:
    """Write as entity codes what Mermaid, Markdown or HTML would not show as it is."""
    return _ESCAPED.sub(lambda found: _NAMED.get(found[0], f"#{ord(found[0])};"), text)
