"""`rung share --bucket` with the real client, against a Hub on loopback."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

pytest.importorskip("huggingface_hub", reason="the Hub's client is not installed")
pytest.importorskip("lz4", reason="lz4, which the loopback store unpacks with, is not installed")

from loopback_hub import TOKEN, Bucket, Hub

COMPILED = "run 1 ä/compiled.json.gz"


@pytest.fixture
def hub() -> Iterator[Hub]:
    made = Hub()
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture
def env(hub: Hub) -> dict[str, str]:
    return {"HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HUB_DISABLE_TELEMETRY": "1"}


def artifacts(done: Any) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    return {one["name"]: one for one in json.loads(done.stdout)["artifacts"]}


def test_a_folder_goes_into_a_new_bucket_and_comes_back(
    rung: Any, traces: Path, hub: Hub, env: dict[str, str]
) -> None:
    found = artifacts(rung("share", traces, "-b", "shelf", "--yes", "--json", **env))
    assert hub.content("ada/shelf", "eager.json") == (traces / "eager.json").read_bytes()
    assert hub.content("ada/shelf", COMPILED) == (traces / COMPILED).read_bytes()
    assert sorted(found) == ["eager.json", COMPILED]  # notes.json is no trace
    assert found[COMPILED]["url"] == f"{hub.url}/buckets/ada/shelf/resolve/run%201%20%C3%A4/compiled.json.gz"

    read = rung("read", f"hf://buckets/ada/shelf/{COMPILED}", "--json", **env)
    assert [kernel["op"] for kernel in json.loads(read.stdout)["kernels"]] == ["aten::gelu", "aten::mul"]
    size = (traces / COMPILED).stat().st_size
    assert read.stderr == f"hf://buckets/ada/shelf/{COMPILED}: {size} B\n"


def test_the_link_is_one_that_perfetto_takes_apart_again(
    rung: Any, traces: Path, hub: Hub, env: dict[str, str]
) -> None:
    """Its router decodes what stands behind `url=`, and fetches that."""
    one = artifacts(rung("share", traces, "-b", "shelf", "--yes", "--json", **env))[COMPILED]
    before, _, behind = one["perfetto"].partition("?url=")
    assert before == "https://ui.perfetto.dev/#!/"
    assert unquote(behind) == one["url"]
    assert not set(behind) & set("&#+/ ?")


def test_nothing_is_created_unasked(rung: Any, traces: Path, hub: Hub, env: dict[str, str]) -> None:
    done = rung("share", traces, "-b", "shelf", "-n", "team", **env)
    assert done.returncode == 2 and done.stdout == ""
    assert "create hf://buckets/team/shelf? Its files are for everyone: nobody is here to ask" in done.stderr
    assert not hub.buckets


def test_what_is_there_is_not_sent_again(rung: Any, traces: Path, hub: Hub, env: dict[str, str]) -> None:
    rung("share", traces, "-b", "shelf", "--yes", **env)
    asked = len(hub.requests)
    found = artifacts(rung("share", traces, "-b", "shelf", "--json", **env))
    assert {name: one["sent"] for name, one in found.items()} == {"eager.json": False, COMPILED: False}
    assert {method for method, path, _ in hub.requests[asked:] if "/v1/telemetry" not in path} == {"GET"}

    (traces / "eager.json").write_bytes((traces / "eager.json").read_bytes() + b"\n")
    found = artifacts(rung("share", traces, "-b", "shelf", "--json", **env))
    assert {name: one["sent"] for name, one in found.items()} == {"eager.json": True, COMPILED: False}
    assert hub.content("ada/shelf", "eager.json").endswith(b"\n")


def test_a_private_bucket_says_that_perfetto_cannot_fetch_it(
    rung: Any, traces: Path, hub: Hub, env: dict[str, str]
) -> None:
    done = rung("share", traces / "eager.json", "-b", "shelf", "--private", "--yes", "--json", **env)
    one = artifacts(done)["eager.json"]
    assert hub.buckets["ada/shelf"].private
    assert one["perfetto"] is None and "private: Perfetto cannot fetch it" in done.stderr
    assert rung("read", "hf://buckets/ada/shelf/eager.json", **env).returncode == 0
    stranger = rung("read", "hf://buckets/ada/shelf/eager.json", **env | {"HF_TOKEN": ""})
    assert stranger.returncode == 3 and "does not exist" in stranger.stderr


def test_an_old_private_bucket_is_asked_not_believed(
    rung: Any, traces: Path, hub: Hub, env: dict[str, str]
) -> None:
    hub.buckets["ada/shelf"] = Bucket(private=True)
    assert artifacts(rung("share", traces, "-b", "shelf", "--json", **env))["eager.json"]["perfetto"] is None


def test_a_public_bucket_is_not_taken_for_a_private_one(
    rung: Any, traces: Path, hub: Hub, env: dict[str, str]
) -> None:
    hub.buckets["ada/shelf"] = Bucket(private=False)
    done = rung("share", traces, "-b", "shelf", "--private", "--yes", **env)
    assert done.returncode == 2 and "is there, and public" in done.stderr
    assert not hub.buckets["ada/shelf"].files


def test_delete_takes_away_what_is_not_here_and_nothing_else(
    rung: Any, traces: Path, hub: Hub, env: dict[str, str]
) -> None:
    rung("share", traces, "-b", "shelf", "--yes", **env)
    hub.buckets["ada/shelf"].files["model.safetensors"] = {
        **hub.buckets["ada/shelf"].files["eager.json"],
        "path": "model.safetensors",
    }
    (traces / "eager.json").unlink()

    artifacts(rung("share", traces, "-b", "shelf", "--json", **env))
    assert "eager.json" in hub.buckets["ada/shelf"].files

    unasked = rung("share", traces, "-b", "shelf", "--delete", **env)
    assert unasked.returncode == 2 and "eager.json" in hub.buckets["ada/shelf"].files

    done = rung("share", traces, "-b", "shelf", "--delete", "--yes", "--json", **env)
    assert json.loads(done.stdout)["deleted"] == ["eager.json"]
    assert sorted(hub.buckets["ada/shelf"].files) == ["model.safetensors", COMPILED]


def test_a_failure_leaves_nothing_half_named_and_the_next_run_goes_on(
    rung: Any, traces: Path, hub: Hub, env: dict[str, str]
) -> None:
    hub.broken = lambda path: path.endswith("/batch")
    done = rung("share", traces, "-b", "shelf", "--yes", "--json", **env)
    assert done.returncode == 4 and done.stdout == ""
    assert "Run it again to go on." in done.stderr and "Traceback" not in done.stderr
    assert not hub.buckets["ada/shelf"].files and hub.store.files  # the content is there, without a name

    hub.broken = lambda path: False
    found = artifacts(rung("share", traces, "-b", "shelf", "--json", **env))
    assert hub.content("ada/shelf", "eager.json") == (traces / "eager.json").read_bytes()
    assert all(one["sent"] for one in found.values())


@pytest.mark.parametrize("broken", ["/batch", "/tree", "/api/buckets/ada/shelf", "/api/whoami-v2", "/shards"])
def test_a_token_never_reaches_a_log_or_an_error(
    rung: Any, traces: Path, hub: Hub, env: dict[str, str], broken: str
) -> None:
    hub.buckets["ada/shelf"] = Bucket(private=False)
    hub.broken = lambda path: path.endswith(broken)
    done = rung("share", traces, "-b", "shelf", "--yes", **env)
    assert any(TOKEN in allowed for _, _, allowed in hub.requests)  # it was used
    assert done.returncode == 4
    assert TOKEN not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_who_is_not_logged_in_is_told_so(rung: Any, traces: Path, hub: Hub, env: dict[str, str]) -> None:
    done = rung("share", traces, "-b", "shelf", "--yes", **env | {"HF_TOKEN": ""})
    assert done.returncode == 4 and "HF_TOKEN" in done.stderr and len(done.stderr.splitlines()) == 2


def test_pages_go_up_too(rung: Any, traces: Path, hub: Hub, env: dict[str, str]) -> None:
    found = artifacts(rung("share", traces, "-b", "shelf", "--html", "--yes", "--json", **env))
    page = hub.content("ada/shelf", "run 1 ä/compiled.html").decode()
    assert page.startswith("<!doctype html>") and str(traces) not in page
    assert found[COMPILED]["page"].endswith("/resolve/run%201%20%C3%A4/compiled.html")


def test_scrubbed_is_what_goes_up(rung: Any, traces: Path, hub: Hub, env: dict[str, str]) -> None:
    secret = json.loads((traces / "eager.json").read_bytes())
    secret["traceName"] = "/home/grace/runs/eager.json"
    (traces / "eager.json").write_text(json.dumps(secret))
    done = rung("share", traces, "-b", "shelf", "--scrub", "--html", "--yes", "--json", **env)
    found = json.loads(done.stdout)
    assert found["scrubbed"]["member traceName"] == 1 and "1  member traceName" in done.stderr
    for name in hub.buckets["ada/shelf"].files:
        content = hub.content("ada/shelf", name)
        content = gzip.decompress(content) if name.endswith(".gz") else content
        assert b"grace" not in content and b"/home" not in content
