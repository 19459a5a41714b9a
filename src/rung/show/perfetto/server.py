"""A server for one page on one machine: bound to 127.0.0.1, serving what it was given, stopping by itself."""

from __future__ import annotations

import mimetypes
import shutil
import sys
import threading
import time
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TYPES = {".js": "text/javascript", ".wasm": "application/wasm", ".json": "application/json"}
"""What browsers insist on, whatever the machine's own table says."""

POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
    "connect-src 'self' data: blob:; worker-src 'self' blob:; frame-ancestors 'self'"
)
"""For the files: Perfetto's UI asks for analytics and for a native accelerator, none of which is here."""


class Loopback(ThreadingHTTPServer):
    """Serves `files` and `pages` by their exact paths. A visit to `alive` keeps it up; it stops `patience_s`
    after the last request."""

    daemon_threads = True

    def __init__(
        self, files: Mapping[str, Path], pages: Mapping[str, bytes], alive: str, patience_s: float
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files = files
        self.pages = pages
        self.alive = alive
        self.patience_s = patience_s
        self.last = time.monotonic() + 9 * patience_s  # a first visit may take a person longer

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a request may call this server: anything else is another site's name that resolves to here."""
        return f"127.0.0.1:{self.server_port}", f"localhost:{self.server_port}"

    def run(self) -> None:
        """Serve until nobody asks any more."""
        threading.Thread(target=self._watch, daemon=True).start()
        try:
            self.serve_forever(poll_interval=0.2)
        finally:
            self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing of a browser that went away in the middle; anything else is a mistake of ours."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def _watch(self) -> None:
        while time.monotonic() - self.last < self.patience_s:
            time.sleep(min(0.2, self.patience_s))
        self.shutdown()


class _Handler(BaseHTTPRequestHandler):
    server: Loopback
    protocol_version = "HTTP/1.1"
    server_version = "rung"
    sys_version = ""
    timeout = 30
    """Seconds that a client may be silent in the middle of a request, or between two."""

    def do_GET(self) -> None:
        if not self._is_ours():
            self._refuse(HTTPStatus.FORBIDDEN)
            return
        self.server.last = time.monotonic()
        path = self.path.partition("?")[0].partition("#")[0]
        if path == self.server.alive:
            self._head(HTTPStatus.NO_CONTENT, 0, None)
        elif path in self.server.pages:
            body = self.server.pages[path]
            self._head(HTTPStatus.OK, len(body), "text/html; charset=utf-8")
            self.wfile.write(body)
        elif path in self.server.files:
            self._send(self.server.files[path])
        else:
            self._refuse(HTTPStatus.NOT_FOUND)

    def _is_ours(self) -> bool:
        """Whether the request is for this server and from its own page."""
        hosts, origins = self.headers.get_all("Host", []), self.headers.get_all("Origin", [])
        own = {f"http://{host}" for host in self.server.hosts}
        return len(hosts) == 1 and hosts[0] in self.server.hosts and own.issuperset(origins)

    def _send(self, file: Path) -> None:
        try:
            opened = file.open("rb")
        except OSError:
            self._refuse(HTTPStatus.NOT_FOUND)
            return
        with opened:
            kind = TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
            self._head(HTTPStatus.OK, file.stat().st_size, kind, POLICY)
            shutil.copyfileobj(opened, self.wfile)

    def _head(self, status: HTTPStatus, length: int, kind: str | None, policy: str | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        if kind:
            self.send_header("Content-Type", kind)
        if policy:
            self.send_header("Content-Security-Policy", policy)
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the standard library refuses by itself: in our words, with nothing of the request in it."""
        status = HTTPStatus.METHOD_NOT_ALLOWED if code == HTTPStatus.NOT_IMPLEMENTED else HTTPStatus(code)
        self.close_connection = True
        self._refuse(status)

    def _refuse(self, status: HTTPStatus) -> None:
        body = f"{status.value} {status.phrase}\n".encode()
        self._head(status, len(body), "text/plain; charset=utf-8")
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: standard error is for people."""
