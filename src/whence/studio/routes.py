"""What the page asks the studio for, and what the studio answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Literal

import anyio.to_thread
import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from whence.errors import ArgumentError, FileError, WhenceError
from whence.report import style
from whence.studio import bodies, downloads, walking
from whence.studio.desk import Desk
from whence.studio.drawn import Drawn
from whence.studio.project import WHO, ConflictError, Settings
from whence.studio.studio import Studio
from whence.studio.walking import Walk

PAGE = Path(__file__).parent / "page"
TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
INDEX, REPORT_STYLE = "index.html", "report.css"
CHUNK = 1 << 16


class New(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Make a project of a built-in world."""

    world: str


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Change a walk: `revision` is the one that was seen."""

    who: str
    revision: int
    do: Literal["begin", "step", "toward", "undo", "record"]
    action: int = -1
    state: int | None = None
    history: tuple[str, ...] = ()
    ended: bool | None = None
    subject: str | None = None


class Demo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Take a demonstration back, or bring back the last one that was."""

    do: Literal["withdraw", "restore"]
    index: int = -1
    digest: str = ""


class Inference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Infer, stop, or change how."""

    do: Literal["start", "stop", "settings"]
    settings: Settings | None = None


class Ask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Answer a question, or take an answer back; `id` is the question's or the answer's."""

    do: Literal["answer", "withdraw"]
    id: str
    value: float | str = ""


def routes(studio: Studio) -> list[Route]:
    """Return what can be asked for; every address stands below the token."""

    def at(path: str, answer: Callable[..., Awaitable[Response]], *methods: str) -> Route:
        async def endpoint(request: Request) -> Response:
            if "project" in request.path_params:
                desk = await studio.desk(request.path_params["project"])
                return await answer(request, desk)
            return await answer(request, studio)

        return Route(path, endpoint, methods=list(methods or ("GET",)))

    return [
        at("/", _index),
        at("/page/{file}", _static),
        at("/api/studio", _studio),
        at("/api/new", _new, "POST"),
        at("/api/draw", _draw, "POST"),
        at("/api/upload", _upload, "POST"),
        at("/api/project/{project}", _project),
        at("/api/project/{project}/world", _world),
        at("/api/project/{project}/belief", _belief),
        at("/api/project/{project}/events", _events),
        at("/api/project/{project}/walk", _walk, "POST"),
        at("/api/project/{project}/demos", _demos, "POST"),
        at("/api/project/{project}/infer", _infer, "POST"),
        at("/api/project/{project}/ask", _ask, "POST"),
        at("/api/project/{project}/file/{kind}", _file),
    ]


def answered(value: Any, status: int = 200) -> Response:
    """Return a JSON document."""
    return Response(msgspec.json.encode(value), status, media_type="application/json")


async def refused(request: Request, error: Exception) -> Response:
    """Return one message for whatever was refused."""
    if isinstance(error, HTTPException):
        return Response(
            msgspec.json.encode({"error": error.detail}),
            error.status_code,
            error.headers,
            "application/json",
        )
    status = 404 if isinstance(error, FileError) else 422
    status = 409 if isinstance(error, ConflictError) else status
    problems = getattr(error, "problems", ()) if isinstance(error, WhenceError) else ()
    return answered({"error": str(error), "problems": list(problems)}, status)


async def _index(request: Request, studio: Studio) -> Response:
    return _page(INDEX)


async def _static(request: Request, studio: Studio) -> Response:
    return _page(request.path_params["file"])


def _page(name: str) -> Response:
    """Return a file of the page; there are no others."""
    if name == REPORT_STYLE:
        return Response(style.css(), media_type="text/css")
    if name not in {path.name for path in PAGE.iterdir()}:
        raise HTTPException(404, "there is no such page")
    return Response((PAGE / name).read_bytes(), media_type=TYPES[Path(name).suffix])


async def _studio(request: Request, studio: Studio) -> Response:
    return answered(await studio.document())


async def _new(request: Request, studio: Studio) -> Response:
    asked = await bodies.document(request, New)
    return answered({"project": await studio.begin(asked.world)})


async def _draw(request: Request, studio: Studio) -> Response:
    return answered({"project": await studio.draw(await bodies.document(request, Drawn))})


async def _upload(request: Request, studio: Studio) -> Response:
    asked = request.query_params
    data = await bodies.body(request, bodies.LARGE)
    name, repair = asked.get("name", ""), asked.get("repair") == "yes"
    return answered(await studio.bring(data, name, asked.get("project"), repair))


