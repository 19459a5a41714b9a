"""A Hugging Face Hub on loopback, as much of it as `huggingface_hub` asks for when it shares a trace.

The client is the real one, hf_xet included: what it uploads arrives as chunks and shards and is put together
again here, so a file that comes back is the file that was sent. Simulated are the answers: `whoami`, buckets
(create, ask, list, batch), write tokens, the content store's three uploads, and plain downloads with ranges.
Not simulated: quotas, rate limits, deduplication, redirects to a CDN.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

import xet_store

TOKEN = "hf_loopback_secret_token"
USER = "ada"


@dataclass
class Bucket:
    private: bool
    files: dict[str, dict[str, Any]] = field(default_factory=dict)


class Hub(ThreadingHTTPServer):
    """`buckets` by id, `requests` as (method, path, authorization), `broken` fails those paths with 500."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.buckets: dict[str, Bucket] = {}
        self.store = xet_store.Store()
        self.requests: list[tuple[str, str, str]] = []
        self.broken: Callable[[str], bool] = lambda path: False
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def content(self, bucket: str, name: str) -> bytes:
        """What lies there under that name."""
        return self.store.files[self.buckets[bucket].files[name]["xetHash"]]


class _Handler(BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else self._chunked()
        path = unquote(urlsplit(self.path).path)
        allowed = self.headers.get("Authorization", "")
        self.server.requests.append((self.command, self.path, allowed))
        if self.server.broken(path):
            self._send(400, b'{"error": "broken on purpose"}')
            return
        for method, pattern, answer in ROUTES:
            if method in (self.command, "*") and (found := re.fullmatch(pattern, path)):
                answer(self, body, *found.groups())
                return
        self._send(404, b'{"error": "no such route"}')

    do_GET = do_POST = do_HEAD = _answer  # noqa: N815

    def _chunked(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return b""
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "application/json")
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def json(self, value: Any, status: int = 200) -> None:
        self._send(status, json.dumps(value).encode())

    @property
    def known(self) -> bool:
        return self.headers.get("Authorization") == f"Bearer {TOKEN}"

    def bucket(self, name: str) -> Bucket | None:
        """The bucket, if whoever asks may know of it; answers 404 where not."""
        found = self.server.buckets.get(name)
        if found is not None and (self.known or not found.private):
            return found
        self._send(404, b'{"error": "Bucket not found"}', X_Error_Code="RepoNotFound")
        return None

    def log_message(self, format: str, *args: object) -> None:
        pass


def _whoami(ask: _Handler, body: bytes) -> None:
    if ask.known:
        ask.json({"type": "user", "name": USER, "orgs": []})
    else:
        ask.json({"error": "Invalid credentials"}, 401)


def _create(ask: _Handler, body: bytes, namespace: str, name: str) -> None:
    if not ask.known:
        ask.json({"error": "Invalid credentials"}, 401)
        return
    bucket = f"{USER if namespace == 'me' else namespace}/{name}"
    ask.server.buckets[bucket] = Bucket(json.loads(body or b"{}").get("visibility") == "private")
    ask.json({"url": f"{ask.server.url}/buckets/{bucket}"})


def _info(ask: _Handler, body: bytes, name: str) -> None:
    if found := ask.bucket(name):
        size = sum(file["size"] for file in found.files.values())
        ask.json(
            {
                "id": name,
                "private": found.private,
                "createdAt": "2026-01-01T00:00:00.000Z",
                "size": size,
                "totalFiles": len(found.files),
            }
        )


def _tree(ask: _Handler, body: bytes, name: str, prefix: str | None) -> None:
    if found := ask.bucket(name):
        inside = f"{prefix}/" if prefix else ""
        ask.json([file for path, file in found.files.items() if path == prefix or path.startswith(inside)])


def _batch(ask: _Handler, body: bytes, name: str) -> None:
    found = ask.bucket(name)
    if found is None:
        return
    for line in body.splitlines():
        one = json.loads(line)
        if one["type"] == "deleteFile":
            del found.files[one["path"]]
            continue
        found.files[one["path"]] = {
            "type": "file",
            "path": one["path"],
            "size": len(ask.server.store.files[one["xetHash"]]),
            "xetHash": one["xetHash"],
            "mtime": xet_store.iso(one["mtime"]),
            "contentType": one.get("contentType"),
        }
    ask.json({"success": True, "failed": []})


def _write_token(ask: _Handler, body: bytes, name: str) -> None:
    if ask.bucket(name):
        ask.json({"casUrl": f"{ask.server.url}/cas", "accessToken": "cas-token", "exp": 4102444800})


def _resolve(ask: _Handler, body: bytes, name: str, path: str) -> None:
    found = ask.bucket(name)
    if found is None:
        return
    if path not in found.files:
        ask._send(404, b"", X_Error_Code="EntryNotFound")
        return
    content = ask.server.content(name, path)
    if ranged := re.fullmatch(r"bytes=(\d+)-(\d*)", ask.headers.get("Range", "")):
        start, stop = int(ranged[1]), int(ranged[2] or len(content) - 1) + 1
        ask._send(206, content[start:stop], Content_Range=f"bytes {start}-{stop - 1}/{len(content)}")
        return
    ask._send(200, content, ETag=f'"{found.files[path]["xetHash"]}"')


def _xorb(ask: _Handler, body: bytes, number: str) -> None:
    ask.server.store.add_xorb(number, body)
    ask.json({"was_inserted": True})


def _shard(ask: _Handler, body: bytes) -> None:
    ask.server.store.add_shard(body)
    ask.json({"result": 1})


NAME = r"([\w.-]+/[\w.-]+)"
ROUTES: list[tuple[str, str, Callable[..., None]]] = [
    ("GET", r"/api/whoami-v2", _whoami),
    ("GET", rf"/api/buckets/{NAME}/xet-write-token", _write_token),
    ("GET", rf"/api/buckets/{NAME}/xet-read-token", _write_token),
    ("GET", rf"/api/buckets/{NAME}/tree(?:/(.*))?", _tree),
    ("POST", rf"/api/buckets/{NAME}/batch", _batch),
    ("POST", r"/api/buckets/([\w.-]+)/([\w.-]+)", _create),
    ("GET", rf"/api/buckets/{NAME}", _info),
    ("*", rf"/buckets/{NAME}/resolve/(.+)", _resolve),
    ("POST", r"/cas/v1/xorbs/[\w-]+/(\w+)", _xorb),
    ("POST", r"/cas/(?:v1/)?shards", _shard),
]
