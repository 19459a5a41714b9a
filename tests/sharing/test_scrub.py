"""What `--scrub` takes out of a trace, and what it leaves."""

from __future__ import annotations

import getpass
import gzip
import json
import socket
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tracelib
from handmade import GELU, MUL, events, ran
from recordings import all_of
from rung.insight.forward import chosen
from rung.sharing import scrub
from rung.sharing.finding import item
from rung.show.as_json import trace_json
from rung.trace import Trace, read
from tracelib import annotation, frame, kernel, launch, op, span, write

CHAIN = events(ran(GELU, "aten::gelu", [64]), ran(MUL, "aten::mul", [64], [64]))


def scrubbed(
    folder: Path, *made: Any, name: str = "in.json", hide: tuple[str, ...] = (), **header: Any
) -> Any:
    """The file after scrubbing, decoded, and what was removed."""
    source = write(folder / "source.json", *made, **header)
    done = scrub([item(source, name)], folder, hide)
    return json.loads(done.items[0].local.read_bytes()), done


def names(file: Any) -> list[str]:
    return [event["name"] for event in file["traceEvents"]]


def test_ops_kernels_and_shapes_stay_to_the_letter(tmp_path: Path) -> None:
    kept, done = scrubbed(tmp_path, *CHAIN)
    assert kept == tracelib.document(*CHAIN) and done.removed == {}


def test_frames_go_with_all_they_name(tmp_path: Path) -> None:
    kept, done = scrubbed(tmp_path, frame("/home/grace/train.py(7): main", 0, 90), *CHAIN)
    assert names(kept) == [event["name"] for event in CHAIN]
    assert done.removed == {"Python frame": 1}


def test_arguments_go_unless_they_are_known_to_be_harmless(tmp_path: Path) -> None:
    known = {"External id": 4, "Input Dims": [[8, 8]], "Input type": ["float"], "Sequence number": 3}
    unknown = {"Concrete Inputs": ["/data/grace", "1."], "Call stack": "train.py", "Invented in 2030": 1}
    kept, done = scrubbed(tmp_path, op("aten::mm", 0, 5, **known, **unknown))
    assert kept["traceEvents"][0]["args"] == known
    assert done.removed == {f"argument {key}": 1 for key in unknown}


def test_so_do_members_of_events_and_of_the_file(tmp_path: Path) -> None:
    one = op("aten::mm", 0, 5) | {"stackFrame": 7}
    kept, done = scrubbed(
        tmp_path,
        one,
        traceName="/home/grace/x.json",
        rung={"name": "mlp", "command": "python train.py --key 123", "device_name": "H200"},
    )
    assert kept["rung"] == {"name": "mlp", "device_name": "H200"}
    assert "traceName" not in kept and "stackFrame" not in kept["traceEvents"][0]
    assert done.removed == {"argument stackFrame": 1, "member traceName": 1, "member rung.command": 1}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("load /data/lake/shard 7/part.bin now", "load <path> now"),
        ("~/runs/eager.json", "<path>"),
        ("../data/train.csv: open", "<path>: open"),
        (r"C:\Users\grace hopper\x.py(3): f", "<path>(3): f"),
        (r"\\server\share\file", "<path>"),
        ("src/model.py(33): forward", "<path>: forward"),
        ("fetch https://user:pw@host/x?key=1", "fetch <address>"),
        ("s3://bucket/key", "<address>"),
        ("sent to grace@navy.mil", "sent to <user>"),
        ("rank 3 on 10.1.2.3", "rank 3 on <host>"),
        ("node17.cluster.example.com", "<host>"),
        ("aten::div", "aten::div"),
        ("forward/backward", "forward/backward"),
        ("3 GB/s, 50 %", "3 GB/s, 50 %"),
        ("a / b", "a / b"),
        ("void at::native::(anonymous namespace)::f<float, 4>(int)", None),
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", None),
        ("## Call CompiledFxGraph fabc123 ##", None),
    ],
)
def test_paths_and_addresses_in_names(tmp_path: Path, before: str, after: str | None) -> None:
    kept, _ = scrubbed(tmp_path, annotation(before, 0, 5))
    assert names(kept) == [before if after is None else after]


def test_who_is_named_in_one_place_is_hidden_in_all(tmp_path: Path) -> None:
    """`grace` is known by her home, `tux-7` by what the profiler calls the file, `ada` by a member."""
    kept, done = scrubbed(
        tmp_path,
        frame("/home/grace/train.py(7): main", 0, 90),
        annotation("Grace's step", 0, 50),
        annotation("copy to TUX-7", 50, 5),
        annotation("ada and cascade", 60, 5),
        name="runs/tux-7_4711.1693.pt.trace.json",
        distributedInfo={"backend": "nccl", "user": "ada"},
    )
    assert names(kept) == ["<user>'s step", "copy to <host>", "<user> and cascade"]
    assert kept["distributedInfo"] == {"backend": "nccl", "user": "<user>"}
    assert done.items[0].name == "runs/host_4711.1693.pt.trace.json"


def test_this_machine_and_user_are_hidden_without_being_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "tux.lab")
    monkeypatch.setattr(getpass, "getuser", lambda: "grace")
    kept, _ = scrubbed(tmp_path, annotation("Grace's step on tux, tux.lab, tuxedo", 0, 50))
    assert names(kept) == ["<user>'s step on <host>, <host>, tuxedo"]


