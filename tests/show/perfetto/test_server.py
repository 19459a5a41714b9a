"""The loopback server: what it serves, to whom, and that it stops."""

from __future__ import annotations

import http.client
import socket
import struct
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rung.errors import MachineError
from rung.show.perfetto import Handed, opening
from rung.show.perfetto.server import Loopback
from rung.show.perfetto.ui import files_of


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Loopback]:
    (tmp_path / "ui.js").write_text("ui()")
    (tmp_path / "secret.txt").write_text("not served")
    made = Loopback({"/ui.js": tmp_path / "ui.js"}, {"/s/": b"<p>page</p>"}, "/s/alive", patience_s=30)
    thread = threading.Thread(target=made.run)
    thread.start()
    yield made
    made.shutdown()
    thread.join(5)


def get(server: Loopback, path: str, **headers: str) -> tuple[int, bytes]:
    """A request as a browser makes it, or one that claims to be something else."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=5)
    connection.putrequest("GET", path, skip_host=True)
    for name, value in {"Host": f"127.0.0.1:{server.server_port}", **headers}.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def test_it_serves_what_it_was_given(server: Loopback) -> None:
    assert get(server, "/s/") == (200, b"<p>page</p>")
    assert get(server, "/ui.js?v=1") == (200, b"ui()")
    assert get(server, "/s/alive")[0] == 204


OUTSIDE = ("/", "/secret.txt", "/../secret.txt", "/s/../secret.txt", "/%2e%2e/secret.txt", "//etc/passwd")


@pytest.mark.parametrize("path", OUTSIDE)
def test_and_nothing_else(server: Loopback, path: str) -> None:
    assert get(server, path)[0] == 404


def test_another_name_for_this_machine_is_refused(server: Loopback) -> None:
    """DNS rebinding: a site's name that resolves to 127.0.0.1."""
    assert get(server, "/s/", Host="evil.example")[0] == 403
    assert get(server, "/s/", Host=f"evil.example:{server.server_port}")[0] == 403
    assert get(server, "/s/", Host=f"localhost:{server.server_port}")[0] == 200


def test_another_sites_page_is_refused(server: Loopback) -> None:
    assert get(server, "/s/", Origin="https://evil.example")[0] == 403
    assert get(server, "/s/", Origin="null")[0] == 403
    assert get(server, "/s/", Origin=server.address)[0] == 200


def sent(server: Loopback, request: str) -> bytes:
    """The answer to a request as it stands; `HOST` is the server's own name."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=5) as connection:
        connection.sendall(request.replace("HOST", f"127.0.0.1:{server.server_port}").encode())
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "OPTIONS", "<b>"])
def test_there_is_nothing_but_getting(server: Loopback, method: str) -> None:
    answer = sent(server, f"{method} /s/ HTTP/1.1\r\nHost: HOST\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 405 ") and b"page" not in answer and b"<" not in answer


@pytest.mark.parametrize("hosts", ["", "Host: HOST\r\nHost: evil\r\n", "Host: evil\r\nHost: HOST\r\n"])
def test_a_request_names_one_host(server: Loopback, hosts: str) -> None:
    assert sent(server, f"GET /s/ HTTP/1.1\r\n{hosts}\r\n").startswith(b"HTTP/1.1 403 ")


def test_who_dawdles_or_leaves_stops_nobody_else(
    server: Loopback, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ui.js").write_bytes(b"x" * 20_000_000)
    address = ("127.0.0.1", server.server_port)
    slow = [socket.create_connection(address) for _ in range(50)]
    for one in slow:
        one.sendall(b"GET /s")
    with socket.create_connection(address) as leaver:
        leaver.sendall(f"GET /ui.js HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n".encode())
        leaver.recv(1000)
        leaver.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # gone at once
    assert get(server, "/s/") == (200, b"<p>page</p>")
    time.sleep(0.2)
    for one in slow:
        one.close()
    assert capfd.readouterr().err == ""


def test_it_listens_on_the_loopback_alone(server: Loopback) -> None:
    assert server.server_address[0] == "127.0.0.1"
    others = [a[4][0] for a in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    for address in {a for a in others if not str(a).startswith("127.")}:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((address, server.server_port), timeout=1)


def test_it_stops_when_nobody_asks_any_more() -> None:
    made = Loopback({}, {"/": b"page"}, "/alive", patience_s=0.3)
    thread = threading.Thread(target=made.run)
    thread.start()
    for _ in range(4):
        assert get(made, "/alive")[0] == 204
        time.sleep(0.15)
    assert thread.is_alive()
    thread.join(3)
    assert not thread.is_alive()


def test_nobody_comes_and_it_stops_as_well() -> None:
    made = Loopback({}, {}, "/alive", patience_s=0.05)
    thread = threading.Thread(target=made.run)
    thread.start()
    thread.join(3)
    assert not thread.is_alive()


def test_each_time_the_page_has_another_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "find_ui", lambda: tmp_path)
    (tmp_path / "t.json").write_text("{}")
    seen: list[str] = []
    for _ in range(2):
        opening.serve(Handed(tmp_path / "t.json", "t"), seen.append, patience_s=0.02)
    paths = {address.split("/", 3)[3] for address in seen}
    assert len(paths) == 2
    assert all(len(path) > 20 for path in paths)


def test_a_ui_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rung.show.perfetto.ui.find_spec", lambda name: None)
    with pytest.raises(MachineError, match=r"pip install 'rung\[perfetto\]'"):
        opening.find_ui()


def test_a_service_worker_is_not_served(tmp_path: Path) -> None:
    for name in ("index.html", "service_worker.js"):
        (tmp_path / name).write_text("")
    assert list(files_of(tmp_path)) == ["/index.html"]
