"""An errand as a job on Hugging Face's machines: sent and fetched through a folder of a private bucket."""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from secrets import token_hex
from typing import Any

from rung import units
from rung.elsewhere.back import written
from rung.elsewhere.errand import RESULT, TRACES, Errand, requirement
from rung.elsewhere.listening import Listening
from rung.elsewhere.offer import LIMIT, Offer
from rung.errors import MachineError, RungError, UsageError
from rung.stores.fetching import near
from rung.stores.hub import Bucket
from rung.stores.libraries import client
from rung.stores.place import Item
from rung.stores.trouble import said

IMAGE = "ghcr.io/astral-sh/uv:python3.12-bookworm"
"""What the client's own run_uv_job takes: uv, and the compiler and headers that Triton needs."""

BUCKET, MOUNT = "jobs-artifacts", "/data"
"""The bucket that the client keeps for jobs, and where it mounts it."""

COMMAND = "command.txt"
"""What says, in the bucket, what the folder is. A folder without a file could not be mounted."""

LATE_S = 60.0
"""How long after a job's end what it wrote may take to show in the bucket."""


def offer(flavor: str) -> Offer:
    """What that flavor is and costs, asked of Hugging Face now.

    Raises:
        UsageError: there is no such flavor.
        MachineError: huggingface_hub is missing, nobody is logged in, or the Hub does not answer.
    """
    api = _api()
    with _told("hf-jobs"):
        api.whoami()
        found = {one.name: one for one in api.list_jobs_hardware()}
    if flavor not in found:
        raise UsageError(f"hf-jobs has no flavor {flavor!r}: give {', '.join(found)}.")
    return Offer.of(found[flavor])


def run(errand: Errand, offer: Offer, into: Path, say: Callable[[str], None]) -> None:
    """Runs it as a job and leaves what it wrote in `into`; cancels the job where that is interrupted.

    The folder in the bucket is removed when everything came back, and stays otherwise.

    Raises:
        MachineError: the job failed, with what it said last; or Hugging Face refused it.
    """
    api = _api()
    with _told("hf-jobs"):
        owner = api.whoami()["name"]
    bucket = Bucket.at(f"hf://buckets/{owner}/{BUCKET}/{_folder()}", private=True)
    _send(bucket, errand, into, say)
    with _told("hf-jobs"):
        job = _start(api, owner, bucket, errand, offer)
        say(f"started {job.url}")
        _follow(api, owner, job, say)
    _fetch(bucket, into, say)
    with suppress(RungError):  # what stays costs nothing but room
        bucket.delete(list(bucket.there()))


def command(errand: Errand) -> list[str]:
    """What the container runs: in a folder of its own, for a mounted bucket is no place to work in.

    Raises:
        UsageError: the errand counts on a Rung that is there.
    """
    if errand.package is None:
        raise UsageError("a job starts from nothing: say what is run there with --from.")
    rung = ["uvx", "--from", requirement(errand.package, MOUNT), "rung", *errand.arguments]
    return [
        "sh",
        "-c",
        f"mkdir /tmp/errand && cp -r {MOUNT}/. /tmp/errand && cd /tmp/errand && "
        f"{shlex.join(rung)} > {RESULT} && cp -r {TRACES} {MOUNT} && cp {RESULT} {MOUNT}",
    ]


def _api() -> Any:
    return client("hf").HfApi(library_name="rung")


def _folder() -> str:
    return f"rung-{datetime.now(UTC):%Y%m%dT%H%M%S}-{token_hex(3)}"


def _send(bucket: Bucket, errand: Errand, scratch: Path, say: Callable[[str], None]) -> None:
    if not bucket.exists():
        bucket.create()
    if not bucket.private:
        say(f"{bucket.url} is public: whoever knows its name can read what is sent and recorded")
    note = scratch / COMMAND
    note.write_text(shlex.join(command(errand)) + "\n", encoding="utf-8")
    bucket.put([_item(path) for path in (*errand.luggage, note)])


def _item(path: Path) -> Item:
    about = path.stat()
    return Item(path, path.name, about.st_size, about.st_mtime)


def _start(api: Any, owner: str, bucket: Bucket, errand: Errand, offer: Offer) -> Any:
    volume = client("hf").Volume(type="bucket", source=bucket.id, path=bucket.prefix, mount_path=MOUNT)
    return api.run_job(
        image=IMAGE,
        command=command(errand),
        flavor=offer.flavor,
        timeout=f"{LIMIT}m",
        name=f"rung-{errand.arguments[0]}",
        volumes=[volume],
        namespace=owner,
    )


def _follow(api: Any, owner: str, job: Any, say: Callable[[str], None]) -> None:
    """Hands on its log until it ends."""
    listening = Listening(say)
    try:
        for line in api.fetch_job_logs(job_id=job.id, namespace=owner, follow=True):
            listening.hear(line)
        status = api.wait_for_job(job.id, namespace=owner).status
    except BaseException:
        _cancel(api, owner, job, say)
        raise
    if status.stage != "COMPLETED":
        reason = listening.error or status.message or listening.reason
        raise MachineError(f"the job ended as {status.stage}: {reason} ({job.url})")


def _cancel(api: Any, owner: str, job: Any, say: Callable[[str], None]) -> None:
    try:
        api.cancel_job(job_id=job.id, namespace=owner)
        say(f"cancelled {job.url}")
    except Exception:  # each layer of the client has its own kinds
        say(f"could not cancel {job.url}: do it there, or it runs on until its {LIMIT} minutes are over")


def _fetch(bucket: Bucket, into: Path, say: Callable[[str], None]) -> None:
    """Brings what the job wrote, as soon as all of it is there."""
    until = time.monotonic() + LATE_S
    while lacking := _lacking(bucket, into):
        if time.monotonic() > until:
            raise MachineError(f"the job ended well, but {lacking} is not in {bucket.url}")
        time.sleep(2)
    traces = {name: known for name, known in bucket.there().items() if name.startswith(f"{TRACES}/")}
    nbytes = sum(known.nbytes for known in traces.values())
    say(f"fetching {units.count(len(traces), 'file')}, {units.size(nbytes)}")
    for name in traces:
        _bring(bucket, name, into)


def _lacking(bucket: Bucket, into: Path) -> str | None:
    there = bucket.there()
    if RESULT not in there:
        return RESULT
    _bring(bucket, RESULT, into)
    return next((path for path in written(into) if path not in there), None)


def _bring(bucket: Bucket, name: str, into: Path) -> None:
    if ".." in PurePosixPath(name).parts:
        raise MachineError(f"{bucket.url} has a file called {name!r}, which leads out of it")
    (into / name).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(near(f"{bucket.url}/{name}"), into / name)


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Whatever the client raises as one line, without anything secret."""
    try:
        yield
    except RungError:
        raise
    except Exception as error:
        raise MachineError(f"{what}: {said(error)}.") from None