async def _project(request: Request, desk: Desk) -> Response:
    who = request.query_params.get("who", "")
    if not WHO.fullmatch(who):
        who = await desk.act(desk.someone)
    project = desk.project

    def document() -> dict[str, Any]:
        return {
            "name": project.name,
            "who": who,
            "walk": project.scenery.walk_document(project.walk(who)),
            "demos": project.demos_document(),
            "settings": project.state.settings,
            "digest": project.digest,
            "files": downloads.kinds(project),
        }

    found = await desk.act(document)
    return answered(found | {"progress": desk.progress, "trouble": desk.trouble})


async def _world(request: Request, desk: Desk) -> Response:
    return answered(await desk.act(lambda: desk.project.scenery.document))


async def _belief(request: Request, desk: Desk) -> Response:
    belief = await desk.act(desk.project.belief)
    return answered({"belief": belief, "digest": desk.project.digest})


async def _events(request: Request, desk: Desk) -> Response:
    with desk.audience.listening(request.query_params.get("who", "")) as first:
        pass  # refuse here, where one still can, if too many listen

    async def stream() -> AsyncIterator[bytes]:
        with desk.audience.listening(first.who) as listener:
            async for part in listener.stream():
                yield part

    return StreamingResponse(stream(), media_type="text/event-stream")


async def _walk(request: Request, desk: Desk) -> Response:
    asked = await bodies.document(request, Step)
    project = desk.project

    def change() -> dict[str, Any]:
        if asked.do == "record":
            walk = project.record(asked.who, asked.revision, asked.ended, asked.subject)
        else:
            walk = project.change(asked.who, asked.revision, _changed(desk, asked))
        return project.scenery.walk_document(walk)

    try:
        found = await desk.act(change)
    except ConflictError as error:
        now = await desk.act(lambda: project.scenery.walk_document(project.walk(asked.who)))
        return answered({"error": str(error), "walk": now}, 409)
    desk.audience.tell("walk", found["revision"], who=asked.who)
    if asked.do == "record":
        await desk.changed()
    return answered({"walk": found})


def _changed(desk: Desk, asked: Step) -> Walk:
    """Return a walk as somebody wants it."""
    project, walk = desk.project, desk.project.walk(asked.who)
    mdp = project.mdp
    if asked.do == "begin":
        return walking.begun(
            mdp, walk.seed + 1, start=asked.state, history=asked.history,
            revision=walk.revision + 1,
        )  # fmt: skip
    if asked.do == "undo":
        return walking.undone(walk)
    if asked.do == "step":
        return walking.stepped(mdp, walk, asked.action)
    if asked.state is None:
        raise ArgumentError("toward: name a state")
    usual = project.scenery.usual
    return walking.stepped(mdp, walk, walking.toward(mdp, usual, walk.states[-1], asked.state))


async def _demos(request: Request, desk: Desk) -> Response:
    asked = await bodies.document(request, Demo)
    if asked.do == "withdraw":
        await desk.act(desk.project.withdraw, asked.index, asked.digest)
    else:
        await desk.act(desk.project.restore)
    await desk.changed()
    return answered({"demos": await desk.act(desk.project.demos_document)})


async def _infer(request: Request, desk: Desk) -> Response:
    asked = await bodies.document(request, Inference)
    if asked.settings is not None:
        await desk.settle(asked.settings)
    if asked.do == "start":
        await desk.infer()
    elif asked.do == "stop":
        await desk.stop()
    return answered({"settings": desk.project.state.settings})


async def _ask(request: Request, desk: Desk) -> Response:
    asked = await bodies.document(request, Ask)
    if asked.do == "answer":
        await desk.reply(asked.id, asked.value)
    else:
        await desk.take_back(asked.id)
    return answered({})


async def _file(request: Request, desk: Desk) -> Response:
    kind = request.path_params["kind"]
    file = await anyio.to_thread.run_sync(downloads.content, desk.project, kind)

    async def parts() -> AsyncIterator[bytes]:
        with file:
            while part := await anyio.to_thread.run_sync(file.read, CHUNK):
                yield part

    name = kind if kind.startswith(desk.project.name) else f"{desk.project.name}-{kind}"
    return StreamingResponse(
        parts(),
        media_type=downloads.TYPES[kind.rpartition(".")[2]],
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )
