"""`rung record TARGET`: targets, options, exit codes, what goes to stdout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

pytest.importorskip("torch")

from rung.cli.record import RecordCommand, record
from rung.errors import RungError
from tracefile import files, load, spans

pytestmark = pytest.mark.torch

WORK = """
import torch

def module():
    return torch.nn.Linear(4, 4), torch.ones(2, 4)

def alone():
    print("from the factory")
    return lambda: torch.ones(2) + 1

def keywords():
    def adder(a, b):
        return a + b
    return adder, (torch.ones(2),), {"b": torch.ones(2)}

def wrong_result():
    return 3

def raises():
    raise ValueError("no\\nluck")

def fails():
    def work(x):
        return x @ torch.ones(3, 3)
    return work, torch.ones(2, 2)

def interrupted():
    def work(x):
        raise KeyboardInterrupt
    return work, torch.ones(2)

def leaves():
    raise SystemExit(5)

NUMBER = 3
"""

SCRIPT = """
import sys
import torch

with torch.profiler.record_function("mine"):
    torch.ones(3) + 1
print("arguments", sys.argv[1:], __name__)
if "boom" in sys.argv:
    raise RuntimeError("boom")
if "exit" in sys.argv:
    sys.exit(int(sys.argv[-1]))
if "profile" in sys.argv:
    with torch.profiler.profile():
        pass
"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command as `rung` would, in a folder that holds work.py and script.py."""
    app = typer.Typer()
    app.command("record", cls=RecordCommand)(record)
    app.command("other")(lambda: None)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "work.py").write_text(WORK)
    (tmp_path / "script.py").write_text(SCRIPT)

    def call(*arguments: str) -> tuple[int, str, str]:
        try:
            code = app(["record", *arguments], standalone_mode=False) or 0
        except RungError as error:
            print(f"rung: {error}", file=sys.stderr)
            code = error.exit_code
        except Exception as error:
            print(error, file=sys.stderr)
            code = getattr(error, "exit_code", 99)
        out, err = capsys.readouterr()
        return code, out, err

    return call


def test_paths_are_data_and_the_rest_is_commentary(run: Run) -> None:
    code, out, err = run("work.py:module", "--device", "cpu")
    assert (code, out) == (0, "traces/linear/eager.json.gz\n")
    assert err == "recorded eager: 3 steps of linear_fwd, after 3 warm-up calls\n"


def test_json_lists_what_was_written_and_left_out(run: Run) -> None:
    code, out, err = run(
        "work.py:module", "--json", "--variants", "eager,liger", "--variant", "rung", "--out", "o"
    )
    assert code == 0
    said = json.loads(out)
    assert said["schema_version"] == 1
    assert said["artifacts"] == [
        {"path": "o/linear/eager.json.gz", "kind": "trace", "variant": "eager", "name": "linear"},
        {"path": "o/linear/eager.txt", "kind": "table", "variant": "eager", "name": "linear"},
    ]
    assert [(s["variant"], s["name"]) for s in said["skipped"]] == [("rung", "linear"), ("liger", "linear")]
    assert "skipped liger: only a GLU MLP" in err


def test_under_tritons_interpreter_it_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    code, out, err = run("work.py:module", "--json")
    assert code == 0
    assert json.loads(out)["interpreted"] is True
    assert err.startswith(
        "TRITON_INTERPRET=1: Triton kernels run in its interpreter, their times are emulated\n"
    )


def test_options_stand_on_both_sides_of_a_factory(run: Run, tmp_path: Path) -> None:
    arguments = (
        "--name",
        "mine",
        "work.py:module",
        "--region",
        "here",
        "--active",
        "2",
        "--cold",
        "--no-shapes",
    )
    code, out, _ = run(*arguments, "--seed", "5", "--dtype", "bf16")
    assert code == 0
    trace = load(tmp_path / out.strip())
    about = trace["rung"]
    assert len(spans(trace, "here")) == 2
    assert (about["name"], about["seed"], about["dtypes"]) == ("mine", 5, ["bfloat16"])
    assert about["schedule"]["cold"] is True
    assert "Input Dims" not in json.dumps(trace)


@pytest.mark.parametrize(
    ("target", "region"),
    [("work:keywords", "adder_fwd"), ("work.py:keywords", "adder_fwd"), ("work.py:alone", "lambda_fwd")],
)
def test_what_a_factory_may_return(run: Run, tmp_path: Path, target: str, region: str) -> None:
    sys.modules.pop("work", None)
    code, out, err = run(target)
    assert code == 0, err
    assert len(spans(load(tmp_path / out.strip()), region)) == 3
    sys.modules.pop("work", None)


