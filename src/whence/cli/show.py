"""whence show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from whence.cli._console import Output, output_options

if TYPE_CHECKING:
    from whence.model.machine import RewardMachine


@click.command("show")
@click.argument("machine")
@output_options
def command(machine: str, out: Output) -> None:
    """Show MACHINE: a file, a run folder, or a built-in world's task; of a run, its answer."""
    from whence.cli import _inputs as inputs
    from whence.drawing import terminal

    shown = inputs.machine(machine)
    names = shown.state_names
    found = _found(machine)
    out.document(
        {
            "states": shown.n_states,
            "alphabet": list(shown.alphabet),
            "names": list(names),
            "valid": shown.is_valid,
            "minimal_states": shown.minimised().n_states,
            "arrows": [
                {
                    "from": names[arrow.source],
                    "to": names[arrow.target],
                    "symbols": list(arrow.symbols),
                    "reward": arrow.reward,
                }
                for arrow in shown.arrows()
            ],
            "answer": found.get("answer"),
            "facts": found.get("facts"),
        }
    )
    if not (out.json or out.quiet):
        drawn = _drawn(found, shown)
        out.show(*_told(found), terminal.machine_text(drawn), "", terminal.machine_table(drawn))


def _found(name: str) -> dict[str, Any]:
    """Return what the folder of a finished run says; nothing for any other machine."""
    import msgspec

    from whence import _files as files
    from whence.cli._inputs import run_folder
    from whence.errors import FileError, FormatError
    from whence.runs.folder import RESULT

    folder = run_folder(name)
    if folder is None:
        return {}
    path = folder / RESULT
    try:
        if not path.is_file():
            return {}
        found = msgspec.json.decode(files.read_bytes(path))
    except (OSError, ValueError, FileError, msgspec.DecodeError) as error:
        raise FormatError(f"{path}: {error}; restore it from a copy, or infer again") from None
    return found if isinstance(found, dict) else {}


def _drawn(found: dict[str, Any], machine: RewardMachine) -> RewardMachine:
    """Return the machine that illustrates a run's answer, or the machine itself."""
    from whence.errors import MachineError
    from whence.model.machine import RewardMachine

    try:
        return RewardMachine(machine.alphabet, **found["shown"])
    except (KeyError, TypeError, MachineError):
        return machine


def _told(found: dict[str, Any]) -> list[str]:
    """Return the answer of a run, and the facts besides."""
    from whence.cli._console import printable
    from whence.cli._findings import fact_lines

    facts = found.get("facts")
    if not isinstance(found.get("answer"), str) or not isinstance(facts, list):
        return []
    try:
        lines = [found["answer"], *fact_lines(facts)]
    except (KeyError, TypeError, ValueError):
        return []
    return [*(printable(line) for line in lines), ""]
