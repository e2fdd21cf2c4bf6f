"""whence studio."""

from __future__ import annotations

import sys

import click

from whence.cli._console import Output, output_options

FOLDER = "whence-studio"
LOCAL = "127.0.0.1"


@click.command("studio")
@click.argument("what", required=False)
@click.option("-o", "--output", metavar="FOLDER", help=f"Where to keep it.  [default: {FOLDER}]")
@click.option("--host", default=LOCAL, show_default=True, help="Who may reach it: this machine.")
@click.option("--name", multiple=True, help="A further name by which it may be reached.")
@click.option("--port", type=click.IntRange(1, 65535), help="[default: 8757, or a free one]")
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@click.option("--repair", is_flag=True, help="Of a log: make the repairs that are suggested.")
@output_options
def command(
    what: str | None,
    output: str | None,
    host: str,
    name: tuple[str, ...],
    port: int | None,
    no_browser: bool,
    repair: bool,
    out: Output,
) -> None:
    """Open a studio in the browser: walk in a world, record, and watch what is believed.

    WHAT is a world, a run, a log, or the folder of a studio; without it, one chooses in the
    browser. Everything is kept in a folder, where the next studio goes on.
    """
    from whence.cli._live import loading
    from whence.studio import need_studio

    need_studio("whence studio", "starlette", "uvicorn")
    with loading(out):
        from whence.studio import serving
        from whence.studio.opening import opened, studio_folder

        folder = studio_folder(what, output or FOLDER)
        serving.check_free(folder)
        project = opened(folder, what, repair=repair)
        before = serving.address(folder)
        socket = serving.listening(host, port, before.port)
    number = socket.getsockname()[1]
    kept = serving.Address(before.token, number)
    serving.keep_address(folder, kept)
    url = f"http://{_shown(host)}:{number}/{kept.token}/" + (f"#{project}" if project else "")
    out.document({"url": url, "folder": str(folder), "project": project})
    out.show(f"The studio is at {url}", f"Everything is kept in {folder}; Ctrl-C ends it.")
    if host not in (LOCAL, "localhost", "::1"):
        out.warn(f"--host {host}: others may reach this studio; who has its address may use it")
    if not no_browser:
        import webbrowser

        webbrowser.open(url)
    sys.stdout.flush()
    serving.serve(folder, kept, socket, (host, *name))


def _shown(host: str) -> str:
    """Return a host as it stands in an address that this machine can open."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 (compared, not bound to)
        return LOCAL
    return f"[{host}]" if ":" in host else host
