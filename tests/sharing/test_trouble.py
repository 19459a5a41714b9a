"""What is said of an error, and what is not."""

from __future__ import annotations

from email.message import Message
from io import BytesIO
from urllib.request import Request

import pytest

from rung.errors import UnreadableTraceError
from rung.stores.trouble import hidden, said
from rung.stores.web import _Redirects


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HF_TOKEN", "hf_" + "q" * 30),
        ("AWS_SECRET_ACCESS_KEY", "abc/def+ghi"),
        ("AWS_SESSION_TOKEN", "session-value"),
        ("AZURE_STORAGE_CONNECTION_STRING", "AccountName=x;AccountKey=yyyy"),
        ("AZURE_STORAGE_ACCOUNT_KEY", "account-value"),
        ("MY_PASSWORD", "correct horse"),
    ],
)
def test_the_secrets_of_the_environment_are_not_said(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert said(RuntimeError(f"refused '{value}' at\nthe door.")) == "refused '***' at the door"


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("Authorization: Bearer abc.def", "Authorization: Bearer ***"),
        ("GET https://x/a?X-Amz-Signature=12ab&v=3", "GET https://x/a?X-Amz-Signature=***&v=3"),
        ("https://x/a?sv=1&sig=12%2Fab", "https://x/a?sv=1&sig=***"),
        ("https://ada:pw@x/a", "https://***@x/a"),
        ("token hf_abcdefgh is wrong", "token *** is wrong"),
        ("no secret here", "no secret here"),
    ],
)
def test_what_looks_like_a_secret_is_not_said(text: str, after: str) -> None:
    assert hidden(text) == after


def test_an_error_without_words_has_a_name() -> None:
    assert said(TimeoutError()) == "TimeoutError"


def test_it_does_not_follow_from_https_to_http() -> None:
    headers = Message()
    with pytest.raises(UnreadableTraceError, match=r"https://x/a leads to http://; Rung does not follow"):
        _Redirects().redirect_request(Request("https://x/a"), BytesIO(), 302, "", headers, "http://x/a")
    followed = _Redirects().redirect_request(
        Request("http://x/a"), BytesIO(), 302, "", headers, "https://x/b"
    )
    assert followed is not None and followed.full_url == "https://x/b"
