"""Runs a command in a network namespace that has nothing but the loopback interface.

Ray listens on all interfaces, whatever it is told, and anybody who reaches it may run code: tests start it only in such a place.
"""

from __future__ import annotations

import os
import shutil
import socket
import struct
import subprocess
import sys
from functools import cache

INSIDE = "SCUFF_LOOPBACK_ONLY"  # set in the namespace
UNSHARE = ["unshare", "--map-root-user", "--net"]


@cache
def possible() -> bool:
    """Whether this system lets us make such a namespace."""
    if not shutil.which("unshare"):
        return False
    return subprocess.run([*UNSHARE, "true"], capture_output=True).returncode == 0


def inside(*command: str) -> list[str]:
    """The command that runs a command there. Skips the test where that is not possible."""
    import pytest

    if not possible():
        pytest.skip("this system allows no network namespaces (unshare --map-root-user --net)")
    return [*UNSHARE, sys.executable, __file__, *command]


def raise_loopback() -> None:
    """Sets the interface up, as `ip link set lo up` does, which not every system has."""
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 0x41))  # SIOCSIFFLAGS: IFF_UP | IFF_RUNNING


if __name__ == "__main__":
    raise_loopback()
    assert [name for _, name in socket.if_nameindex()] == ["lo"], "a namespace with the loopback interface only"
    os.environ[INSIDE] = "yes"
    os.execvp(sys.argv[1], sys.argv[1:])
