"""What went wrong at a store, in one line, without anything secret."""

from __future__ import annotations

import os
import re
import sys

from rung.stores.address import SIGNED

SECRET_NAME = re.compile(
    r"(?i)(token|secret|password|passwd|access_key|account_key|api_key|connection_string)"
)
SHORTEST = 6
"""Characters of a secret; what is shorter would be found in ordinary words."""

_PATTERNS = (
    (re.compile(r"\bhf_\w{6,}"), "***"),
    (re.compile(r"(?i)\b(bearer|basic|AWS4-HMAC-SHA256)\s+\S.*"), r"\1 ***"),
    (SIGNED, r"\1***"),
    (re.compile(r"(?<=://)[^/\s@]+@"), "***@"),
)

HINTS = {
    401: "it asks who you are: log in (hf auth login, or HF_TOKEN)",
    402: "it asks for payment: the account needs credit",
    403: "you may not",
    404: "it is not there, or not for you",
    413: "the file is too large for it",
    429: "too many requests: try again later",
}


def said(error: BaseException) -> str:
    """An error of a client library as one short line."""
    response = getattr(error, "response", None)
    status = getattr(response, "status_code", None)
    if isinstance(status, int):
        return f"{HINTS.get(status, 'it answered with an error')} ({status})"
    if type(error).__name__ == "LocalTokenNotFoundError":
        return HINTS[401]
    words = " ".join(str(error).split()) or type(error).__name__
    return hidden(words[:200].rstrip("."))


def hidden(text: str) -> str:
    """The text with `***` for every secret of this process: tokens, keys, signatures."""
    for secret in sorted(_secrets(), key=len, reverse=True):
        text = text.replace(secret, "***")
    for pattern, instead in _PATTERNS:
        text = pattern.sub(instead, text)
    return text


def _secrets() -> set[str]:
    found = {value for name, value in os.environ.items() if SECRET_NAME.search(name)}
    if "huggingface_hub" in sys.modules:
        from huggingface_hub import get_token

        found.add(get_token() or "")
    return {secret for secret in found if len(secret) >= SHORTEST}
