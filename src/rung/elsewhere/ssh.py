"""An errand on a machine that plain ssh reaches: a folder there, the files, the command, the traces back."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rung.elsewhere.errand import RESULT, TRACES, Errand
from rung.elsewhere.listening import Listening
from rung.errors import MachineError

NOT_FOUND, UNREACHED = 127, 255
"""Exit codes: the shell there knows no such command; ssh itself failed."""


def run(errand: Errand, host: str, into: Path, say: Callable[[str], None]) -> None:
    """Runs it on `host` and leaves what it wrote in `into`. Nothing stays there, whatever happens.

    Raises:
        MachineError: ssh is missing or does not get there, or the command failed, with what it said last.
    """
    with _folder(host) as folder:
        if errand.luggage:
            _call("scp", "-q", *(str(path.absolute()) for path in errand.luggage), f"{host}:{folder}/")
        listening = Listening(say)
        code = _listen(host, line(errand, folder), listening, folder)
        if code == NOT_FOUND:
            lacking = "rung" if errand.package is None else "python3"
            instead = ", or give --from this" if errand.package is None else ""
            raise MachineError(
                f"{host} has no {lacking} that a plain ssh session finds: install it there{instead}"
            )
        if code:
            who = f"ssh to {host}" if code == UNREACHED else f"rung on {host} (exit {code})"
            raise MachineError(f"{who}: {listening.reason}")
        _call("scp", "-q", "-r", f"{host}:{folder}/{TRACES}", f"{host}:{folder}/{RESULT}", str(into))


def line(errand: Errand, folder: str) -> str:
    """What sh runs there. Its process becomes the command's, so the number in `pid` is the one to stop.

    A package goes beside the work, not into an environment: pip then asks no system for leave, and torch is
    the one that is there.
    """
    steps = [f"cd {folder}", "echo $$ > pid"]
    rung = "rung"
    if errand.package is not None:
        package = f"./{errand.package.name}" if isinstance(errand.package, Path) else errand.package
        steps.append(
            f"python3 -m pip install -q --disable-pip-version-check --target site {shlex.quote(package)} >&2"
        )
        rung = f"env PYTHONPATH={folder}/site python3 -m rung"
    steps.append(f"exec {rung} {shlex.join(errand.arguments)} > {RESULT}")
    return f"sh -c {shlex.quote(' && '.join(steps))}"


@contextmanager
def _folder(host: str) -> Iterator[str]:
    # At home, which the nodes of a cluster share, where the command hands itself to one of them.
    said = _call("ssh", host, 'mktemp -d "$HOME/rung-XXXXXXXX"')
    # What a login script prints comes before.
    found = re.search(r"^(/[\w/.@+-]+/rung-\w{8})\s*\Z", said, re.MULTILINE)
    if found is None:
        raise MachineError(f"ssh {host}: mktemp -d made no folder but said {said[:60]!r}")
    try:
        yield found[1]
    finally:
        with suppress(MachineError):
            _call("ssh", host, f"rm -rf {found[1]}")


def _listen(host: str, command: str, listening: Listening, folder: str) -> int:
    """Runs the command there and hears what it says; its exit code."""
    running = subprocess.Popen(
        ["ssh", host, command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    with running:
        assert running.stderr is not None
        try:
            for heard in running.stderr:
                listening.hear(heard)
            return running.wait()
        except BaseException:
            # Without a terminal there, nothing tells the command that nobody listens any more.
            running.terminate()
            with suppress(MachineError):
                _call("ssh", host, f"kill $(cat {folder}/pid)")
                listening.say(f"stopped it on {host}")
            raise


def _call(*command: str) -> str:
    """Runs a program; what it prints."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
        )
    except FileNotFoundError:
        raise MachineError(f"{command[0]} is not installed here; it comes with OpenSSH") from None
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise MachineError(f"{command[0]}: {said[-1].strip().removeprefix(f'{command[0]}: ')}")
    return done.stdout
