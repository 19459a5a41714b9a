"""A machine to ssh to, on loopback: a real sshd with keys of its own, for whoever runs the tests."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
PROGRAMS = ("ssh", "scp", "ssh-keygen")


class NoSshdError(Exception):
    """Why there can be none here."""


@dataclass(frozen=True)
class Host:
    """ssh knows it as `loopback`, if `here` is on the PATH. Its sessions have `bin` on theirs."""

    folder: Path

    @property
    def here(self) -> Path:
        return self.folder / "here"

    @property
    def bin(self) -> Path:
        return self.folder / "bin"


def program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@contextmanager
def serving(folder: Path) -> Iterator[Host]:
    """Starts it, with all it needs in `folder`, and stops it."""
    if SSHD is None or not all(map(shutil.which, PROGRAMS)):
        raise NoSshdError("needs sshd, ssh and scp: apt-get install openssh-server openssh-client")
    host, port = Host(folder), _free_port()
    _configure(host, port)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # where Debian's sshd gives up its rights
    with (folder / "log").open("w") as log:
        server = subprocess.Popen([SSHD, "-D", "-e", "-f", folder / "sshd_config"], stderr=log)
        try:
            _wait_for(port, server, folder / "log")
            yield host
        finally:
            server.terminate()
            server.wait()


def _configure(host: Host, port: int) -> None:
    folder, me = host.folder, getpass.getuser()
    for path in (host.bin, host.here):
        path.mkdir()
    for key in ("host_key", "key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True)
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {(folder / 'host_key.pub').read_text()}")
    # A home without login scripts, which could change the PATH; and pip, which installs from here alone.
    (folder / "sshd_config").write_text(
        f"""
        ListenAddress 127.0.0.1
        Port {port}
        HostKey {folder}/host_key
        AuthorizedKeysFile {folder}/key.pub
        PidFile none
        UsePAM no
        StrictModes no
        PermitRootLogin yes
        Subsystem sftp internal-sftp
        SetEnv HOME={folder} PATH={host.bin}:/usr/bin:/bin PIP_NO_INDEX=1 PIP_NO_DEPS=1 RUNG_NO_CACHE=1
        """
    )
    (folder / "config").write_text(
        f"""
        Host loopback
          HostName 127.0.0.1
          Port {port}
          User {me}
          BatchMode yes
          IdentitiesOnly yes
          IdentityFile {folder}/key
          UserKnownHostsFile {folder}/known_hosts
        Host nobody
          HostName 127.0.0.1
          Port 1
        """
    )
    for name in ("ssh", "scp"):
        program(host.here / name, f'exec {shutil.which(name)} -F {folder}/config "$@"')


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 10
    while time.monotonic() < until:
        if server.poll() is not None:
            raise NoSshdError(f"sshd does not start here: {log.read_text().strip()[-200:]}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise NoSshdError("sshd does not answer on loopback within ten seconds")
