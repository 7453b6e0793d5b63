"""Run folders by URL: in every store the same bytes as on a disk, and the same errors. The stores are in conftest.py."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import scuff
from buckets import DATA, FEW, MODEL, STORES, content, keyword
from scuff.cli.main import main
from scuff.runs import store
from scuff.runs.folder import BadRun, CannotWrite, Folder
from scuff.stores import StoreError, StorePath, as_path, is_url, on_disk

fsspec = pytest.importorskip("fsspec", reason="needs fsspec: pip install 'scuff[stores]'")


def test_what_is_a_url() -> None:
    assert all(
        map(is_url, ("s3://bucket/run", "memory://run", "simplecache::s3://bucket/run", "https://example.org/a.csv"))
    )
    assert not any(map(is_url, ("runs/my-run", "/runs", "C:\\runs", "a:b", "a::b", "", Path("s3://bucket"))))
    assert as_path("file:///tmp/run") == Path("/tmp/run") and as_path("runs/a") == Path("runs/a")
    found = as_path("memory://run/")
    assert isinstance(found, StorePath) and str(found / "run.json") == "memory://run/run.json" and found.name == "run"
    with pytest.raises(ValueError, match=r"expected a URL as a string, got .*s3:/bucket/run"):
        scuff.report(Path("s3://bucket/run"))
    assert as_path(Path("s3/run")) == Path("s3/run") and as_path(Path("s3:run")) == Path("s3:run")
    with pytest.raises(ValueError, match="got it in the URL") as caught:
        as_path("sftp://me:hunter2@host/run")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(("status", "kind"), [(404, FileNotFoundError), (503, StoreError), (403, StoreError)])
def test_what_a_web_server_refuses_is_not_called_missing(status: int, kind: type[Exception]) -> None:
    """fsspec raises FileNotFoundError for all of it. What stands behind the question mark may be a key, and is not told."""
    url = "https://example.org/a.csv?signature=hunter2"
    refused = type("ClientResponseError", (Exception,), {"__module__": "aiohttp.client_exceptions", "status": status})

    class System:
        protocol = "https"

        def cat_file(self, key: str) -> bytes:
            raise FileNotFoundError(key) from refused(f"{status}, message='no', url='{url}'")

    with pytest.raises(kind) as caught:
        StorePath(System(), url, url).read()
    if kind is StoreError:
        told = f"https://example.org/a.csv: expected a store that answers, got: {status}, message='no'"
        assert str(caught.value) == f"{told}, url='https://example.org/a.csv'"


def test_a_key_in_a_url_of_an_unknown_kind_is_not_told() -> None:
    with pytest.raises(ValueError, match=r"got htps://example\.org/a\.csv; did you mean https://\?") as caught:
        as_path("htps://example.org/a.csv?signature=hunter2")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("place", STORES, indirect=True)
def test_a_run_has_the_same_bytes_everywhere(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    scuff.evaluate(keyword, DATA, "local", **FEW)
    result = scuff.evaluate(keyword, DATA, f"{place}/one", **FEW)
    assert content(f"{place}/one") == content("local")
    assert result.examples("keyboard", "broken", most=2) and result.verdict
    scuff.attack("toy:sentiment", "toy:sentiment", "deepwordbug", "local-attack", examples=10, encoder="chrf")
    attacked = scuff.attack(
        "toy:sentiment", "toy:sentiment", "deepwordbug", f"{place}/two", examples=10, encoder="chrf"
    )
    assert content(f"{place}/two") == content("local-attack") and len(attacked.adversarial) > 3
    said: list[str] = []
    scuff.evaluate(keyword, DATA, f"{place}/one", say=said.append, **FEW)
    assert any("nothing was asked: all answers are from" in line and time.strftime("%Y-") in line for line in said)
    before = content(f"{place}/one")
    parquet = ["--parquet", "trials.parquet"] if place.startswith("s3") else []  # pyarrow takes long to load
    assert main(["report", f"{place}/one", "--html", "page.html", "--csv", "table.csv", *parquet]) == 0
    assert Path("page.html").read_bytes() == before["report.html"] and content(f"{place}/one") == before
    assert main(["check", f"{place}/one", "--min", "clean=0.9", "--max-drop", "1", "--baseline", "local"]) == 0
    assert main(["compare", "local", f"{place}/one", "--order", "date", "--html", "compared.html"]) == 0
    assert "scuff compare" not in Path("compared.html").read_text(), "a page that is mailed names no folders of ours"
    with pytest.raises(ValueError, match="expected each run once"):
        scuff.compare(f"{place}/one", f"{place}/one/")
    assert main(["compare", f"{place}/one", f"{place}/two"]) == 2
    assert "expected runs of one kind" in capsys.readouterr().err


@pytest.mark.parametrize("place", STORES, indirect=True)
def test_a_run_goes_on_and_is_set_aside(place: str) -> None:
    calls = [0]

    def tired(texts: list[str]) -> list[str]:
        calls[0] += 1
        if calls[0] == 6:
            raise KeyboardInterrupt
        return keyword(texts)

    with pytest.raises(KeyboardInterrupt):
        scuff.evaluate(tired, DATA, place, **FEW)
    assert Folder(place).parts() and (isinstance(as_path(place), Path) or not Folder(place).has("lock"))
    with pytest.raises(BadRun, match="expected a finished run"):
        scuff.report(place)
    said: list[str] = []
    whole = scuff.evaluate(tired, DATA, place, say=said.append, **FEW).summary
    assert any(line.startswith("resumed: ") for line in said)
    scuff.evaluate(tired, DATA, "local", **FEW)
    before = content(place)
    assert before == content("local")
    said.clear()
    again = scuff.evaluate(tired, DATA, place, fresh=True, say=said.append, **FEW)
    assert again.summary == whole and content(place) == before == content(f"{place}-old")
    assert any(line.endswith(f"is now in {as_path(place)}-old") for line in said)


@pytest.mark.parametrize("place", STORES, indirect=True)
def test_other_files_are_left_alone(place: str) -> None:
    theirs, empty = as_path(place), Folder(f"{place}-empty")
    if isinstance(theirs, Path):
        theirs.mkdir()
        (theirs / "me.jpg").write_bytes(b"me")
    else:
        theirs.make()
        (theirs / "me.jpg").write(b"me")
    for name in (place, f"{place}/me.jpg"):
        with pytest.raises(BadRun, match="expected a new folder or a run of Scuff, got something else"):
            scuff.evaluate(keyword, DATA, name, **FEW)
    with pytest.raises(BadRun, match=r"expected a run folder with run\.json, got none"):
        scuff.report(empty.path if isinstance(empty.path, Path) else str(empty.path))
    with empty.locked():
        assert not empty.started and empty.parts() == [] and empty.changed() == 0


@pytest.mark.parametrize("place", STORES, indirect=True)
def test_damaged_and_missing_parts_are_made_again(place: str) -> None:
    scuff.evaluate(keyword, DATA, place, **FEW)
    before, path = content(place), as_path(place)
    names = sorted(name for name in before if name.startswith("trials/round"))
    assert len(names) > 2
    if isinstance(path, Path):
        (path / names[0]).write_bytes(b"PK")
        (path / names[1]).unlink()
    else:
        (path / names[0]).write(b"PK")
        path.delete([names[1]])
    with pytest.raises(BadRun):
        scuff.report(place)
    said: list[str] = []
    scuff.evaluate(keyword, DATA, place, say=said.append, **FEW)
    assert sum("damaged bytes" in line for line in said) == 1
    assert content(place) == before


@pytest.mark.parametrize("place", ["shared"], indirect=True)
def test_what_a_killed_process_left_half_written_is_deleted(place: str) -> None:
    path = as_path(place)
    assert isinstance(path, StorePath)
    (path / "trials").make()
    (path / "trials" / ".a.npz.0123.part").write(b"half", new=True)
    folder = Folder(place)
    assert folder.parts() == []
    with folder.locked():
        assert list(path.files()) == ["lock"]
        (path / "trials" / ".a.npz.4567.part").write(b"half", new=True)  # of a worker
    assert not path.files()


def test_files_are_read_ahead_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """As workers write parts, the process that started them reads each once, many at a time; those that fail are told."""
    place, count = "memory://ahead", 3 * store.AHEAD
    worker, asked = Folder(place), []
    for at in range(count):
        worker.write_part(f"a-{at:03}", {"score": np.full(3, at)})
    plain = StorePath.read_many
    monkeypatch.setattr(StorePath, "read_many", lambda self, names: asked.append(len(names)) or plain(self, names))
    driver = Folder(place)
    assert driver.parts() == worker.parts()
    for _ in range(2):
        assert [driver.read_part(name)["score"][0] for name in driver.parts()] == list(range(count))
    assert asked == [store.AHEAD] * 2 + [store.AHEAD - 1], "the first part alone, and nothing again"
    with ThreadPoolExecutor(8) as threads:
        several = Folder(place)
        asked.clear()
        assert [part["score"][0] for part in threads.map(several.read_part, several.parts())] == list(range(count))
    assert sum(asked) < count + store.AHEAD, "threads do not read what others read"
    late = Folder(place)
    assert late.parts() and late.read_part("a-000")
    worker.write_part("a-0005", {"score": np.zeros(1)})
    assert late.read_part("a-0005")["score"].size == 1, "a part that was written after the list was made"
    assert [late.read_part(name)["score"].size for name in ("a-001", "a-047", "a-002")] == [3, 3, 3]
    with pytest.raises(BadRun):
        late.read_part("a-999")
    fsspec.filesystem("memory").store.clear()


def test_trackers_get_files_of_a_store(tmp_path: Path) -> None:
    scuff.evaluate(keyword, DATA, "memory://logged", log=f"jsonl:{tmp_path}/log.jsonl", **FEW)
    line = json.loads((tmp_path / "log.jsonl").read_text())
    assert line["files"] == ["memory://logged/report.html", "memory://logged/summary.json"]
    with on_disk(as_path(line["files"][0])) as page:
        assert page.name == "report.html" and "<html" in page.read_text(encoding="utf-8")
    assert not page.exists()
    fsspec.filesystem("memory").store.clear()


def test_memory_has_no_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model.py").write_text(MODEL)
    with pytest.raises(
        ValueError, match="expected a folder that worker processes see, got one in memory: use 1 worker"
    ):
        scuff.evaluate("model.py:predict", DATA, "memory://run", workers=2, **FEW)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["evaluate", "toy:tone", "toy:tone", "-o", "abf://b/run"], r"got abf://b/run; did you mean abfs://\?"),
        (["evaluate", "toy:tone", "toy:tone", "-o", "qq1://b/run"], r"got qq1://b/run, such as s3://, gs://"),
        (["report", "memory://none"], r"memory://none: expected a run folder with run\.json, got none"),
        (["attack", "--resume", "memory://none"], r"memory://none: expected a run folder with run\.json, got none"),
        (["evaluate", "toy:tone", "memory://no.csv"], r"memory://no\.csv: expected a file, got nothing of that name"),
        (["harden", "toy:tone", "toy:tone", "-o", "memory://x"], r"expected a path on this disk for the output of harden, got"),
        (["evaluate", "toy:tone", "toy:tone", "-o", "memory://a//b"], r"memory://a//b: expected a run folder with one slash"),
        (["evaluate", "toy:tone", "toy:tone", "-o", "ssh://a:b@c/run"], r"expected the password of a store in the environment"),
    ],
)  # fmt: skip
def test_bad_urls_are_one_line(
    command: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(command) == 2
    told = capsys.readouterr().err.strip().splitlines()
    assert re.search(message, told[-1]) and len(told) == 1, told
    assert not list(tmp_path.iterdir()), "no folder of the name memory:"


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)  # as if it were not installed
    with pytest.raises(LookupError, match=r"got: .*: pip install 'scuff\[stores\]' gcsfs"):
        as_path("gs://bucket/run")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(
        LookupError, match=r"expected the package fsspec for s3://, got none: pip install 'scuff\[stores\]' s3fs"
    ):
        as_path("s3://bucket/run")


@pytest.mark.slow
def test_a_disk_needs_no_fsspec(tmp_path: Path) -> None:
    code = (
        "import sys, scuff; scuff.evaluate('toy:tone', 'toy:tone', sys.argv[1], examples=10, cases=1, degrees=[0.3],"
        " dimensions=['keyboard']); scuff.report(sys.argv[1]); assert not {'fsspec', 's3fs'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "run")], check=True)


def test_a_store_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors of any package become a line, when reading as when writing; exit code 3 of what could not be written."""
    path = as_path("memory://fails")
    assert isinstance(path, StorePath)

    class NoCredentialsError(Exception):
        pass

    for error, message in (
        (
            NoCredentialsError("Unable to\nlocate credentials"),
            "expected credentials in the environment, .* Unable to locate",
        ),
        (PermissionError("Access Denied"), "expected that it may be read and written, got: Access Denied"),
        (TimeoutError(), "expected a store that answers, got: TimeoutError"),
    ):

        def fail(*_: object, error: Exception = error, **__: object) -> None:
            raise error

        for name in ("pipe_file", "cat_file", "ls"):
            monkeypatch.setattr(type(path.system), name, fail)
        folder = Folder(str(path))
        with pytest.raises(StoreError, match=f"memory://fails: {message}"):
            folder.usable()
        with pytest.raises(StoreError, match=message):
            folder.run()
        with pytest.raises(StoreError, match=message):  # not: damaged
            folder.fault("a")
        short = " ".join(str(error).split()) or type(error).__name__
        with pytest.raises(
            CannotWrite, match=f"expected to write 3 bytes, got: {short}; what was written before stays"
        ):
            folder.write_json("a.json", {})


