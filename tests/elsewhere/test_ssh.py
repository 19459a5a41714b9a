"""`--on ssh:HOST` against a real sshd on loopback; the real `rung` runs there, on the CPU."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from shlex import split

import pytest

import rung
from loopback_sshd import Host, NoSshdError, program, serving
from rung.cli.app import run
from rung.elsewhere.errand import Errand
from rung.elsewhere.ssh import line
from rung.ladder.shipped import RECORDINGS

CLIMB = ["climb", "matmul-add", "--size", "16", "--variants", "eager", "--device", "cpu"]


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    try:
        with serving(tmp_path_factory.mktemp("sshd")) as host:
            yield host
    except NoSshdError as reason:
        pytest.skip(str(reason))


@pytest.fixture
def host(sshd: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    """It has the Python and the Rung of these tests; that Rung notes in `seen` where it was run."""
    monkeypatch.setenv("PATH", f"{sshd.here}:{os.environ['PATH']}")
    program(sshd.bin / "python3", f'exec {sys.executable} "$@"')
    program(sshd.bin / "rung", f'pwd >> {tmp_path}/seen; exec {sys.executable} -m rung "$@"')
    return sshd


@pytest.mark.torch
def test_climb_tells_what_was_recorded_there(
    host: Host, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run([*CLIMB, "--on", "ssh:loopback", "--json", "--out", str(out)]) == 0
    said = json.loads(capsys.readouterr().out)
    (variant,) = said["variants"]
    assert variant["trace"] == str(out / "matmul-add-16" / "eager.json.gz")
    assert [k.op.name for k in rung.read(variant["trace"]).kernels[:2]] == ["aten::mm", "aten::add"]
    assert (out / "matmul-add-16" / "eager.txt").is_file()
    assert variant["parameters"]["size"] == 16
    folder = Path((tmp_path / "seen").read_text().strip())
    assert folder.name.startswith("rung-")
    assert not folder.exists()


def test_strides_and_what_was_skipped_are_told_too(
    host: Host, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    layout = {"shape": [768, 3072], "stride": [1, 768]}
    layouts = {
        **dict.fromkeys(("weight", "transposed", "input", "other"), layout),
        "asserted": [layout],
        "other_asserted": [layout],
        "same_storage": True,
        "recompiles": 1,
    }
    told = {"scene": "linear", "skipped": None, "name": "eager", "trace": "traces/linear/eager.json.gz"}
    skipped = {"scene": "linear", "skipped": "no compiler", "name": "compiled", "trace": None}
    answer = tmp_path / "answer"
    answer.write_text(json.dumps({"variants": [told, skipped], "layouts": layouts}))
    trace = RECORDINGS / "h200" / "linear" / "eager.json.gz"
    program(host.bin / "rung", f"mkdir -p traces/linear && cp {trace} traces/linear && cat {answer}")
    command = ["climb", "linear", "--on", "ssh:loopback", "--json", "--out", str(tmp_path / "out")]
    assert run(command) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["layouts"] == layouts
    assert [(v["name"], v["skipped"]) for v in said["variants"]] == [
        ("eager", None),
        ("compiled", "no compiler"),
    ]
    assert said["device"] == "NVIDIA H200"


@pytest.mark.torch
def test_a_file_travels_with_this_very_rung(
    host: Host, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (host.bin / "rung").unlink()
    work = tmp_path / "work.py"
    work.write_text(
        "import sys, rung, torch\n"
        "print('run by', rung.__file__, file=sys.stderr)\n"
        "def factory():\n    return torch.nn.Linear(4, 4), torch.ones(2, 4)\n"
    )
    command = [
        "record",
        "--on",
        "ssh:loopback",
        "--from",
        "this",
        "--active",
        "2",
        "--out",
        str(tmp_path / "o"),
    ]
    assert run([*command, f"{work}:factory"]) == 0
    heard = capsys.readouterr()
    assert heard.out.splitlines() == [str(tmp_path / "o" / "linear" / "eager.json.gz")]
    trace = rung.read(heard.out.strip())
    assert len([r for r in trace.regions if r.name == "linear_fwd"]) == 2
    assert "/site/rung/__init__.py" in heard.err
    assert "recorded eager: 2 steps" in heard.err
    assert str(Path(rung.__file__).parent) not in heard.err


@pytest.mark.torch
def test_a_failure_there_is_one_line_and_its_reason(
    host: Host, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run([*CLIMB[:-1], "cuda:7", "--on", "ssh:loopback", "--no-guess", "--out", str(out)]) == 4
    heard = capsys.readouterr()
    assert heard.out == ""
    last = heard.err.splitlines()[-1]
    assert last.startswith("rung: rung on loopback (exit 4): device cuda:7 was asked for, but")
    assert not out.exists()


@pytest.mark.parametrize(
    ("given", "there"),
    [
        (
            "climb mlp --batch 2 --no-warmup --train --guess kernels=5 --html page.html",
            "climb mlp --no-warmup --train --batch 2 --no-guess --json --out traces",
        ),
        (
            "record --variant eager --variant rung --no-shapes --stacks pkg.work:make",
            "record --variant eager --variant rung --no-shapes --stacks --json --out traces pkg.work:make",
        ),
        (
            "record --device cpu ./deep//work.py --json --on 'its own'",
            "record --device cpu --json --out traces work.py --json --on 'its own'",
        ),
    ],
)
def test_options_travel_but_for_those_about_here(
    given: str, there: str, host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("deep").mkdir()
    Path("deep/work.py").touch()
    program(host.bin / "rung", f'printf "%s\\n" "$@" > {tmp_path}/args; exit 1')
    verb, *rest = split(given)
    assert run([verb, "--on", "ssh:loopback", "--out", "o", *rest]) == 4
    assert Path("args").read_text().splitlines() == split(there)


def test_a_host_without_rung_says_how_to_bring_it(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    (host.bin / "rung").unlink()
    assert run([*CLIMB, "--on", "ssh:loopback", "--no-guess"]) == 4
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("rung: loopback has no rung")
    assert last.endswith("or give --from this")


def test_a_host_that_is_not_there_is_one_line(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*CLIMB, "--on", "ssh:nobody", "--no-guess"]) == 4
    assert capsys.readouterr().err == "rung: ssh: connect to host 127.0.0.1 port 1: Connection refused\n"


def test_an_answer_that_is_none_moves_nothing(
    host: Host, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program(host.bin / "rung", "mkdir -p traces/x && echo hello > traces/x/eager.json && echo '[1]'")
    out = tmp_path / "out"
    assert run([*CLIMB, "--on", "ssh:loopback", "--no-guess", "--out", str(out)]) == 4
    assert "is no answer of Rung's" in capsys.readouterr().err
    assert not out.exists()


def test_ctrl_c_stops_it_there(host: Host, tmp_path: Path) -> None:
    program(host.bin / "rung", f"echo $$ > {tmp_path}/pid; echo at work >&2; exec sleep 60")
    command = [sys.executable, "-m", "rung", *CLIMB, "--on", "ssh:loopback", "--no-guess"]
    # A terminal interrupts all of its processes, ssh among them.
    how = {"cwd": tmp_path, "text": True, "start_new_session": True}
    with subprocess.Popen(command, stderr=subprocess.PIPE, **how) as here:
        assert here.stderr is not None
        assert here.stderr.readline() == "at work\n"
        os.killpg(here.pid, signal.SIGINT)
        rest = here.stderr.read()
        assert here.wait() == 130
    assert rest == "stopped it on loopback\nrung: interrupted\n"
    assert _ends(int((tmp_path / "pid").read_text()))


def test_pip_gets_the_package_beside_the_work() -> None:
    """Quoted once for sh and once for the shell that ssh talks to, whichever that is."""
    spec = Errand(("climb", "mlp"), "rung @ git+https://host/rung")
    assert line(spec, "/tmp/rung-x") == (
        "sh -c 'cd /tmp/rung-x && echo $$ > pid"
        " && python3 -m pip install -q --disable-pip-version-check --target site"
        " '\"'\"'rung @ git+https://host/rung'\"'\"' >&2"
        " && exec env PYTHONPATH=/tmp/rung-x/site python3 -m rung climb mlp > result.json'"
    )


def _ends(pid: int) -> bool:
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists():
            return True
        time.sleep(0.05)
    return False
