"""Addresses of files: which names are one, what of it may be shown."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from rung.errors import UsageError

SCHEMES = ("https", "http", "hf", "s3", "gs", "gcs", "az", "abfs", "file")

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_USER = re.compile(r"(?<=://)[^/?#@]*@")
SIGNED = re.compile(
    r"(?i)([?&](?:x-amz-[\w-]+|x-goog-[\w-]+|awsaccesskeyid|sig|signature|token|key)=)[^&\s\"']+"
)


def is_remote(name: str) -> bool:
    """Whether a name is an address, not a path here."""
    return _ADDRESS.match(name) is not None


def scheme(url: str) -> str:
    """`s3` of `s3://bucket/key`.

    Raises:
        UsageError: it is none that Rung knows, or the address holds a password.
    """
    found = _ADDRESS.match(url)
    kind = found[1].lower() if found else ""
    if kind not in SCHEMES:
        known = ", ".join(f"{one}://" for one in SCHEMES)
        raise UsageError(f"{shown(url)} is no address that Rung knows: it takes {known}.")
    if _USER.search(url):
        raise UsageError(f"{shown(url)} holds a password: leave it out, addresses end up in logs.")
    return kind


def shown(url: str) -> str:
    """The address without what is secret: a user with a password, the values of a signature behind `?`.

    Any other name is returned as it is.
    """
    if not is_remote(url):
        return url
    return SIGNED.sub(r"\1***", _USER.sub("", url, count=1))


def last_name(url: str) -> str:
    """The file's own name, `eager.json.gz`, fit for a file here: it leads nowhere."""
    path = unquote(urlsplit(url).path) if url.lower().startswith("http") else url
    name = re.split(r"[/\\]", path.rstrip("/"))[-1]
    return "trace" if name in ("", ".", "..") else re.sub(r"[\x00-\x1f\x7f]", "_", name)
