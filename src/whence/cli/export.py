"""whence export."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from whence import io as formats
from whence.cli._console import Output, output_options

if TYPE_CHECKING:
    from whence.model.machine import RewardMachine

PRISM, PDF = "prism", "pdf"
DRAWN = ("svg", "png", PDF)


@click.command("export")
@click.argument("machine")
@click.option(
    "--to",
    "targets",
    required=True,
    metavar="FORMATS",
    help=f"By commas: {', '.join((*formats.machine_formats(), PDF, PRISM))}.",
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
    """Write MACHINE, a file, a run folder or a built-in world's task, in other formats.

    Of a run, svg, png and pdf draw the machine of the answer, with how sure each arrow is.
    """
    from whence import _files as files
    from whence.cli import _inputs as inputs
    from whence.cli._live import loading
    from whence.errors import ArgumentError

    names = [name.strip() for name in targets.split(",")]
    known = (*formats.machine_formats(), PDF, PRISM)
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
    if output is None and (len(names) > 1 or names[0] in ("png", PDF) or out.json):
        raise ArgumentError("-o is missing: name the file to write, as in '-o machine'")
    exported = inputs.machine(machine)
    with loading(out, "drawing"):
        svg = _drawing(machine, exported) if set(names) & set(DRAWN) else ""
        contents = [
            _drawn(svg, name) if name in DRAWN else formats.machine_bytes(exported, name)
            for name in names
        ]
    if output is None:
        click.echo(contents[0].decode("utf-8"), nl=False)
        return
    paths = [_named(output, name, alone=len(names) == 1) for name in names]
    for path, content in zip(paths, contents, strict=True):
        files.write_bytes(path, content)
    _written(paths, out)


def _written(paths: list[str], out: Output) -> None:
    out.document({"written": paths})
    out.show("\n".join(f"wrote {path}" for path in paths))


def _drawing(name: str, machine: RewardMachine) -> str:
    """Return a machine as SVG; of a run, that of the answer with how sure each arrow is."""
    from whence.cli._inputs import run_folder
    from whence.drawing import machine_svg

    folder = run_folder(name)
    if folder is None:
        return machine_svg(machine)
    from whence.report import Study
    from whence.report.machine import drawn_machine
    from whence.runs.resuming import load

    run = load(folder)
    return drawn_machine(Study.of(run, list(run.job.pairs), compare=False))


def _drawn(svg: str, name: str) -> bytes:
    from whence.drawing import svg_to_png
    from whence.report.html import height, width
    from whence.report.pdf import drawing_pdf

    if name == PDF:
        return drawing_pdf(svg, width(svg), height(svg))
    return svg_to_png(svg) if name == "png" else svg.encode("utf-8")


def _named(output: str, name: str, *, alone: bool) -> str:
    """Return the file name for a format, with its ending added if `output` has none."""
    if name != PDF:
        return formats.named_for(output, name, alone=alone)
    return output if alone and output.lower().endswith(".pdf") else f"{output}.pdf"