def test_keys_in_urls_are_not_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As of a signed address. The data is read with it, and named without it."""
    rows = "text,label\n" + "".join(f'"{text}",{label}\n' for text, label in DATA)
    fsspec.filesystem("memory").pipe_file("/texts/data.csv?key=secret", rows.encode())
    scuff.evaluate(keyword, "memory://texts/data.csv?key=secret", str(tmp_path / "run"), **FEW)
    assert not [name for name, raw in content(str(tmp_path / "run")).items() if b"secret" in raw]
    with pytest.raises(ValueError, match=r"memory://a\.jsonl: expected a URL without a question mark") as caught:
        scuff.evaluate(None, DATA, predictions=["memory://a.jsonl?key=secret"], **FEW)
    assert "secret" not in str(caught.value)
    fsspec.filesystem("memory").store.clear()


EVALUATE = ["evaluate", "toy:sentiment", "toy:sentiment", "--dimensions", "keyboard", "--examples", "9", "-o", "two"]


@pytest.mark.parametrize(
    ("flags", "what"),
    [
        (
            [*EVALUATE, "--cache", "memory://c.db"],
            "the cache, got memory://c.db",
        ),
        (
            [*EVALUATE, "--log", "jsonl:s3://a/b"],
            "log jsonl, got s3://a/b",
        ),
        (["evaluate", "--resume", "one", "--cache", "memory://c.db"], "the cache, got memory://c.db"),
        (["report", "one", "--svg", "memory://charts"], "svg, got memory://charts"),
        (["report", "one", "--parquet", "memory://trials"], "parquet, got memory://trials"),
    ],
)
def test_what_is_on_this_disk_only_is_refused_elsewhere(
    flags: list[str], what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    scuff.evaluate("toy:sentiment", "toy:sentiment", "one", **FEW)
    assert main(flags) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"scuff: expected a path on this disk for {what}"
    assert {path.name for path in tmp_path.iterdir()} <= {"one", "two"}


def test_data_by_url(capsys: pytest.CaptureFixture[str]) -> None:
    memory = fsspec.filesystem("memory")
    rows = "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in DATA)
    memory.pipe_file("/texts/data.jsonl", rows.encode())
    result = scuff.evaluate(keyword, "memory://texts/data.jsonl", "memory://texts/run", **FEW)
    assert result.summary["data"]["name"] == "texts/data.jsonl" and result.clean == 1
    assert Folder("memory://texts/run").run()["data"]["spec"] == "memory://texts/data.jsonl"
    memory.store.clear()


def test_threads_that_read_and_write_do_not_miscount_what_is_kept() -> None:
    class Slow(dict[str, bytes]):
        def pop(self, *given: object) -> bytes:  # type: ignore[override]
            time.sleep(0.001)
            return super().pop(*given)  # type: ignore[call-overload,no-any-return]

    files = store.StoreFiles(StorePath.of("memory://kept"))
    files._kept = Slow()
    for name in "abcd":
        (files.path / name).write(b"12345")
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(files.read, "abcd" * 8))
    assert files._size == sum(map(len, files._kept.values())) == 20
