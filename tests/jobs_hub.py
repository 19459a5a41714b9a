"""Hugging Face Jobs on loopback, beside the buckets of `loopback_hub`.

The client is the real one, and what a job is told to run does run: as a process here, its log streamed as it
comes. Simulated are the container (the folder of the bucket is copied, directories take the place of
the mount path and the work folder in the command, the image is not looked at), `uvx` (which looks whether the
wheel is there, then runs the Rung of these tests) and the bill. What the job left in the mounted folder is in
the bucket when it ends.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loopback_hub import ROUTES, USER, Bucket, Hub, _Handler

A10G = {"type": "gpu", "model": "A10G", "quantity": "1", "vram": "24 GB", "manufacturer": "Nvidia"}
HARDWARE = [
    ("cpu-basic", "CPU Basic", "2 vCPU", "16 GB", None, 167),
    ("a10g-small", "Nvidia A10G - small", "4 vCPU", "15 GB", A10G, 16_667),
]


@dataclass
class Job:
    id: str
    spec: dict[str, Any]
    stage: str = "RUNNING"
    message: str | None = None
    log: list[str] = field(default_factory=list)
    process: subprocess.Popen[str] | None = None

    def shown(self) -> dict[str, Any]:
        return {
            **{key: self.spec.get(key) for key in ("dockerImage", "command", "flavor", "volumes")},
            "id": self.id,
            "owner": {"id": "1", "name": USER, "type": "user"},
            "status": {"stage": self.stage, "message": self.message},
        }


class JobsHub(Hub):
    """`jobs` in the order they were started, each run below `folder`; none starts without `credit`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.jobs: list[Job] = []
        self.credit = True
        (folder / "bin").mkdir(parents=True)
        self.install(
            f'echo "$2" > {folder}/required\ntest "$3" = rung\nshift 3\nexec {sys.executable} -m rung "$@"'
        )
        super().__init__()

    def install(self, script: str) -> None:
        """What `uvx` does in a job."""
        uvx = self.folder / "bin" / "uvx"
        uvx.write_text(f"#!/bin/sh -e\n{script}\n")
        uvx.chmod(0o755)

    def start(self, spec: dict[str, Any]) -> Job:
        job = Job(f"job{len(self.jobs)}", spec)
        self.jobs.append(job)
        threading.Thread(target=self._run, args=(job,), daemon=True).start()
        return job

    def cancel(self, job: Job) -> None:
        job.stage = "CANCELED"
        if job.process is not None:
            os.killpg(job.process.pid, signal.SIGKILL)

    def _run(self, job: Job) -> None:
        (volume,) = job.spec["volumes"]
        data, work = self.folder / job.id / "data", self.folder / job.id / "work"
        data.mkdir(parents=True)
        bucket = self.buckets[volume["source"]]
        inside = f"{volume['path']}/"
        for path in bucket.files:
            if path.startswith(inside):
                (data / path.removeprefix(inside)).write_bytes(self.content(volume["source"], path))
        command = [
            part.replace(volume["mountPath"], str(data)).replace("/tmp/errand", str(work))
            for part in job.spec["command"]
        ]
        path = f"{self.folder}/bin:/usr/bin:/bin"
        job.process = subprocess.Popen(
            command,
            env={"PATH": path, "HOME": str(self.folder), "RUNG_NO_CACHE": "1", **job.spec["environment"]},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        assert job.process.stdout is not None
        with job.process as process:
            for line in job.process.stdout:
                job.log.append(line.rstrip("\n"))
            code = process.wait()
        self._keep(data, bucket, inside)
        if job.stage == "RUNNING":
            job.message = f"Job failed with exit code: {code}" if code else None
            job.stage = "ERROR" if code else "COMPLETED"

    def _keep(self, data: Path, bucket: Bucket, inside: str) -> None:
        for path in sorted(data.rglob("*")):
            name = inside + path.relative_to(data).as_posix()
            if path.is_file() and name not in bucket.files:
                content = path.read_bytes()
                number = hashlib.sha256(content).hexdigest()
                self.store.files[number] = content
                bucket.files[name] = {"type": "file", "path": name, "size": len(content), "xetHash": number}


def _hardware(ask: _Handler, body: bytes) -> None:
    keys = ("name", "prettyName", "cpu", "ram", "accelerator", "unitCostMicroUSD")
    price = [{"unitCostUSD": one[-1] / 1e6, "unitLabel": "minute"} for one in HARDWARE]
    ask.json([dict(zip(keys, one, strict=True), **more) for one, more in zip(HARDWARE, price, strict=True)])


def _start(ask: _Handler, body: bytes, owner: str) -> None:
    if _hub(ask).credit:
        ask.json(_hub(ask).start(json.loads(body)).shown())
    else:
        ask.json({"error": "Payment required"}, 402)


def _job(ask: _Handler, body: bytes, owner: str, number: str) -> None:
    ask.json(_found(ask, number).shown())


def _cancel(ask: _Handler, body: bytes, owner: str, number: str) -> None:
    _hub(ask).cancel(_found(ask, number))
    ask.json({})


def _logs(ask: _Handler, body: bytes, owner: str, number: str) -> None:
    job = _found(ask, number)
    ask.send_response(200)
    ask.send_header("Content-Type", "text/event-stream")
    ask.send_header("Connection", "close")
    ask.end_headers()
    ask.close_connection = True
    told = 0
    while told < len(job.log) or job.stage == "RUNNING":
        for line in job.log[told:]:
            event = json.dumps({"data": line, "timestamp": "2026-01-01T00:00:00.000Z"})
            ask.wfile.write(f"data: {event}\n\n".encode())
            told += 1
        ask.wfile.flush()
        time.sleep(0.02)


def _hub(ask: _Handler) -> JobsHub:
    assert isinstance(ask.server, JobsHub)
    return ask.server


def _found(ask: _Handler, number: str) -> Job:
    return next(job for job in _hub(ask).jobs if job.id == number)


ROUTES += [
    ("GET", r"/api/jobs/hardware", _hardware),
    ("POST", r"/api/jobs/([\w.-]+)", _start),
    ("GET", r"/api/jobs/([\w.-]+)/(\w+)", _job),
    ("GET", r"/api/jobs/([\w.-]+)/(\w+)/logs", _logs),
    ("POST", r"/api/jobs/([\w.-]+)/(\w+)/cancel", _cancel),
]
