"""Connects this process to a Ray cluster, quietly, and says in one line why it cannot."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import ray
from ray import exceptions

REACH = 5.0  # seconds in which a cluster must answer
PROBE = 2.0  # seconds in which the head node of a cluster that we are connected to must answer
AUTO, LOCAL = "auto", "local"  # a cluster that runs on this machine; one that is started here
CLIENT = "ray://"  # how an address of Ray's client begins
TRIES = 3  # of Ray's client: the process that its server starts for each connection now and then dies at once


class NoCluster(ConnectionError):
    """Raised if there is no Ray cluster at an address, or it cannot be used."""

    exit_code = 2  # of the command line: bad usage


class HeadLost(ConnectionError):
    """Raised if the head node of the Ray cluster does not answer any more."""

    exit_code = 3  # of the command line: the run failed


def connect(address: str | None, workers: int | None) -> bool:
    """Connects this process to the Ray cluster at an address; by default to that of RAY_ADDRESS, else to one that runs on this
    machine, else to one that is started for this process, and ends with it. workers: for how many it must have room.

    Returns whether `ray.shutdown` has to be called in the end: not if the process was connected before. Raises NoCluster if
    there is none at the address, or if it does not fit.
    """
    if ray.is_initialized():
        return False
    address = address or os.environ.get("RAY_ADDRESS") or None
    if address is None and not _runs_here():
        address = LOCAL
    if address == AUTO and not _runs_here():
        raise NoCluster(
            "expected a Ray cluster that was started on this machine, got none: `ray start --head` starts one"
        )
    if address not in (None, AUTO, LOCAL):
        _reach(address)
    try:
        _init(address, workers)
    except (ConnectionError, exceptions.RayError) as error:
        # Ray looks for a token only where it finds the cluster itself, and does not say that one is missing
        named = address not in (None, AUTO, LOCAL)
        hint = "; does it ask for a token (RAY_AUTH_MODE=token)?" if named else ""
        raise NoCluster(
            f"expected a Ray cluster at {address or 'this machine'}, got: {last_line(error)}{hint}"
        ) from None
    except RuntimeError as error:
        if "ersion mismatch" not in str(error):
            raise
        raise NoCluster(
            f"expected a Ray cluster of the versions that are used here, got: {' '.join(str(error).split())}"
        ) from None
    return True


def _init(address: str | None, workers: int | None) -> None:
    given: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address == LOCAL:
        given |= {"num_cpus": max(workers or 1, os.cpu_count() or 1), "include_dashboard": False}
    for left in reversed(range(TRIES if str(address).startswith(CLIENT) else 1)):
        try:
            with _undisturbed():
                ray.init(address, **given)
            return
        except (ConnectionError, exceptions.RayError):
            if not left:
                raise


def _runs_here() -> bool:
    """Whether the cluster that `ray start` began on this machine answers: one that was killed is not forgotten, and Ray would
    try to reach it for a minute.
    """
    find = getattr(getattr(getattr(ray, "_private", None), "services", None), "find_bootstrap_address", None)
    known = find(None) if find else None
    if not known:
        return find is None  # where we cannot know, Ray will find out
    try:
        _reach(known)
    except NoCluster:
        return False
    return True


def _reach(address: str) -> None:
    """Raises NoCluster at once if nothing answers at an address; Ray would try for a minute."""
    host, colon, port = address.removeprefix(CLIENT).rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise NoCluster(f"expected auto, local, HOST:PORT or ray://HOST:PORT for address, got {address!r}")
    try:
        _knock(host, port, REACH)
    except OSError as error:
        raise NoCluster(
            f"expected a Ray cluster at {address}, got: {error.strerror or error}; `ray start --head` starts one"
        ) from None


def _knock(host: str, port: str, seconds: float) -> None:
    """Connects to an address, and closes the connection. Raises OSError if nothing answers."""
    socket.create_connection((host.strip("[]"), int(port)), seconds).close()


def head_answers() -> bool:
    """Whether the head node of the cluster can be reached; True through Ray's client, which has no way to it.

    Without the head node Ray starts and ends no actors: its functions for that wait, and end this process after a minute.
    """
    if ray.util.client.ray.is_connected():
        return True
    host, _, port = ray.get_runtime_context().gcs_address.rpartition(":")
    try:
        _knock(host, port, PROBE)
    except OSError:
        return False
    return True


def end_actors(actors: Iterable[Any]) -> None:
    """Ends actors, also busy ones. Without the head node they end by themselves, as this process does."""
    if head_answers():
        for actor in actors:
            with suppress(exceptions.RayError):
                ray.kill(actor)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Keeps what this process does with SIGTERM, which Ray takes over, and what it prints: nothing of Ray's."""
    printer: Any = getattr(getattr(ray, "_private", None), "worker", None)
    if hasattr(printer, "print_to_stdstream"):  # prints each dead worker, whatever log_to_driver says
        printer.print_to_stdstream = lambda *told, **how: None
    main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGTERM)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except SystemExit as error:  # of what Ray does with SIGTERM meanwhile
        if error.code == signal.SIGTERM and callable(before):
            before(signal.SIGTERM, None)
        raise
    finally:
        if main and before is not None:
            signal.signal(signal.SIGTERM, before)


def last_line(error: Exception) -> str:
    """Returns the last line of a message: Ray's have many."""
    return (str(error).strip().splitlines() or [type(error).__name__])[-1]
