"""Whole runs on Ray clusters: `test_ray.py` runs this file in a network of its own, where nobody else reaches them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

if "SCUFF_LOOPBACK_ONLY" not in os.environ:
    pytest.skip("Ray listens on all interfaces: run by test_ray.py", allow_module_level=True)

import ray
from ray.cluster_utils import Cluster

import scuff
from cli.runs import SCUFF, content
from runs import labours
from runs.measured import BLOCK, KINDS, PAUSE, SETTINGS, asked, disturbed, measure, prepare
from runs.test_engines import lives
from scuff.runs.engines import ray as engine_module
from scuff.runs.engines.open import open_engine
from scuff.runs.engines.ray_doors import kept
from scuff.victims.service import ServiceLost

CLIENT_PORT = 10001
# Ray leaves the log of the client's server to the garbage collector
pytestmark = pytest.mark.filterwarnings("ignore:.*ray_client_server:pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def nodes() -> Iterator[Cluster]:
    """A cluster of one node with four CPUs; tests add others."""
    client = {"ray_client_server_port": CLIENT_PORT} if find_spec("grpc") else {}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 4, "include_dashboard": False, **client})
    yield cluster
    cluster.shutdown()


@pytest.fixture
def connected(nodes: Cluster) -> Iterator[Cluster]:
    """The same, and this process is connected to it for all engines of a test."""
    with closing(open_engine("ray", 1, nodes.address)):
        yield nodes


@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_actors_writes_the_same_bytes(
    kind: str, connected: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(tmp_path / kind, kind, monkeypatch)
    one = measure(kind, "one")
    for workers in (1, 2, 4):
        assert measure(kind, f"ray{workers}", engine="ray", workers=workers) == one


@pytest.mark.parametrize("kind", KINDS)
def test_killed_actors_change_nothing(
    kind: str, connected: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(kind: str, output: str, **given: Any) -> dict[str, bytes]:
        return measure(kind, output, **{"engine": "ray", "workers": 2, **given})

    disturbed(kind, tmp_path, monkeypatch, run)


@pytest.mark.parametrize("kind", KINDS)
def test_a_node_may_die(kind: str, nodes: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has room for some of six workers: after its death the run has four CPUs left, and goes on with them."""
    prepare(tmp_path / "calm", kind, monkeypatch)
    calm, usual = measure(kind, "run"), asked()
    prepare(tmp_path / "killed", kind, monkeypatch, PAUSE[kind])
    second, said = nodes.add_node(num_cpus=3), list[str]()
    nodes.wait_for_nodes()

    def show(progress: Any) -> None:
        nonlocal second
        if second is not None and progress.done >= 2:
            dying, second = second, None
            nodes.remove_node(dying, allow_graceful=False)

    with closing(open_engine("ray", 1, nodes.address)):
        found = measure(kind, "run", engine="ray", workers=6, show=show, say=said.append)
    assert second is None and found == calm
    lost = [line for line in said if re.match("WARNING a Ray worker was .*lost with its node", line)]
    assert 1 <= len(lost) <= 3, said
    assert asked() <= usual + len(lost) * BLOCK[kind], "a dead node costs the blocks that were being done there"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_the_command_may_die_and_is_resumed(
    number: signal.Signals, nodes: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = "evaluate"
    prepare(tmp_path / "calm", kind, monkeypatch)
    flags = [
        "--dimensions",
        *SETTINGS[kind]["dimensions"],
        "--degrees",
        "0.2",
        "0.5",
        "--cases",
        "3",
        "--encoder",
        "chrf",
    ]
    command = [*SCUFF, "evaluate", "model.py:predict", "data.csv", "-o", "run", *flags]
    assert subprocess.run(command, capture_output=True).returncode == 0
    calm = content(Path("run"))
    prepare(tmp_path / "killed", kind, monkeypatch, pause=1.0)
    command += ["--engine", "ray", "--address", nodes.address, "--workers", "2"]
    job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    until = time.monotonic() + 120
    workers = set[int]()
    while (
        len(list(Path("run/trials").glob("*.npz"))) < 4 or len(workers) < 2
    ):  # on a busy machine one begins much later
        assert job.poll() is None and time.monotonic() < until, job.communicate()
        time.sleep(0.05)
        workers = {int(path.name) for path in Path("notes").iterdir()} - {job.pid}
    assert len(workers) == 2 and all(map(lives, workers))
    os.killpg(job.pid, number)
    out, err = job.communicate(timeout=30)
    assert out == b"" and job.returncode == (130 if number == signal.SIGINT else -9), err
    if number == signal.SIGINT:
        assert err.decode().splitlines()[-1].startswith("scuff: interrupted") and b"Traceback" not in err
    until = time.monotonic() + 30
    while any(map(lives, workers)) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(map(lives, workers)), "actors end with the process that started them"
    half = {name: raw for name, raw in content(Path("run")).items() if name.startswith("trials/")}
    assert 4 <= len(half) < sum(name.startswith("trials/") for name in calm) and half.items() <= calm.items()
    Path("pause").write_text("0")
    again = subprocess.run(command, capture_output=True)
    assert again.returncode == 0 and b"blocks were done before" in again.stderr, again.stderr
    assert content(Path("run")) == calm


@pytest.mark.parametrize("starting", [False, True], ids=["later", "as-workers-start"])
def test_the_head_node_may_die(starting: bool, nodes: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray would end the command after a minute, with exit code 1, which says that a gate failed."""
    prepare(tmp_path / "calm", "attack", monkeypatch)
    calm = measure("attack", "run")
    prepare(tmp_path / "killed", "attack", monkeypatch, pause=0.3)
    Path("start.py").write_text(
        "import os, signal\nfrom ray.cluster_utils import Cluster\nfrom scuff.cli.main import main\n"
        "from scuff.runs.engines import ray\nray.WAIT, ray.WATCH = 3.0, 0.5\n"
        "cluster = Cluster(initialize_head=True, head_node_args={'num_cpus': 2, 'include_dashboard': False})\n"
        "head = cluster.head_node.all_processes['gcs_server'][0].process.pid\n"
        "answers = ray.head_answers\n"
        f"ray.head_answers = lambda: answers() and ({starting} and os.kill(head, signal.SIGKILL), True)[1]\n"
        "print(head, flush=True)\n"
        "code = main(['attack', 'model.py:predict', 'data.csv', '-o', 'run', '--recipe', 'deepwordbug', '--encoder', 'chrf',"
        " '--max-queries', '40', '--engine', 'ray', '--address', cluster.address])\n"
        "for node in cluster.list_all_nodes():\n    node.kill_all_processes(check_alive=False, allow_graceful=False)\n"
        "os._exit(code)\n"
    )
    job = subprocess.Popen([sys.executable, "start.py"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert job.stdout is not None
    head, until = int(job.stdout.readline()), time.monotonic() + 120
    while not starting and not any(
        notes.stat().st_size for notes in Path("notes").iterdir() if notes.name != str(job.pid)
    ):
        assert job.poll() is None and time.monotonic() < until, job.communicate()
        time.sleep(0.05)
    if not starting:
        os.kill(head, signal.SIGKILL)
    _, err = job.communicate(timeout=60)
    told = err.splitlines()
    assert job.returncode == 3 and "Traceback" not in err, err
    assert told[-1].startswith(
        "scuff: expected the head node of the Ray cluster to answer, got nothing for 3 seconds"
    ), err
    assert sum("WARNING the head node of the Ray cluster does not answer" in line for line in told) == 1, err
    Path("pause").write_text("0")
    assert measure("attack", "run", engine="ray", workers=2, address=nodes.address) == calm


def test_a_cluster_of_our_own_is_quiet_and_ends_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nodes: Cluster
) -> None:
    """The one that runs already is not looked at."""
    prepare(tmp_path / "own", "attack", monkeypatch)
    flags = ["--recipe", "deepwordbug", "--encoder", "chrf", "--max-queries", "40"]
    command = [*SCUFF, "attack", "model.py:predict", "data.csv", *flags]
    more = ["-o", "run", "--engine", "ray", "--workers", "2", "--address", "local"]
    done = subprocess.run([*command, *more], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    plain = subprocess.run([*command, "-o", "plain"], capture_output=True, text=True)
    told = [[line for line in each.stdout.splitlines() if " queries per second" not in line] for each in (done, plain)]
    assert [line.replace("run/", "plain/") for line in told[0]] == told[1], "Ray prints nothing"
    assert "ray" not in done.stderr.lower().replace("--engine ray", ""), done.stderr
    assert content(Path("run")) == content(Path("plain"))
    workers = [int(path.name) for path in Path("notes").iterdir()]
    assert len(workers) >= 4 and not any(map(lives, workers))


def test_a_request_to_end_while_ray_starts_is_no_end_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray leaves with the number of the signal as exit code; the command says that it was interrupted, as at any other time."""

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    def init(*given: Any, **more: Any) -> None:
        signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(number))  # as ray.init does
        os.kill(os.getpid(), signal.SIGTERM)

    usual = signal.signal(signal.SIGTERM, stop)
    try:
        monkeypatch.setattr(ray, "init", init)
        with pytest.raises(KeyboardInterrupt):
            open_engine("ray", 1, "local")
        assert signal.getsignal(signal.SIGTERM) is stop
    finally:
        signal.signal(signal.SIGTERM, usual)


@pytest.mark.parametrize("kind", KINDS)
def test_through_rays_client(kind: str, nodes: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that starts the run is no part of the cluster."""
    pytest.importorskip("grpc")
    prepare(tmp_path / kind, kind, monkeypatch)
    plain = measure(kind, "plain")
    Path("start.py").write_text(f"from runs.measured import measure\nmeasure({kind!r}, 'run', engine='ray', workers=2, "
                                f"address='ray://127.0.0.1:{CLIENT_PORT}')\n")  # fmt: skip
    where = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "RAY_AUTH_MODE": "token"}
    done = subprocess.run([sys.executable, "start.py"], capture_output=True, text=True, env=where, timeout=300)
    assert done.returncode == 0, done.stderr
    assert content(Path("run")) == plain
    assert len(list(Path("notes").iterdir())) >= 3, "plain, start.py, and an actor or two"


def test_waiting_for_a_cpu_is_told(connected: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @ray.remote(num_cpus=4)
    class Blocker:
        def here(self) -> bool:
            return True

    monkeypatch.setattr(engine_module, "PATIENCE", 1.0)
    prepare(tmp_path / "run", "attack", monkeypatch)
    blocker = Blocker.remote()
    assert ray.get(blocker.here.remote())
    said: list[str] = []

    def say(line: str) -> None:
        said.append(line)
        if "no free CPU" in line:
            ray.kill(blocker)

    measure("attack", "run", engine="ray", workers=2, say=say)
    assert sum("WARNING the Ray cluster has no free CPU for a worker" in line for line in said) == 1


def test_work_that_needs_what_the_nodes_lack(
    connected: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    with closing(open_engine("ray", 1)) as engine:
        monkeypatch.chdir(tmp_path)
        gone.rmdir()
        with pytest.raises(
            ConnectionError, match=r"expected .*gone on all nodes of the Ray cluster, as on a shared file"
        ):
            list(engine.run([1, 2], labours.squares))
        engine._origin = engine_module.Origin(str(tmp_path), (), ("0.0.1", "3.99"))  # type: ignore[attr-defined]
        with pytest.raises(ConnectionError, match=r"expected scuff 0\.0\.1 on Python 3\.99 on all nodes .* got scuff"):
            list(engine.run([1, 2], labours.squares))


def test_an_actor_that_cannot_be_made_is_told(connected: Cluster) -> None:
    """As where Scuff is not installed: there the class cannot be found."""

    class Absent:
        def __init__(self) -> None:
            raise ModuleNotFoundError("No module named 'scuff'")

        def open(self, *given: Any) -> None: ...

        def answers(self) -> None: ...

    with closing(open_engine("ray", 1)) as engine:
        engine._class = ray.remote(Absent)  # type: ignore[attr-defined]
        with pytest.raises(ConnectionError, match=r"a Ray worker could not be started: .*No module named 'scuff'"):
            list(engine.run([1, 2], labours.squares))


def test_a_model_that_an_actor_holds_is_asked_by_many(connected: Cluster, tmp_path: Path) -> None:
    """Answers come back to those who asked, also after the actor was killed; what was asked meanwhile is answered together."""
    (tmp_path / "pids").mkdir()
    with kept(partial(labours.Doubling, str(tmp_path / "pids")), 1, gpus=0) as door:
        work = partial(labours.asks_a_door, door)
        with closing(open_engine("ray", 4)) as engine:
            results = engine.run(range(200), work)
            found = [next(results) for _ in range(40)]
            (keeper,) = (int(path.name) for path in (tmp_path / "pids").iterdir())
            os.kill(keeper, signal.SIGKILL)
            found += results
            assert sorted(found) == [(number, [2 * number, 2 * number + 1]) for number in range(200)]
            assert len(list((tmp_path / "pids").iterdir())) == 2, "it was started again"
            with pytest.raises(ValueError, match="expected no 13, got one"):
                list(engine.run([12, 13], partial(labours.asks_a_door, door, 13)))
        assert door.call("largest") > 1, "requests of several workers were answered together"
    with pytest.raises(FileNotFoundError, match="no weights here"), kept(labours.unopened_service, 1, gpus=0):
        pass


def test_models_are_asked_in_turn(connected: Cluster, tmp_path: Path) -> None:
    (tmp_path / "pids").mkdir()
    with kept(partial(labours.Doubling, str(tmp_path / "pids")), 2, gpus=0) as door:
        assert door.near == door.keepers, "all are on the only node"
        for number in range(6):
            door.answer({"ids": np.array([number])})
        assert ray.get([keeper.call.remote("asked", (), {}) for keeper in door.keepers]) == [(None, 3), (None, 3)]
        elsewhere = replace(door, nodes=(door.nodes[0], "another node"))
        assert elsewhere.near == door.keepers[:1], "what is on the same node is asked through memory"


def test_a_model_that_is_lost_stops_the_run(connected: Cluster, tmp_path: Path) -> None:
    """It would not do to count what cannot be asked as errors of the texts."""
    pids = tmp_path / "pids"
    pids.mkdir()
    with kept(partial(labours.service_opened_once, str(pids)), 1, gpus=0) as door:
        os.kill(int(next(pids.iterdir()).name), signal.SIGKILL)
        with pytest.raises(
            ServiceLost, match=r"got none: it has ended, and it cannot be opened again: no weights there"
        ):
            door.answer({"ids": np.array([1])})
        ray.kill(door.keepers[0])
        with pytest.raises(ServiceLost, match=r"got none: it has ended for good"):
            door.answer({"ids": np.array([1])})


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A small network in the folder `net`, and settings of attacks on it."""
    torch = pytest.importorskip("torch")
    hf = pytest.importorskip("transformers")
    from scuff.huggingface.loading import quiet
    from victims.small import TINY, save_tokenizer

    prepare(tmp_path / "run", "attack", monkeypatch)
    torch.manual_seed(3)
    size = save_tokenizer(Path("net"))
    labels = {0: "negative", 1: "positive"}
    with quiet():
        hf.BertForSequenceClassification(hf.BertConfig(vocab_size=size, id2label=labels, **TINY)).save_pretrained("net")
    monkeypatch.setattr("scuff.victims.huggingface._block", lambda weights: 200)
    return {"options": {"batch_tokens": 512}, "encoder": "chrf", "max_queries": 40}


@pytest.fixture
def gpus(nodes: Cluster) -> Iterator[Cluster]:
    """A cluster with a node of two GPUs, as far as Ray knows: models that are opened there are on its CPU."""
    node = nodes.add_node(num_cpus=1, num_gpus=2)
    nodes.wait_for_nodes()
    with closing(open_engine("ray", 1, nodes.address)):
        yield nodes
    nodes.remove_node(node)


def test_gpus_of_the_cluster_hold_the_model(
    gpus: Cluster, network: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """This process, which has none, opens it nowhere: workers and pre-flight ask the actors. The bytes are the same."""
    from scuff.victims import exported
    from scuff.victims.huggingface import Transformer

    keepers: list[int] = []
    plain_door = engine_module.kept

    @contextmanager
    def watched(*args: Any, **more: Any) -> Iterator[Any]:
        with plain_door(*args, **more) as door:
            keepers.append(len(door.keepers))
            assert door.call("facts")["labels"] == ("negative", "positive")
            yield door

    with pytest.MonkeyPatch.context() as here:
        here.setattr(Transformer, "serves", True)  # of the plain run, since it decides the size of blocks
        scuff.attack("net", "data.csv", "deepwordbug", "plain", **network)
        scuff.attack("net", "data.csv", "deepwordbug", "shielded", shield="normalise", **network)
    monkeypatch.setattr(engine_module, "kept", watched)
    monkeypatch.setattr(exported, "load", lambda *given, **options: pytest.fail("the model was opened here"))
    scuff.attack("net", "data.csv", "deepwordbug", "kept", engine="ray", workers=2, **network)
    assert keepers == [2] and content(Path("kept")) == content(Path("plain"))
    scuff.attack("net", "data.csv", "deepwordbug", "both", engine="ray", workers=2, shield="normalise", **network)
    assert keepers == [2, 2] and content(Path("both")) == content(Path("shielded"))


def test_a_model_that_shall_not_be_on_a_gpu(
    gpus: Cluster, network: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "kept", lambda *given: pytest.fail("a GPU was taken"))
    network["options"]["device"] = "cpu"
    scuff.attack("net", "data.csv", "deepwordbug", "run", engine="ray", workers=2, **network)
    assert scuff.attack("model.py:predict", "data.csv", "deepwordbug", "own", engine="ray", workers=2, encoder="chrf")


def test_a_model_on_a_gpu_needs_a_cluster_with_gpus(
    connected: Cluster, network: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from scuff.victims.huggingface import Transformer

    monkeypatch.setattr(Transformer, "serves", True)
    with pytest.raises(ValueError, match=r"expected a Ray cluster with GPUs for a model on a GPU \(net\), got none"):
        scuff.attack("net", "data.csv", "deepwordbug", "run", engine="ray", workers=2, **network)


def test_a_model_that_cannot_be_opened_there(gpus: Cluster, network: dict[str, Any]) -> None:
    Path("net/config.json").write_text("{}")
    with pytest.raises(ValueError, match="net"):
        scuff.attack("net", "data.csv", "deepwordbug", "run", engine="ray", workers=2, **network)
    assert not Path("run").exists()
