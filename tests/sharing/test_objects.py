"""`rung share --to` an S3 server on loopback (rclone's), and a folder."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from urllib.request import urlopen

import pytest

from rung.cli.app import run
from rung.errors import MachineError
from rung.stores.objects import Objects, _modified
from rung.stores.place import Item

COMPILED = "run 1 ä/compiled.json.gz"


def artifacts(done: Any) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    return {one["name"]: one for one in json.loads(done.stdout)["artifacts"]}


def test_s3_gets_the_files_and_signs_links_to_them(
    rung: Any, traces: Path, s3: dict[str, str], s3_root: Path
) -> None:
    done = rung("share", traces, "--to", "s3://shelf/my runs", "--days", "2", "--json", **s3)
    one = artifacts(done)[COMPILED]
    assert (s3_root / "shelf" / "my runs" / COMPILED).read_bytes() == (traces / COMPILED).read_bytes()
    with urlopen(one["url"]) as fetched:  # as a browser would: nothing but the address
        assert fetched.read() == (traces / COMPILED).read_bytes()
    query = parse_qs(urlsplit(one["url"]).query)
    assert query["X-Amz-Expires"] == [str(2 * 24 * 3600)] and one["days"] == 2
    assert unquote(one["perfetto"].partition("?url=")[2]) == one["url"]
    assert "CORS" in done.stderr

    read = rung("read", f"s3://shelf/my runs/{COMPILED}", "--json", **s3)
    assert [kernel["op"] for kernel in json.loads(read.stdout)["kernels"]] == ["aten::gelu", "aten::mul"]
    assert read.stderr == f"s3://shelf/my runs/{COMPILED}: {(traces / COMPILED).stat().st_size} B\n"


def test_s3_gets_what_is_new_and_loses_what_is_asked_for(
    rung: Any, traces: Path, s3: dict[str, str], s3_root: Path
) -> None:
    at = ("--to", "s3://shelf/again", "--json")
    artifacts(rung("share", traces, *at, **s3))
    assert not any(one["sent"] for one in artifacts(rung("share", traces, *at, **s3)).values())
    (s3_root / "shelf" / "again" / "weights.bin").write_bytes(b"not ours")
    (traces / "eager.json").unlink()
    done = rung("share", traces, *at, "--delete", "--yes", **s3)
    assert json.loads(done.stdout)["deleted"] == ["eager.json"]
    left = [path.name for path in (s3_root / "shelf" / "again").rglob("*") if path.is_file()]
    assert sorted(left) == ["compiled.json.gz", "weights.bin"]


@pytest.mark.parametrize(
    ("verb", "at", "change", "code", "said"),
    [
        ("share", "s3://no-such-bucket/x", {}, 2, "there is no such bucket; create it first"),
        ("share", "s3://shelf/x", {"AWS_SECRET_ACCESS_KEY": "a-wrong-secret-key"}, 4, "signature"),
        ("share", "s3://shelf/x", {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, 4, "Could not connect"),
        ("read", "s3://shelf/none.json", {}, 3, "s3://shelf/none.json does not exist."),
        ("read", "s3://shelf/x.json", {"AWS_SECRET_ACCESS_KEY": "a-wrong-secret-key"}, 3, "Forbidden"),
    ],
)
def test_what_s3_refuses_is_one_line_without_the_key(
    rung: Any,
    traces: Path,
    s3: dict[str, str],
    verb: str,
    at: str,
    change: dict[str, str],
    code: int,
    said: str,
) -> None:
    arguments = ("share", traces / "eager.json", "--to", at) if verb == "share" else ("read", at)
    done = rung(*arguments, **s3 | change)
    assert done.returncode == code and done.stdout == ""
    assert said in done.stderr and len(done.stderr.splitlines()) == 1
    assert (s3 | change)["AWS_SECRET_ACCESS_KEY"] not in done.stderr


@pytest.fixture
def files() -> None:
    pytest.importorskip("fsspec", reason="fsspec is not installed")


def test_a_folder_is_a_store_too(
    files: None, traces: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shelf = tmp_path / "my shelf"
    assert run(["share", str(traces), "--to", shelf.as_uri().replace("%20", " "), "--json"]) == 0
    told = capsys.readouterr()
    one = {a["name"]: a for a in json.loads(told.out)["artifacts"]}[COMPILED]
    assert (shelf / COMPILED).read_bytes() == (traces / COMPILED).read_bytes()
    assert one["url"] == (shelf / COMPILED).as_uri() and one["perfetto"] is None
    assert "rung show --perfetto" in told.err
    assert run(["read", one["url"]]) == 0


def test_a_file_that_fails_leaves_no_part_of_itself(
    files: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old one stays as it was, the one before it is there."""
    first, second = tmp_path / "1.json", tmp_path / "2.json"
    first.write_bytes(b"first")
    second.write_bytes(b"second, new")
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    (shelf / "2.json").write_bytes(b"second, old")
    store = Objects.at(shelf.as_uri(), 7)

    def put_file(local: str, target: str, callback: Any = None) -> None:
        Path(target).write_bytes(Path(local).read_bytes()[:3])
        if local == str(second):
            raise OSError("the disk is full")

    monkeypatch.setattr(store.files, "put_file", put_file)
    items = [Item(path, path.name, path.stat().st_size, 0.0) for path in (first, second)]
    with pytest.raises(MachineError, match=r"2\.json was not uploaded to .*: the disk is full.*run it again"):
        store.put(items)
    assert sorted(path.name for path in shelf.iterdir()) == ["1.json", "2.json"]
    assert (shelf / "2.json").read_bytes() == b"second, old"


def test_progress_counts_the_bytes_of_all_files(files: None, tmp_path: Path) -> None:
    items = []
    for number in range(3):
        path = tmp_path / f"{number}.json"
        path.write_bytes(b"x" * 100)
        items.append(Item(path, path.name, 100, 0.0))
    told: list[tuple[int, int]] = []
    Objects.at((tmp_path / "shelf").as_uri(), 7).put(items, lambda done, total: told.append((done, total)))
    assert told == sorted(told) and told[-1] == (300, 300)


def test_a_store_that_cannot_sign_says_so(files: None) -> None:
    from fsspec.implementations.memory import MemoryFileSystem

    google = Objects("gs://shelf/x", 7, MemoryFileSystem(), "shelf/x").link("a b.json")
    assert google.url == "https://storage.googleapis.com/shelf/x/a%20b.json" and google.days is None
    assert google.note.startswith("not signed: works if it is public")
    azure = Objects("az://shelf/x", 7, MemoryFileSystem(), "shelf/x").link("a b.json")
    assert (azure.url, azure.is_open, azure.note) == (None, False, "the store signs no link here")


@pytest.mark.parametrize(
    "info",
    [
        {"LastModified": datetime(2026, 1, 1, tzinfo=UTC)},  # S3
        {"updated": "2026-01-01T00:00:00.000Z"},  # Google
        {"last_modified": datetime(2026, 1, 1, tzinfo=UTC)},  # Azure
        {"mtime": 1767225600.0},  # a file
    ],
)
def test_each_store_has_its_own_word_for_when(info: dict[str, Any]) -> None:
    assert _modified(info) == 1767225600.0
    assert _modified({"size": 1}) is None
