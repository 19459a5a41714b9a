"""`--on hf-jobs` by the real client against a Hub on loopback (`jobs_hub` says what that simulates)."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("huggingface_hub")

import rung
from jobs_hub import JobsHub
from loopback_hub import TOKEN, USER
from rung.elsewhere import hf_jobs
from rung.elsewhere.offer import Offer
from rung.errors import MachineError

BUCKET = f"{USER}/jobs-artifacts"
CLIMB = ["climb", "matmul-add", "--size", "16", "--variants", "eager", "--device", "cpu", "--on", "hf-jobs"]
PRICE = (
    "a10g-small: Nvidia A10G - small, 1 x A10G, 24 GB, 4 vCPU, 15 GB; "
    "$0.0167 per minute; it is stopped after 30 minutes, which cost $0.50"
)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[JobsHub]:
    with JobsHub(tmp_path / "hub") as server:
        yield server
        server.shutdown()


@contextmanager
def start(
    hub: JobsHub,
    folder: Path,
    *arguments: str,
    token: str = TOKEN,
    stdin: int = subprocess.DEVNULL,
    stderr: int = subprocess.PIPE,
) -> Iterator[subprocess.Popen[str]]:
    """The command in a process of its own: the client reads its settings once, when it is imported."""
    settings = {
        "HF_ENDPOINT": hub.url,
        "HF_TOKEN": token,
        "HF_HOME": str(folder / "hf"),
        "RUNG_NO_CACHE": "1",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "rung", *arguments],
        env={**os.environ, **settings},
        cwd=folder,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    ) as here:
        try:
            yield here
        finally:
            here.kill()


def call(hub: JobsHub, folder: Path, *arguments: str, **how: Any) -> tuple[int, str, list[str]]:
    """Exit code, standard output, lines of standard error."""
    with start(hub, folder, *arguments, **how) as here:
        out, err = here.communicate(timeout=120)
    assert TOKEN not in out + err
    return here.returncode, out, err.splitlines()


def posts(hub: JobsHub) -> list[str]:
    return [path for method, path, _ in hub.requests if method != "GET"]


@pytest.mark.torch
def test_climb_tells_what_a_job_recorded_as_asked(hub: JobsHub, tmp_path: Path) -> None:
    code, out, err = call(hub, tmp_path, *CLIMB, "--yes", "--json")
    assert code == 0, err
    (variant,) = json.loads(out)["variants"]
    assert variant["trace"] == "traces/matmul-add-16/eager.json.gz"
    trace = rung.read(tmp_path / variant["trace"])
    assert [k.op.name for k in trace.kernels[:2] if k.op] == ["aten::mm", "aten::add"]
    assert (tmp_path / "traces/matmul-add-16/eager.txt").is_file()
    assert err[:2] == [PRICE, f"started {hub.url}/jobs/{USER}/job0"]
    assert re.fullmatch(r"fetching 2 files, [\d.]+ kB", err[-1])
    assert hub.buckets[BUCKET].files == {}
    assert hub.buckets[BUCKET].private
    _is_what_was_asked_for(hub)


def _is_what_was_asked_for(hub: JobsHub) -> None:
    (job,) = hub.jobs
    (volume,) = job.spec["volumes"]
    assert job.spec["flavor"] == "a10g-small"
    assert job.spec["dockerImage"] == "ghcr.io/astral-sh/uv:python3.12-bookworm"
    assert job.spec["timeoutSeconds"] == 30 * 60
    assert job.spec["environment"] == {}
    assert "secrets" not in job.spec
    assert TOKEN not in json.dumps(job.spec)
    assert (volume["type"], volume["source"], volume["mountPath"]) == ("bucket", BUCKET, "/data")
    assert re.fullmatch(r"rung-\d{8}T\d{6}-[0-9a-f]{6}", volume["path"])
    wheel = f"rung-{rung.__version__}-py3-none-any.whl"
    assert job.spec["command"][:2] == ["sh", "-c"]
    assert (
        f"uvx --from 'rung[torch,liger,models] @ file:///data/{wheel}' rung climb matmul-add"
        " --variants eager --device cpu --size 16 --no-guess --json --out traces > result.json"
    ) in job.spec["command"][2]
    assert (hub.folder / "job0" / "data" / wheel).read_bytes()[:2] == b"PK"


@pytest.mark.torch
def test_a_file_that_is_recorded_travels(hub: JobsHub, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "work.py").write_text("import torch, sys\nprint(sys.argv[1:])\ntorch.ones(2) + 1\n")
    command = ["record", "--on", "hf-jobs:cpu-basic", "--yes", "--out", "o", "deep/work.py", "--size", "3"]
    code, out, err = call(hub, tmp_path, *command)
    assert (code, out) == (0, "o/work/script.json.gz\n"), err
    assert err[0].startswith("cpu-basic: CPU Basic, 2 vCPU, 16 GB; $0.0002 per minute")
    assert "['--size', '3']" in err
    assert any(op.name == "aten::add" for op in rung.read(tmp_path / "o/work/script.json.gz").ops)


def test_nothing_starts_where_nobody_can_answer(hub: JobsHub, tmp_path: Path) -> None:
    code, out, err = call(hub, tmp_path, *CLIMB)
    assert (code, out) == (2, "")
    assert err == [PRICE, "rung: start it: nobody is here to ask; --yes says so beforehand."]
    assert posts(hub) == []


@pytest.mark.parametrize(("answer", "jobs", "code"), [("n", 0, 130), ("y", 1, 4)])
def test_at_a_terminal_it_asks(answer: str, jobs: int, code: int, hub: JobsHub, tmp_path: Path) -> None:
    hub.install("exit 1")
    master, terminal = pty.openpty()
    with start(hub, tmp_path, *CLIMB, stdin=terminal, stderr=terminal) as here:
        seen = b""
        while not seen.endswith(b"[y/N]:"):
            seen += os.read(master, 1)
        assert PRICE in " ".join(seen.decode().split())
        assert posts(hub) == []
        os.write(master, f"{answer}\n".encode())
        assert here.wait(timeout=60) == code
    os.close(master)
    os.close(terminal)
    assert len(hub.jobs) == jobs


def test_a_failed_job_is_one_line_and_its_reason(hub: JobsHub, tmp_path: Path) -> None:
    hub.install("echo installing >&2\necho 'rung: device cuda was asked for, but there is none' >&2\nexit 4")
    code, out, err = call(hub, tmp_path, *CLIMB, "--yes")
    assert (code, out) == (4, "")
    assert err[2:] == [
        "installing",
        "rung: device cuda was asked for, but there is none",
        "rung: the job ended as ERROR: device cuda was asked for, but there is none "
        f"({hub.url}/jobs/{USER}/job0)",
    ]
    assert not list((tmp_path / "traces").rglob("*"))


def test_a_job_that_says_nothing_fails_with_its_message(hub: JobsHub, tmp_path: Path) -> None:
    hub.install("exit 137")
    code, _, err = call(hub, tmp_path, *CLIMB, "--yes")
    assert code == 4
    assert "ended as ERROR: Job failed with exit code: 137" in err[-1]


def test_what_a_job_prints_steers_no_terminal(hub: JobsHub, tmp_path: Path) -> None:
    hub.install("printf 'a\\033[2Jb\\n' >&2\nexit 1")
    _, _, err = call(hub, tmp_path, *CLIMB, "--yes")
    assert err[2] == "a␛[2Jb"


def test_ctrl_c_cancels_the_job(hub: JobsHub, tmp_path: Path) -> None:
    hub.install("echo at work >&2\nexec sleep 60")
    with start(hub, tmp_path, *CLIMB, "--yes") as here:
        assert here.stderr is not None
        for line in here.stderr:
            if line == "at work\n":
                break
        here.send_signal(signal.SIGINT)
        rest = here.stderr.read()
        assert here.wait(timeout=60) == 130
    assert rest == f"cancelled {hub.url}/jobs/{USER}/job0\nrung: interrupted\n"
    assert hub.jobs[0].stage == "CANCELED"


def test_without_credit_nothing_starts(hub: JobsHub, tmp_path: Path) -> None:
    hub.credit = False
    code, _, err = call(hub, tmp_path, *CLIMB, "--yes")
    assert code == 4
    assert err[1:] == ["rung: hf-jobs: it asks for payment: the account needs credit (402)."]
    assert hub.jobs == []


def test_without_the_client_it_says_what_to_install(hub: JobsHub, tmp_path: Path) -> None:
    (tmp_path / "huggingface_hub.py").write_text("raise ImportError")
    code, _, err = call(hub, tmp_path, *CLIMB, "--yes")
    assert code == 4
    assert len(err) == 1
    assert "pip install" in err[0]
    assert "rung[hub]" in err[0]


def test_an_unknown_flavor_names_the_others(hub: JobsHub, tmp_path: Path) -> None:
    code, _, err = call(hub, tmp_path, *CLIMB[:-1], "hf-jobs:h9000", "--yes")
    assert (code, err) == (2, ["rung: hf-jobs has no flavor 'h9000': give cpu-basic, a10g-small."])
    assert posts(hub) == []


def test_a_stranger_is_told_to_log_in(hub: JobsHub, tmp_path: Path) -> None:
    code, _, err = call(hub, tmp_path, *CLIMB, "--yes", token="hf_wrong_wrong")
    assert code == 4
    assert err == ["rung: hf-jobs: it asks who you are: log in (hf auth login, or HF_TOKEN) (401)."]


def test_a_module_cannot_travel(hub: JobsHub, tmp_path: Path) -> None:
    code, _, err = call(hub, tmp_path, "record", "--on", "hf-jobs", "--yes", "pkg.work:factory")
    assert code == 2
    assert "a job has no module 'pkg.work': only one file travels" in err[0]
    assert hub.requests == []


def test_what_does_not_come_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Empty:
        url = "hf://buckets/ada/jobs-artifacts/rung-1"

        def there(self) -> dict[str, Any]:
            return {}

    monkeypatch.setattr(hf_jobs, "LATE_S", -1.0)
    with pytest.raises(MachineError, match=r"ended well, but result.json is not in hf://buckets/ada"):
        hf_jobs._fetch(Empty(), tmp_path, print)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("micro_usd", "unit", "said"),
    [
        (500_000, "hour", "$0.50 per hour; it is stopped after 30 minutes, which cost $0.25"),
        (16_667, "minute", "$0.0167 per minute; it is stopped after 30 minutes, which cost $0.50"),
        (1_234_500, "run", "$1.2345 per run; it is stopped after 30 minutes"),
    ],
)
def test_a_price_has_an_end(micro_usd: int, unit: str, said: str) -> None:
    assert str(Offer("f", "GPU", micro_usd, unit)) == f"f: GPU; {said}"
