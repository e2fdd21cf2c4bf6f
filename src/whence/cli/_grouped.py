"""Help in groups, for a verb with many options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click


def grouped(groups: Mapping[str, Sequence[str]], rest: str) -> type[click.Command]:
    """Return a kind of command whose help lists its options under headings.

    Args:
        groups: the names of the options' parameters, by heading, in order.
        rest: the heading of all others.
    """

    class Grouped(click.Command):
        def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
            """Write the options, heading by heading."""
            shown = {
                str(parameter.name): record
                for parameter in self.get_params(ctx)
                if isinstance(parameter, click.Option)
                and (record := parameter.get_help_record(ctx)) is not None
            }
            for heading, names in groups.items():
                with formatter.section(heading):
                    formatter.write_dl([shown.pop(name) for name in names if name in shown])
            with formatter.section(rest):
                formatter.write_dl(list(shown.values()))

    return Grouped
