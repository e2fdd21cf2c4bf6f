"""The command line. Every module in this folder is a verb, unless its name begins with `_`.

The module of a verb holds a click command named `command`. It is imported when the verb is
called, and when all verbs are listed; so what is heavy is imported within its functions. To add
a verb, add its module: no other file names it.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence

import click

from whence.cli._console import never_fail_to_print, note_warnings, say_error
from whence.errors import WhenceError

# The order in which `whence --help` tells the story; verbs that it leaves out follow by name.
STORY = (
    "demo",
    "worlds",
    "world",
    "check",
    "simulate",
    "score",
    "infer",
    "resume",
    "status",
    "ask",
    "sweep",
    "studio",
    "report",
    "evaluate",
    "show",
    "compare",
    "export",
    "reproduce",
    "bench",
    "doctor",
)


def verbs() -> list[str]:
    """Return the name of every verb, in the order of the help."""
    found = (
        module.name.replace("_", "-")
        for module in pkgutil.iter_modules(__path__)
        if not (module.ispkg or module.name.startswith("_"))
    )
    return sorted(found, key=lambda name: (_told(name), name))


def _told(verb: str) -> int:
    return STORY.index(verb) if verb in STORY else len(STORY)


class _Verbs(click.Group):
    """A group whose commands live in modules of the same name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return verbs()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in verbs():
            return None
        module = importlib.import_module(f"whence.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="whence", prog_name="whence")
def cli() -> None:
    """Infer the reward machine behind an expert's behaviour."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 failed, 2 usage, 130 stopped."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    never_fail_to_print()
    try:
        typed = spelled_out(list(sys.argv[1:] if arguments is None else arguments))
        with note_warnings():
            result = cli.main(
                args=typed,
                obj=typed,
                prog_name="whence",
                standalone_mode=False,
            )
            if sys.stdout is not None:
                sys.stdout.flush()
    except WhenceError as error:
        say_error(*(error.problems or (str(error),)))
        return 1
    except MemoryError:
        say_error("there is not enough memory for this; ask for less at a time")
        return 1
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt) as stop:
        say_error(str(stop.__cause__ or stop.__context__ or stop) or "stopped")
        return 130
    except OSError as error:  # stdout: a closed pipe or a full disk
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            say_error(f"the output cannot be written: {error.strerror}; send it elsewhere")
        return 1
    return result if isinstance(result, int) else 0


def spelled_out(arguments: list[str]) -> list[str]:
    """Return `whence LOG` as the command that it stands for: `whence infer LOG -o RUN`."""
    if not arguments or arguments[0].startswith("-") or arguments[0] in verbs():
        return arguments
    from whence.io import is_table

    if not is_table(arguments[0]):
        return arguments
    from whence.cli._logs import free_name

    named = any(word.split("=")[0] in ("-o", "--output") for word in arguments)
    place = [] if named else ["-o", free_name(arguments[0])]
    return ["infer", *arguments, *place]
