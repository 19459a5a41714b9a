"""The running code as a wheel; that pip installs it, test_ssh shows."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64decode
from pathlib import Path
from zipfile import ZipFile

import rung
from rung.elsewhere import own_wheel

INFO = f"rung-{rung.__version__}.dist-info"
HERE = Path(rung.__file__).parent


def test_it_has_the_code_that_runs_here(tmp_path: Path) -> None:
    with ZipFile(own_wheel(tmp_path)) as wheel:
        names = set(wheel.namelist())
        assert wheel.read("rung/elsewhere/package.py") == (HERE / "elsewhere" / "package.py").read_bytes()
        assert b"rung = rung.cli:main" in wheel.read(f"{INFO}/entry_points.txt")
        assert b"\nRequires-Dist: torch" in wheel.read(f"{INFO}/METADATA")
    modules = {f"rung/{path.relative_to(HERE).as_posix()}" for path in HERE.rglob("*.py")}
    assert modules <= names
    assert not [name for name in names if "__pycache__" in name or "/." in name]


def test_its_record_names_every_file_with_its_hash(tmp_path: Path) -> None:
    with ZipFile(own_wheel(tmp_path)) as wheel:
        lines = wheel.read(f"{INFO}/RECORD").decode().splitlines()
        assert {line.rsplit(",", 2)[0] for line in lines} == set(wheel.namelist())
        for line in lines:
            name, digest, size = line.rsplit(",", 2)
            if name != f"{INFO}/RECORD":
                content = wheel.read(name)
                wanted = urlsafe_b64decode(digest.removeprefix("sha256=") + "=")
                assert (hashlib.sha256(content).digest(), len(content)) == (wanted, int(size))