def test_more_words_can_be_hidden(tmp_path: Path) -> None:
    kept, done = scrubbed(tmp_path, annotation("Project-X step", 0, 5), hide=("project-x",))
    assert names(kept) == ["<hidden> step"] and done.removed == {"hidden in a name": 1}


SECRETS = ("grace", "tux-7", "moonshot", "hopper@navy.mil")
PATHS = (
    "/home/grace/moonshot/train.py",
    "/scratch/moonshot/run 7/model.pt",
    "~grace/moonshot.json",
    "C:\\Users\\grace\\moonshot\\x.py",
    "file:///home/grace/moonshot",
    "moonshot/train.py(12): forward",
    "hopper@navy.mil",
    "tux-7",
    "grace",
)
secret_text = st.builds(
    lambda before, secret, after: before + secret + after,
    st.sampled_from(["", " ", "(", '"', "x: ", "\n", "=", "Loading '", "é "]),
    st.sampled_from(PATHS),
    st.sampled_from(["", " ", ")", '"', ": x", "\n", "=", "'", " é"]),
)
values = st.recursive(
    secret_text | st.integers(0, 9),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(secret_text, inner, max_size=2),
)
events_ = st.builds(
    lambda name, cat, args, extra, track: (
        span(cat, name, 1, 2, tid=track, **{"Input Dims": [[4]]}) | {"args": args} | extra
    ),
    secret_text,
    st.sampled_from(
        ["cpu_op", "user_annotation", "kernel", "cuda_runtime", "cpu_instant_event", "python_function"]
    )
    | secret_text,
    st.dictionaries(
        st.sampled_from(["name", "labels", "kind", "kernel", "Call stack"]) | secret_text, values, max_size=3
    ),
    st.dictionaries(st.sampled_from(["id", "bp", "s", "stack"]) | secret_text, values, max_size=2),
    secret_text | st.integers(1, 9),
)


@given(
    made=st.lists(events_, min_size=1, max_size=4),
    header=st.dictionaries(
        st.sampled_from(["traceName", "INFO", "distributedInfo", "rung", "displayTimeUnit"]) | secret_text,
        values,
    ),
    packed=st.booleans(),
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_sensitive_is_left(
    tmp_path: Path, made: list[Any], header: dict[str, Any], packed: bool
) -> None:
    """Wherever a secret stands: in names, categories, tracks, arguments, keys, members of the file."""
    known = frame("/home/grace/tux.py(1): main", 0, 9)
    header = {key: value for key, value in header.items() if key not in ("traceEvents", "device")}
    source = write(tmp_path / "source.json", known, *made, **header)
    name = f"tux-7_1.2.pt.trace.json{'.gz' if packed else ''}"
    with TemporaryDirectory(dir=tmp_path) as folder:
        (clean,) = scrub([item(source, name)], Path(folder), hide=("moonshot",)).items
        text = clean.local.read_bytes()
    left = json.dumps(json.loads(gzip.decompress(text) if packed else text), ensure_ascii=False).lower()
    assert not [secret for secret in SECRETS if secret in left]
    assert "/home" not in left and "scratch" not in left and "users" not in left


def seen(trace: Trace) -> dict[str, Any]:
    """What `rung read --json` says, but for the path, the events and what frames take part in."""
    told = trace_json(trace, *chosen(trace, None, None))
    return {
        **told,
        "trace": {key: told["trace"][key] for key in ("device", "rank", "incomplete", "stand_in")},
    }


@pytest.mark.parametrize("path", all_of("h200"), ids=lambda path: path.name)
def test_a_recording_reads_the_same_afterwards(tmp_path: Path, path: Path) -> None:
    (clean,) = scrub([item(path, path.name)], tmp_path).items
    assert seen(read(clean.local)) == seen(read(path))


def test_times_are_copied_to_the_digit(tmp_path: Path) -> None:
    raw = tracelib.text(op("aten::mm", 0, 5), launch(1, 1, 1), kernel("k", 2, 3, 1))
    source = tmp_path / "in.json"
    source.write_bytes(raw.replace(b'"ts": 2', b'"ts": 1693999999999999.125'))
    (clean,) = scrub([item(source, "in.json")], tmp_path).items
    assert b"1693999999999999.125" in clean.local.read_bytes()


def test_a_failure_leaves_no_copy(tmp_path: Path) -> None:
    source = write(tmp_path / "in.json", *CHAIN)
    with pytest.raises(OSError, match="No such file"):
        scrub([item(source, "in.json")], tmp_path / "none")
    assert [path.name for path in tmp_path.iterdir()] == ["in.json"]


def test_who_is_named_in_one_trace_is_hidden_in_all(tmp_path: Path) -> None:
    first = write(tmp_path / "a.json", frame("/home/grace/train.py(7): main", 0, 90), *CHAIN)
    second = write(tmp_path / "b.json", annotation("Grace's step", 0, 50))
    done = scrub([item(first, "a.json"), item(second, "for grace/b.json")], tmp_path)
    assert names(json.loads(done.items[1].local.read_bytes())) == ["<user>'s step"]
    assert [one.name for one in done.items] == ["a.json", "for user/b.json"]
