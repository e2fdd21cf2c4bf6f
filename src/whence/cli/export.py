"""whence export."""

from __future__ import annotations

import click

from whence import io as formats
from whence.cli._console import Output, output_options

PRISM = "prism"


@click.command("export")
@click.argument("machine")
@click.option(
    "--to",
    "targets",
    required=True,
    metavar="FORMATS",
    help=f"By commas: {', '.join((*formats.machine_formats(), PRISM))}.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="The file; for several formats, a name to which each adds its ending.",
)
@click.option("--world", metavar="WORLD", help="For prism: write the product with this world.")
@output_options
def command(
    machine: str, targets: str, output: str | None, world: str | None, out: Output
) -> None:
    """Write MACHINE, a file, a run folder or a built-in world's task, in other formats."""
    from whence import _files as files
    from whence.cli import _inputs as inputs
    from whence.errors import ArgumentError

    names = [name.strip() for name in targets.split(",")]
    known = (*formats.machine_formats(), PRISM)
    for name in names:
        if name not in known:
            raise ArgumentError(f"--to {name}: no such format; known are {', '.join(known)}")
    if PRISM in names:
        if len(names) > 1 or world is None or output is None:
            raise ArgumentError(
                "--to prism writes the product with a world, by itself: add --world WORLD and "
                "-o NAME, as in '--to prism --world coffee -o product'"
            )
        mdp = inputs.setting(world).mdp
        paths = formats.save_product(mdp, inputs.machine_in(machine, mdp), output)
        _written(paths, out)
        return
    if world is not None:
        raise ArgumentError("--world is for --to prism; leave it out")
    exported = inputs.machine(machine)
    contents = [formats.machine_bytes(exported, name) for name in names]
    if output is None:
        if len(names) > 1 or names[0] == "png" or out.json:
            raise ArgumentError("-o is missing: name the file to write, as in '-o machine'")
        click.echo(contents[0].decode("utf-8"), nl=False)
        return
    paths = [formats.named_for(output, name, alone=len(names) == 1) for name in names]
    for path, content in zip(paths, contents, strict=True):
        files.write_bytes(path, content)
    _written(paths, out)


def _written(paths: list[str], out: Output) -> None:
    out.document({"written": paths})
    out.show("\n".join(f"wrote {path}" for path in paths))