def test_what_the_work_prints_is_no_data(run: Run) -> None:
    code, out, err = run("work.py:alone", "--json")
    assert code == 0
    json.loads(out)
    assert "from the factory" in err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["work.py:nothing"], 2, "work.py has no 'nothing'"),
        (["work.py:NUMBER"], 2, "'NUMBER' in work.py is no function but of type int"),
        (["work.py:wrong_result"], 2, "returned something of type int: return fn, (fn, inputs) or"),
        (["absent.py:module"], 2, "there is no file absent.py"),
        (["no_such_module:module"], 2, "there is no module 'no_such_module'"),
        (["work.py:"], 2, "target 'work.py:' is not understood"),
        (["absent.py"], 2, "there is no script absent.py"),
        (["notes.txt"], 2, "notes.txt is no Python file: give pkg.module:factory, file.py:factory, or a"),
        (["picture"], 2, "picture is no Python file: give"),
        (["eager.json"], 2, "eager.json is no Python file but looks like a trace: give it to `rung read`"),
        (["eager.json.gz"], 2, "eager.json.gz is no Python file but looks like a trace"),
        (["broken.py"], 1, "broken.py raised SyntaxError"),
        (["work.py:module", "--variant", "fast"], 2, "'fast' is not known"),
        (["work.py:module", "--device", "tpu"], 2, "'tpu' is not known"),
        (["work.py:module", "--dtype", "int8"], 2, "dtype 'int8' is not known"),
        (["work.py:module", "--active", "0"], 2, "active is 0"),
        (["work.py:module", "surplus"], 2, "surplus"),
        (["work.py:module", "--no-such-option"], 2, "--no-such-option"),
        (["--warmup", "1", "script.py"], 2, "--warmup does not apply to a script"),
        (["script.py", "profile"], 2, "script.py uses torch.profiler itself"),
        (["work.py:raises"], 1, "factory work.py:raises raised ValueError: no (work.py line 20)"),
        (["work.py:leaves"], 1, "factory work.py:leaves ended with exit code 5 (work.py line 33)"),
        (["work.py:fails"], 1, "work from work.py:fails raised RuntimeError: mat1 and mat2"),
        (["broken.py:module"], 1, "broken.py raised SyntaxError"),
        (["script.py", "boom"], 1, "script.py raised RuntimeError: boom (script.py line 9)"),
        (["script.py", "exit", "3"], 1, "script.py ended with exit code 3 (script.py line 11)"),
        (["work.py:interrupted"], 130, ""),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_end_in_one_line_and_leave_nothing(
    run: Run, tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    (tmp_path / "broken.py").write_text("def module(:\n")
    (tmp_path / "notes.txt").write_text("Record the MLP first.\n")
    (tmp_path / "picture").write_bytes(bytes(9))
    (tmp_path / "eager.json").write_text("{}")  # Python, for that matter
    (tmp_path / "eager.json.gz").write_bytes(b"\x1f\x8b")
    got, out, err = run(*arguments)
    assert (got, out) == (code, "")
    assert message in err.replace("RuntimeError: mm: mat1", "RuntimeError: mat1")  # torch 2.15 names the op
    assert len([line for line in err.splitlines() if line.startswith("rung:")]) <= 1
    assert not (tmp_path / "traces").exists()


def test_line_points_into_the_users_file(run: Run) -> None:
    assert run("work.py:fails")[2].rstrip().endswith("(work.py line 24)")


def test_nothing_recorded_is_the_machines_fault(run: Run) -> None:
    code, out, err = run("work.py:module", "--variant", "liger")
    assert (code, out) == (4, "")
    assert "nothing was recorded: liger: only a GLU MLP" in err


def test_absent_cuda(run: Run) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device here")
    code, _, err = run("work.py:module", "--device", "cuda")
    assert code == 4
    assert "record with --device cpu" in err


def test_script_gets_everything_after_it(run: Run, tmp_path: Path) -> None:
    before = list(sys.argv)
    code, out, err = run("--json", "script.py", "--json", "a", "--device", "cuda")
    assert code == 0, err
    assert "arguments ['--json', 'a', '--device', 'cuda'] __main__" in err
    assert [a["path"] for a in json.loads(out)["artifacts"]] == [
        "traces/script/script.json.gz",
        "traces/script/script.txt",
    ]
    trace = load(tmp_path / "traces/script/script.json.gz")
    assert len(spans(trace, "mine")) == 1
    assert trace["rung"]["script"] == "script.py"
    assert trace["rung"]["arguments"] == ["--json", "a", "--device", "cuda"]
    assert err.endswith("recorded the whole run\n")
    assert sys.argv == before


def test_script_that_exits_with_0_is_fine(run: Run, tmp_path: Path) -> None:
    assert run("script.py", "exit", "0")[0] == 0
    assert files(tmp_path / "traces") == ["script", "script/script.json.gz", "script/script.txt"]


def test_a_script_in_which_no_op_ran_says_what_may_be_missing(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(WORK)
    code, out, err = run("mine.py")
    assert (code, out) == (0, "traces/mine/script.json.gz\n")
    assert err == (
        "recorded the whole run, in which no op ran: "
        "to record a function, name a factory that returns it, such as mine.py:factory\n"
    )


def test_a_script_needs_no_suffix(run: Run, tmp_path: Path) -> None:
    (tmp_path / "script.py").rename(tmp_path / "script")
    assert run("script")[:2] == (0, "traces/script/script.json.gz\n")


def test_command_holds_no_home_folder(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/opt/bin/rung", "record", str(tmp_path / "work.py") + ":module", "~x"])
    monkeypatch.setenv("HOME", "/home/ada")
    sys.argv.append("--out=/home/ada/traces")
    _, out, _ = run("work.py:module")
    assert load(tmp_path / out.strip())["rung"]["command"] == "rung record work.py:module ~x --out=~/traces"


def test_without_torch_the_command_that_helps(tmp_path: Path) -> None:
    """In a process in which torch cannot be imported."""
    code = """
import sys
sys.modules["torch"] = None
import rung.recording, rung.ladder
import typer
from rung.cli.record import RecordCommand, record
from rung.errors import RungError
app = typer.Typer()
app.command(cls=RecordCommand)(record)
try:
    app(["work.py:module"], standalone_mode=False)
except RungError as error:
    print(error)
    sys.exit(error.exit_code)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 4, done.stderr
    assert 'pip install "rung[torch]"' in done.stdout
    assert files(tmp_path) == []


def test_importing_the_room_takes_no_torch() -> None:
    code = "import sys, rung.recording, rung.ladder, rung.cli.record; print('torch' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert done.stdout == "False\n"
