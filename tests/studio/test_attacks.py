"""Who must not come in, and what must not bring the studio down."""

from __future__ import annotations

import socket
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.studio import Served, served
from whence.errors import ArgumentError, FileError
from whence.studio import app, serving
from whence.studio.bodies import LARGE
from whence.studio.gate import Bucket

NASTY = "<img/src=x/onerror=pwned=1>"
MAP = f"labels: a b={NASTY}\nstarts: S\n\nmap:\na.S.b\n"


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("attacked")
    (folder / "tiny.map").write_text(MAP)
    with served(folder / "studio", str(folder / "tiny.map")) as found:
        yield found


def test_nothing_is_answered_without_the_token(studio: Served) -> None:
    for path in (
        "/",
        "/api/studio",
        "/page/main.js",
        "/x" * 8 + "/api/studio",
        f"/{studio.token}",
    ):
        assert studio.raw(path)[0] == 403
    assert studio.raw(f"/{studio.token[:-1]}/api/studio")[0] == 403
    assert studio.raw(f"/{studio.token}x/api/studio")[0] == 403
    assert studio.ask("api/studio")[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80", "192.168.0.7", ""])
def test_foreign_hosts_are_refused(studio: Served, host: str) -> None:
    assert studio.ask("api/studio", host=host)[0] == 421


def test_this_machine_s_names_are_not(studio: Served) -> None:
    port = studio.host.partition(":")[2]
    for host in (f"localhost:{port}", f"[::1]:{port}", "127.0.0.1"):
        assert studio.ask("api/studio", host=host)[0] == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://{host}", "http://localhost"]
)
def test_foreign_origins_are_refused_token_or_not(studio: Served, origin: str) -> None:
    said = origin.format(host=studio.host)
    assert studio.ask("api/new", {"world": "coffee"}, origin=said)[0] == 403
    assert studio.ask("api/studio", origin=said)[0] == 403
    assert studio.ask("api/studio", origin=f"http://{studio.host}")[0] == 200


def test_pages_of_other_sites_cannot_ask_though_links_open(studio: Served) -> None:
    assert studio.ask("api/studio", sec_fetch_site="cross-site")[0] == 403
    assert studio.ask("", sec_fetch_site="cross-site", sec_fetch_mode="navigate")[0] == 200


def test_answers_forbid_what_pages_need_not_do(studio: Served) -> None:
    connection = studio.connection()
    connection.request("GET", f"/{studio.token}/")
    answer = connection.getresponse()
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert "*" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["server"] is None
    page = answer.read().decode()
    connection.close()
    assert "://" not in page
    assert "<script>" not in page


@pytest.mark.parametrize(
    "path",
    [
        "page/../project.py", "page/..%2fproject.py", "page/%2e%2e/project.py", "page/..", "page/",
        "api/project/..", "api/project/%2e%2e", "api/project/..%2f..%2fetc", "api/project/.",
        "api/project/tiny%2f..%2ftiny", "api/project/tiny/file/..%2fstudio.json",
        "api/project/tiny/file/studio.json", "api/project/tiny/file/%2fetc%2fpasswd",
        "api/project/.studio.json", "api/project/lock", "api/project/tiny/file/walks",
        "api/project/" + "x" * 300, "api/project/a%00b",
    ],
)  # fmt: skip
def test_no_path_leads_out_of_the_folder(studio: Served, path: str) -> None:
    status, told = studio.ask(path)
    assert status in (404, 422), told
    assert "token" not in str(told)


def test_an_upload_that_says_it_is_huge_is_refused_unread(studio: Served) -> None:
    with socket.create_connection(("127.0.0.1", int(studio.host.partition(":")[2]))) as sent:
        head = f"POST /{studio.token}/api/upload?name=a.map HTTP/1.1\r\nHost: {studio.host}\r\n"
        sent.sendall(f"{head}Content-Length: {1 << 30}\r\n\r\n".encode())
        assert sent.recv(4096).startswith(b"HTTP/1.1 413")


def test_an_upload_that_never_ends_is_refused_early(studio: Served) -> None:
    part = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    count = 0
    with socket.create_connection(("127.0.0.1", int(studio.host.partition(":")[2]))) as sent:
        head = f"POST /{studio.token}/api/upload?name=a.map HTTP/1.1\r\nHost: {studio.host}\r\n"
        sent.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        for count in range(16 * LARGE // len(part)):  # noqa: B007 (how far it got)
            try:
                sent.sendall(part)
            except OSError:  # a reset, or a broken pipe
                break
    assert count * len(part) < 4 * LARGE
    assert studio.ask("api/studio")[0] == 200


def test_connections_that_say_nothing_are_closed_and_stand_in_nobody_s_way(
    studio: Served,
) -> None:
    port = int(studio.host.partition(":")[2])
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(serving.MOST + 60)]
    try:
        silent[-1].sendall(b"GET / HTTP/1.1\r\nHost: half a requ")
        assert studio.ask("api/studio")[0] == 200
        for each in (silent[0], silent[-1]):
            each.settimeout(20)
            assert each.recv(10) == b""
    finally:
        for each in silent:
            each.close()


