"""These run only under Triton's interpreter, in the process that `test_interpreter.py` starts."""

import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("TRITON_INTERPRET") == "1":
        return
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.skip(reason="needs TRITON_INTERPRET=1: test_interpreter.py runs it"))
