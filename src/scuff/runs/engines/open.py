"""Opens an engine by its name."""

from __future__ import annotations

import os
from importlib.util import find_spec
from multiprocessing import current_process

from ...resources import MissingResource
from .base import Engine
from .here import Here

LOCAL, RAY = "local", "ray"
ENGINES = (LOCAL, RAY)
# what the flags of commands say, here since the help of a command need not load more
ENGINE = "what workers are: local (processes of this machine, default) or ray (actors on a Ray cluster; scuff[ray])"
ADDRESS = (
    "of the Ray cluster, or auto (that of this machine), local (a new one); default: RAY_ADDRESS, else auto, else local"
)
WORKERS = "workers; default 1, with --engine ray as many as the cluster has CPUs"
# no statistics are sent; no cluster is started that was not asked for; and what will be the default is it now, which Ray would
# warn of
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_AUTO_CONNECT": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


def check_engine(engine: str, address: str | None, workers: int | None = None) -> None:
    """Raises ValueError if an address is given for an engine that has none, and RuntimeError if this is a worker that begins the
    script of its parent again: it would ask the model, and find the run locked, before Python says so.
    """
    if address is not None and engine != RAY:
        raise ValueError(f"expected engine {RAY} for address {address}, got {engine}")
    if engine == LOCAL and (workers or 1) > 1 and getattr(current_process(), "_inheriting", False):
        raise RuntimeError(
            'expected a script that uses workers behind `if __name__ == "__main__":`, got one that each of them begins again'
        )


def open_engine(engine: str = LOCAL, workers: int | None = None, address: str | None = None) -> Engine:
    """Returns an engine, which the caller closes.

    workers: default 1, on a Ray cluster as many as it has CPUs. address: of a Ray cluster. Raises MissingResource if Ray is not
    installed.
    """
    check_engine(engine, address, workers)
    if engine == RAY:
        if find_spec("ray") is None:
            raise MissingResource("expected the package ray for engine ray, got none: pip install 'scuff[ray]'")
        for name, value in QUIET.items():  # Ray reads them when it is imported
            os.environ.setdefault(name, value)
        from .ray import Ray

        return Ray(workers, address)
    if (workers or 1) == 1:
        return Here()
    from .local import Local  # here: most commands need no processes

    return Local(workers or 1)