def test_a_burst_is_survived(studio: Served) -> None:
    statuses: list[int] = []

    def hammer(path: str) -> None:
        connection = studio.connection()
        for _ in range(250):
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            statuses.append(answer.status)
        connection.close()

    paths = ["/no/token", f"/{studio.token}/api/nothing"] * 2
    threads = [threading.Thread(target=hammer, args=(path,)) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(statuses) == 1000
    assert set(statuses) <= {403, 404, 429}
    time.sleep(0.1)
    assert studio.ask("api/studio")[0] == 200


def test_a_bucket_lets_through_what_it_holds() -> None:
    bucket = Bucket(rate=1e-6, burst=3)
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'{"world": 7}', b'{"world": "coffee", "more": 1}', b"[" * 100_000,
     b'{"world": "nowhere"}', b"\xff\xfe"],
)  # fmt: skip
def test_requests_that_make_no_sense_get_one_message(studio: Served, body: bytes) -> None:
    connection = studio.connection()
    kind = {"content-type": "application/json"}
    connection.request("POST", f"/{studio.token}/api/new", body, kind)
    answer = connection.getresponse()
    assert answer.status == 422
    assert "Traceback" not in answer.read().decode()
    connection.close()


def test_a_form_of_another_site_is_no_json(studio: Served) -> None:
    connection = studio.connection()
    kind = {"content-type": "text/plain"}
    connection.request("POST", f"/{studio.token}/api/new", b'{"world": "coffee"}', kind)
    assert connection.getresponse().status == 415
    connection.close()


def test_names_with_html_stay_plain(studio: Served) -> None:
    status, told = studio.ask("api/upload?name=%3Cb%3E%22x%22%3C%2Fb%3E.map", MAP.encode())
    assert status == 200
    assert not set("<>&\"'") & set(told["project"])
    world = studio.ask(f"api/project/{told['project']}/world")[1]
    assert NASTY in world["alphabet"]
    assert "<img" not in world["svg"]


def test_a_bad_file_is_refused_with_its_place(studio: Served) -> None:
    status, told = studio.ask("api/upload?name=bad.map", b"labels: a\nstarts: S\nmap:\nS?a\n")
    assert status == 422
    assert "bad.map, line 4, column 2" in told["error"]


def test_the_token_is_kept_for_the_owner_alone(studio: Served) -> None:
    path = studio.folder / serving.ADDRESS
    assert studio.token in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    connection = studio.connection()
    connection.request("GET", f"/{studio.token}/api/project/tiny/file/all.zip")
    assert studio.token.encode() not in connection.getresponse().read()
    connection.close()


def test_a_second_studio_of_the_same_folder_is_refused(
    studio: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "ENDING", -3)  # do not wait for the first to end
    with pytest.raises(FileError, match="serves this studio already"):
        serving.check_free(studio.folder)


def test_an_application_wants_a_long_token_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="token"):
        app(tmp_path, token="short")
    with pytest.raises(ArgumentError, match="token"):
        app(tmp_path, token="/../" * 8)
    with pytest.raises(FileError, match="no such folder"):
        app(tmp_path / "nowhere", token="x" * 20)


def test_a_name_that_was_told_is_a_host(tmp_path: Path) -> None:
    gate = app(tmp_path, token="x" * 20, hosts=("desk.example",))
    assert gate._knows("desk.example:80")
    assert gate._knows("DESK.example")
    assert not gate._knows("other.example")
    assert not gate._knows("192.168.0.7")
    assert app(tmp_path, token="x" * 20, hosts=("0.0.0.0",))._knows("192.168.0.7:80")


def test_a_request_line_that_is_none_is_answered(studio: Served) -> None:
    port = int(studio.host.partition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as sent:
        sent.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        assert sent.recv(100).startswith(b"HTTP/1.1 400")
    with socket.create_connection(("127.0.0.1", port)) as sent:
        sent.sendall(b"GET /" + b"x" * 70_000)
        assert sent.recv(100).startswith(b"HTTP/1.1 4")
    assert studio.ask("api/studio")[0] == 200
