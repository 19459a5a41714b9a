"""Files behind https://, by Python's own client."""

from __future__ import annotations

from collections.abc import Iterator
from http.client import HTTPException, HTTPResponse
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from rung.errors import UnreadableTraceError
from rung.stores.address import shown
from rung.stores.fetching import Far
from rung.stores.trouble import HINTS, hidden

BLOCK = 1 << 20
TIMEOUT_S = 30
TRIES = 4
"""How often a connection that breaks is taken up again where it broke."""


class _Redirects(HTTPRedirectHandler):
    """Follows to http and https alone, and never from the safe one to the other."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        kind = newurl.partition(":")[0].lower()
        if kind not in ("http", "https") or (req.type == "https" and kind == "http"):
            raise UnreadableTraceError(f"{shown(req.full_url)} leads to {kind}://; Rung does not follow.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def open_web(url: str) -> Far:
    """The file that a GET answers with.

    Raises:
        UnreadableTraceError: the server cannot be reached, or says no.
    """
    response = _get(url, {})
    length = response.headers.get("Content-Length", "")
    nbytes = int(length) if length.isdigit() else None
    return Far(nbytes, _blocks(url, response, nbytes))


def _blocks(url: str, response: HTTPResponse, nbytes: int | None) -> Iterator[bytes]:
    """All the bytes. Where the server names a version, a connection that breaks is taken up again."""
    version = response.headers.get("ETag")
    done = 0
    for _ in range(TRIES):
        with response:
            try:
                while block := response.read(BLOCK):
                    done += len(block)
                    yield block
            except (OSError, HTTPException):
                if nbytes is None:
                    raise
        if nbytes is None or done >= nbytes or not version or version.startswith("W/"):
            return
        response = _get(url, {"Range": f"bytes={done}-", "If-Range": version})
        if response.status != 206:
            return


def _get(url: str, headers: dict[str, str]) -> HTTPResponse:
    request = Request(url.partition("#")[0], headers={"User-Agent": "rung", **headers})
    try:
        response: HTTPResponse = build_opener(_Redirects).open(request, timeout=TIMEOUT_S)
    except HTTPError as error:
        error.close()
        if error.code == 404:
            raise UnreadableTraceError(f"{shown(url)} does not exist (404).") from None
        if 300 <= error.code < 400:  # urllib's own refusal
            raise UnreadableTraceError(f"{shown(url)} leads out of the web; Rung does not follow.") from None
        reason = HINTS.get(error.code, "the server says no")
        raise UnreadableTraceError(f"{shown(url)} cannot be read: {reason} ({error.code}).") from None
    except URLError as error:
        raise UnreadableTraceError(f"{shown(url)} cannot be reached: {hidden(str(error.reason))}.") from None
    except (OSError, HTTPException, ValueError) as error:
        raise UnreadableTraceError(f"{shown(url)} cannot be read: {hidden(str(error))}.") from None
    return response
