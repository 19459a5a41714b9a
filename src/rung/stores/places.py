"""From what was asked to a store."""

from __future__ import annotations

from rung.errors import UsageError
from rung.stores.address import is_remote, scheme
from rung.stores.hub import Bucket
from rung.stores.objects import Objects
from rung.stores.place import Store

LONGEST = 7
"""Days that S3 signs for at most."""


def store(
    bucket: str | None, namespace: str | None, to: str | None, *, private: bool = False, days: int = LONGEST
) -> Store:
    """The Hub's bucket of that name, or whatever the address is: `to`, or `bucket` if it is one.

    Raises:
        UsageError: neither or both were given, the address is none, or it cannot be written to.
        MachineError: the store's library is not installed, or you are not logged in.
    """
    if bucket is not None and to is None and is_remote(bucket):
        bucket, to = None, bucket
    if (bucket is None) == (to is None):
        raise UsageError("say where to: --bucket NAME on the Hub, or --to s3://bucket/folder.")
    if not 1 <= days <= LONGEST:
        raise UsageError(f"--days takes 1 to {LONGEST}: no store signs for longer.")
    if bucket is not None:
        return Bucket.named(bucket, namespace, private)
    assert to is not None
    if namespace is not None:
        raise UsageError("--namespace goes with --bucket.")
    if not is_remote(to):
        raise UsageError(f"{to} is no address; one is s3://bucket/folder, or file:///folder.")
    if (kind := scheme(to)) == "hf":
        return Bucket.at(to, private)
    if private:
        raise UsageError("--private is about a new bucket on the Hub.")
    if kind in ("http", "https"):
        raise UsageError(
            f"nothing can be put at {kind}://: --to takes hf://, s3://, gs://, az:// and file://."
        )
    return Objects.at(to, days)
