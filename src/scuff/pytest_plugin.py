"""The pytest plugin: the fixture `robustness` and its marker. pytest loads it in every session, so it imports nothing heavy."""

from __future__ import annotations

import re
import shutil
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

    from .reports.results import AttackResult, Result

MARKER = "robustness"
WHAT = ("model", "data")
LONGEST = 80  # letters of a test's name in the name of its folder


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("scuff", "robustness (scuff)")
    about = "keep the runs of tests with the fixture robustness here, a folder each, with its report; default: not kept"
    group.addoption("--scuff-runs", metavar="FOLDER", help=about)
    parser.addini("scuff_runs", about)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{MARKER}(model, data, *, recipe, min, max_drop, max_success, **settings): what the fixture {MARKER} is called with, "
        "unless the call says otherwise; as for scuff.assert_robust",
    )


def _named(what: tuple[Any, ...]) -> dict[str, Any]:
    """Returns the model and the data by their names. Raises TypeError if there is more."""
    if len(what) > len(WHAT):
        raise TypeError(f"expected a model and data for {MARKER}, got {len(what)} values; all others have names")
    return dict(zip(WHAT, what, strict=False))


class Robustness:
    """Evaluates a model, or attacks it if there is a recipe, and fails the test if the model is less robust than asked."""

    def __init__(self, test: pytest.Item, runs: Path | None) -> None:
        self._test, self._runs = test, runs
        self.results: list[Result | AttackResult] = []  # of this test, those of gates that passed
        self.calls = 0

    def __call__(self, *what: Any, **settings: Any) -> Result | AttackResult:
        """Returns the result of a gate that passed. Fails the test, with the verdict and texts that broke, if one did not.

        what: the model and the data. settings: as for `scuff.assert_robust`. What is not given comes from the markers.
        """
        __tracebackhide__ = True
        from . import api

        self.calls += 1
        given = {**self._marked(), **_named(what), **settings}
        if missing := [name for name in WHAT if name not in given]:
            raise TypeError(f"expected a model and data for {MARKER}(), got no {' and no '.join(missing)}")
        check: Any = api.assert_robust
        try:
            result: Result | AttackResult = check(given.pop("model"), given.pop("data"), self._folder(), **given)
        except AssertionError as error:
            failed = str(error)
        else:
            self.results.append(result)
            return result
        pytest.fail(failed, pytrace=False)  # not inside `except`: the traceback of the gate says nothing

    def _marked(self) -> dict[str, Any]:
        """Returns what the markers of the test say, the nearest of function, class and module first."""
        out: dict[str, Any] = {}
        for marker in self._test.iter_markers(MARKER):
            out = {**_named(marker.args), **marker.kwargs, **out}
        return out

    def _folder(self) -> Path | None:
        """Returns an empty folder for a run of this test; None if runs are not kept."""
        if self._runs is None:
            return None
        name = re.sub(r"[^\w.-]+", "-", self._test.nodeid)[-LONGEST:].strip("-.")
        short = sha256(self._test.nodeid.encode()).hexdigest()[:8]  # names that differ only in what was replaced
        folder = self._runs / f"{name}-{short}{f'-{self.calls}' if self.calls > 1 else ''}"
        if (folder / "run.json").is_file():  # of the last session: a model may have changed without a sign of it
            shutil.rmtree(folder)
        return folder


@pytest.fixture
def robustness(request: pytest.FixtureRequest) -> Robustness:
    """Call it with a model, data and bounds: `robustness(model, data, min={"worst": 0.5})`. See `scuff.assert_robust`."""
    config = request.config
    given = config.getoption("--scuff-runs") or config.getini("scuff_runs")
    return Robustness(request.node, Path(config.invocation_params.dir, given) if given else None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuses marked tests that do not have the fixture: they would pass, and nothing would have been measured."""
    for item in items:
        if item.get_closest_marker(MARKER) and MARKER not in getattr(item, "fixturenames", ()):
            raise pytest.UsageError(
                f"{item.nodeid}: expected the fixture {MARKER} in a test with its marker, got none: def test(..., {MARKER})"
            )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fails marked tests that passed without a call of the fixture, for the same reason."""
    report = yield
    gate = getattr(item, "funcargs", {}).get(MARKER)
    if report.when == "call" and report.passed and item.get_closest_marker(MARKER) and gate and not gate.calls:
        report.outcome = "failed"
        report.longrepr = f"expected a call of {MARKER}() in a test with its marker, got none: nothing was measured"
    return report
