"""A model that other processes ask: the same answers as from the model itself, and what happens when somebody ends."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from multiprocessing.connection import Client
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
hf = pytest.importorskip("transformers")

import scuff
from scuff.huggingface.encoder import Encoder, open_encoder
from scuff.huggingface.loading import quiet
from scuff.victims import service as service_module
from scuff.victims import slabs
from scuff.victims.base import NotEnoughAccess, Outputs
from scuff.victims.huggingface import Transformer, load
from scuff.victims.query import Query
from scuff.victims.served import Served, ServedEncoder, use_encoders_of
from scuff.victims.service import Service, ServiceLost
from scuff.victims.shielded import Shielded
from scuff.victims.slabs import Host, LocalDoor
from victims.small import LONGEST, TINY, WORDS, save_tokenizer

TEXTS = [
    "the cat sat on a mat", "", "not a good film, was it?", "very " * 200, "😀👩‍👩‍👧 film", "שלום good", "x", "it\nis\tbad",
    *(" ".join(WORDS[(n * step + step) % 17] for step in range(1, 4 + n % 9)) for n in range(30)),
]  # fmt: skip


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Folders with small random models, one for each head."""
    root = tmp_path_factory.mktemp("zoo")
    size = save_tokenizer(root / "tokenizer")
    torch.manual_seed(3)
    bert = hf.BertConfig(vocab_size=size, num_labels=3, id2label={0: "bad", 1: "good", 2: "so-so"}, **TINY)
    t5 = hf.T5Config(
        vocab_size=size, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, decoder_start_token_id=0,
        pad_token_id=0, eos_token_id=3, initializer_factor=2.0,
    )  # fmt: skip
    gpt = hf.GPT2Config(vocab_size=size, n_embd=32, n_layer=1, n_head=2, n_positions=LONGEST, num_labels=2)
    bart = hf.BartConfig(
        vocab_size=size, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=LONGEST, pad_token_id=0, eos_token_id=3,
        bos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=None,
    )  # fmt: skip
    built = {
        "bart": hf.BartForSequenceClassification(bart),
        "single": hf.BertForSequenceClassification(bert), "tokens": hf.BertForTokenClassification(bert),
        "text": hf.T5ForConditionalGeneration(t5), "gpt": hf.GPT2ForSequenceClassification(gpt),
    }  # fmt: skip
    for name, model in built.items():
        with quiet():
            model.save_pretrained(root / name)
        save_tokenizer(root / name)
    return {name: str(root / name) for name in built}


@pytest.fixture
def in_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets models answer in fixed shapes, as on a GPU. They cannot be captured on a CPU."""
    monkeypatch.setattr(Transformer, "in_shapes", property(lambda victim: victim.task != "text"))


Serve = Callable[[Transformer], Served]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Puts a model behind a door and returns what asks it."""
    hosts = []

    def begin(victim: Transformer) -> Served:
        victim.steady = True
        hosts.append(Host(Service(victim)))
        return Served(pickle.loads(pickle.dumps(hosts[-1].door)))

    yield begin
    for host in hosts:
        host.close()


def same(one: Outputs, other: Outputs) -> None:
    assert one.problem.tolist() == other.problem.tolist() and one.answers.dtype == other.answers.dtype
    for left, right in zip(one.answers, other.answers, strict=True):
        np.testing.assert_array_equal(left, right)


COLUMNS: dict[str, list[Any]] = {
    "single": [TEXTS], "multi": [TEXTS], "pairs": [TEXTS, TEXTS[::-1]], "tokens": [[tuple(t.split()) or ("x",) for t in TEXTS]],
    "text": [TEXTS[:6]],
}  # fmt: skip
MARKED = [*TEXTS, "a good [SEP] film", "[SEP]", "[SEP] not [SEP]"]
TASKS: dict[str, Any] = {"pairs": "single", "gpt": "single", "bart": "single"}
FOLDERS = {"multi": "single", "pairs": "single"}


@pytest.mark.parametrize("kind", COLUMNS)
def test_the_same_answers(kind: str, zoo: dict[str, str], serve: Serve) -> None:
    more = {"max_new_tokens": 5} if kind == "text" else {}
    victim = load(zoo[FOLDERS.get(kind, kind)], TASKS.get(kind, kind), device="cpu", **more)
    served = serve(victim)
    same(served(*COLUMNS[kind]), victim(*COLUMNS[kind]))
    assert (served.identity, served.name, served.labels) == (victim.identity, victim.name, victim.labels)


@pytest.mark.parametrize("kind", [*COLUMNS, "gpt", "bart"])  # BART wants the mark of the end in every row
def test_the_same_answers_in_fixed_shapes(kind: str, zoo: dict[str, str], serve: Serve, in_shapes: None) -> None:
    folder, task = zoo[FOLDERS.get(kind, kind)], TASKS.get(kind, kind)
    columns = COLUMNS.get(kind, [TEXTS])
    victim = load(folder, task, device="cpu", batch_tokens=256, max_new_tokens=5)
    served = serve(victim)
    same(served(*columns), victim(*columns))
    if kind != "text":
        assert victim.stream.sizes == {256} and victim.stream.tokens == victim.batch_tokens == 256


@pytest.mark.parametrize("columns", [[MARKED], [MARKED, MARKED[::-1]]])
def test_a_network_that_wants_as_many_marks_of_the_end_in_all_rows(
    columns: list[list[str]], zoo: dict[str, str], serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BART raises otherwise: empty texts fill up its batches as pairs of texts need it, and texts with the mark are alone."""
    victim = load(zoo["bart"], "single", device="cpu", batch_tokens=256)
    plain = Query(victim)(*columns)
    assert plain.answered.all()
    monkeypatch.setattr(Transformer, "in_shapes", True)
    for asked in (victim, serve(victim)):
        query = Query(asked)
        found = query(*columns)
        np.testing.assert_allclose(found.answers, plain.answers, atol=2e-3)  # on a CPU those alone are rounded
        assert found.answered.all() and not query.errors
    before = victim.stream.number
    pairs = [[text for text in column if "[SEP]" not in text] for column in (TEXTS, TEXTS[::-1])][: len(columns)]
    assert victim(*pairs).answered.all() and victim.stream.number > before


def test_padding_changes_no_score_in_fixed_shapes(tmp_path: Path, serve: Serve, in_shapes: None) -> None:
    """Of a network that sees what stands beside a piece: each length has its own shape."""
    size = save_tokenizer(tmp_path)
    conv = hf.ConvBertConfig(vocab_size=size, embedding_size=32, conv_kernel_size=3, head_ratio=2, **TINY)
    torch.manual_seed(3)
    with quiet():
        hf.ConvBertForSequenceClassification(conv).save_pretrained(tmp_path)
    victim = load(tmp_path, "single", device="cpu", batch_tokens=256)
    alone = [victim([text]) for text in TEXTS]
    assert victim.sees_padding and victim.stream.widths[0] == 2
    for asked in (victim, serve(victim)):
        np.testing.assert_allclose(asked(TEXTS).answers, np.concatenate([one.answers for one in alone]), atol=1e-6)
    inputs = victim.tokenizer(TEXTS[0], return_tensors="pt")
    with torch.no_grad():
        plain = victim.model(**inputs).logits.softmax(-1).numpy()
    np.testing.assert_allclose(alone[0].answers, plain, atol=1e-5)


def test_a_network_gets_no_types_that_its_tokenizer_does_not_give(
    zoo: dict[str, str], serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GPT-2 adds the vector of piece 0 to each piece where all types are 0, and nothing where there are none."""
    victim = load(zoo["gpt"], "single", device="cpu", batch_tokens=256)
    victim.tokenizer.model_input_names = ["input_ids", "attention_mask"]  # as those of GPT-2's own
    victim = Transformer(victim.model, victim.tokenizer, "single", name="gpt", digest=lambda: "", batch_tokens=256)
    plain = victim(TEXTS).answers
    monkeypatch.setattr(Transformer, "in_shapes", True)
    np.testing.assert_allclose(victim(TEXTS).answers, plain, atol=1e-5)
    np.testing.assert_allclose(serve(victim)(TEXTS).answers, plain, atol=1e-5)


def test_an_answer_does_not_depend_on_what_was_asked_before(tmp_path: Path, in_shapes: None) -> None:
    """BigBird reads long texts in blocks until it gets a short one, and never again."""
    size, long = save_tokenizer(tmp_path), ["not a very good film " * 40]
    tiny = {**TINY, "max_position_embeddings": 128, "block_size": 8, "num_random_blocks": 1}
    torch.manual_seed(3)
    with quiet():
        hf.BigBirdForSequenceClassification(hf.BigBirdConfig(vocab_size=size, **tiny)).save_pretrained(tmp_path)
    first, later = (load(tmp_path, "single", device="cpu", batch_tokens=256) for _ in range(2))
    later(["bad"])
    same(first(long), later(long))


def test_memory_that_runs_out_later_changes_the_batches_once(
    zoo: dict[str, str], in_shapes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = load(zoo["single"], "single", device="cpu", batch_tokens=512)
    whole, stream, plain = victim(TEXTS[:3]), victim.stream, victim.model.forward

    def forward(**inputs: Any) -> Any:
        if inputs["input_ids"].numel() > 300:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return plain(**inputs)

    stream.shapes.clear()
    monkeypatch.setattr(victim.model, "forward", forward)
    np.testing.assert_allclose(victim(TEXTS[:3]).answers, whole.answers, atol=1e-6)
    assert victim.stream is stream and victim.batch_tokens == stream.tokens == 256


def test_a_shield_stays_in_the_worker(zoo: dict[str, str], serve: Serve) -> None:
    victim = load(zoo["single"], "single", device="cpu")
    texts = [*TEXTS, "g00d f i l m"]
    same(Shielded(serve(victim), "normalise")(texts), Shielded(victim, "normalise")(texts))


def test_gradients_go_through_the_door(zoo: dict[str, str], serve: Serve) -> None:
    victim = load(zoo["single"], "single", device="cpu")
    served, texts = serve(victim), ["the cat sat", "good film"]
    words, weights = [[(0, 3), (4, 7)], [(0, 4)]], np.eye(3)[:2]
    for norm in (None, "l1"):
        both = [
            one.saliency(texts, side=0, words=words, weights=weights, steps=2, norm=norm) for one in (victim, served)
        ]
        np.testing.assert_array_equal(np.concatenate(both[0]), np.concatenate(both[1]))
    np.testing.assert_array_equal(served.slopes(texts, [0, 1])[0], victim.slopes(texts, [0, 1])[0])
    np.testing.assert_array_equal(served.vocabulary().vectors, victim.vocabulary().vectors)
    np.testing.assert_array_equal(served.located(texts)[0].ids, victim.located(texts)[0].ids)
    tags = serve(load(zoo["tokens"], "tokens", device="cpu"))
    with pytest.raises(NotEnoughAccess, match="gradient access"):
        tags.saliency([("a",)], side=0, words=[[]], weights=weights)
    with pytest.raises(ValueError, match="expected encoder, facts, saliency, slopes or vocabulary, got __init__"):
        served.door.call("__init__")


def test_many_ask_at_the_same_time(zoo: dict[str, str], serve: Serve, in_shapes: None) -> None:
    victim = load(zoo["single"], "single", device="cpu", batch_tokens=512)
    alone, served = victim(TEXTS), serve(victim)
    found: dict[int, list[Outputs]] = {}

    def ask(at: int) -> None:
        mine = Served(pickle.loads(pickle.dumps(served.door)))
        found[at] = [mine(TEXTS[at + turn :]) for turn in range(4)]
        mine.door.close()

    threads = [Thread(target=ask, args=(at,)) for at in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for at, answers in found.items():
        for turn, outputs in enumerate(answers):
            # on a CPU a row's last bits depend on its place, on a GPU they do not
            np.testing.assert_allclose(outputs.answers, alone.answers[at + turn :], atol=1e-6)


@pytest.fixture
def steady(zoo: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Encoder:
    """The sentence encoder that a service opens, in batches of fixed shapes, as on a GPU."""
    encoder = open_encoder(zoo["single"], "cpu")
    encoder.steady = True
    monkeypatch.setattr(service_module, "open_encoder", lambda name: encoder)
    monkeypatch.setattr(Encoder, "elsewhere", None)
    return encoder


def test_sentence_encoders_go_through_the_door(
    zoo: dict[str, str], serve: Serve, in_shapes: None, steady: Encoder
) -> None:
    victim = load(zoo["single"], "single", device="cpu", batch_tokens=256)
    served = serve(victim)
    use_encoders_of(served.door)
    held, spans = Encoder.load("any"), [(0, 4, 7), (2, 0, 3), (8, 1, 4)]
    assert isinstance(held, ServedEncoder) and held is Encoder.load("any")
    assert (held.identity, held.size, held.longest) == (steady.identity, steady.size, steady.longest)
    np.testing.assert_array_equal(held(TEXTS, full=False), steady(TEXTS))
    np.testing.assert_array_equal(held.words(TEXTS, spans), steady.words(TEXTS, spans))
    found: list[Any] = []
    asking = [
        Thread(target=lambda: found.append(held_elsewhere(served.door)(TEXTS))),
        Thread(target=lambda: same(Served(pickle.loads(pickle.dumps(served.door)))(TEXTS), victim(TEXTS))),
    ]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    np.testing.assert_array_equal(found[0], steady(TEXTS))


def test_a_service_in_the_place_of_another_opens_its_encoders(
    zoo: dict[str, str], serve: Serve, in_shapes: None, steady: Encoder
) -> None:
    first, second = (serve(load(zoo["single"], "single", device="cpu", batch_tokens=256)) for _ in range(2))
    held: Any = held_elsewhere(first.door)
    held.door = second.door
    np.testing.assert_array_equal(held(TEXTS), steady(TEXTS))


def held_elsewhere(door: Any) -> Encoder:
    """The encoder of a service, through a door of its own."""
    other = pickle.loads(pickle.dumps(door))
    return ServedEncoder(other, "any", *other.call("encoder", "any"))


def test_an_encoder_whose_answers_depend_on_the_batch_is_the_workers_own(
    zoo: dict[str, str], serve: Serve, steady: Encoder
) -> None:
    steady.steady = False
    use_encoders_of(serve(load(zoo["single"], "single", device="cpu")).door)
    assert type(Encoder.load(zoo["single"])) is Encoder


def test_an_error_of_an_encoder_is_that_of_its_request(
    zoo: dict[str, str], serve: Serve, in_shapes: None, steady: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve(load(zoo["single"], "single", device="cpu", batch_tokens=256))
    held = held_elsewhere(served.door)
    bad, before = held.loaded.tokenizer("cat", add_special_tokens=False)["input_ids"][0], steady.loaded.model.forward

    def breaks(input_ids: Any, **more: Any) -> Any:
        if (input_ids == bad).any():
            raise ValueError("a cat")
        return before(input_ids=input_ids, **more)

    monkeypatch.setattr(steady.loaded.model, "forward", breaks)
    with pytest.raises(ValueError, match="a cat"):
        held(["the cat sat"])
    assert np.isfinite(held(["good film"])).all() and len(served(TEXTS)) == len(TEXTS)


def test_requests_share_batches(zoo: dict[str, str], in_shapes: None) -> None:
    victim = load(zoo["single"], "single", device="cpu", batch_tokens=512)
    asked: list[dict[str, np.ndarray]] = []

    class Kept:
        def answer(self, request: Any, encoder: str = "") -> Any:
            asked.append(request)
            return Service(victim).answer([(request, encoder)])[0]

        def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
            return Service(victim).call(method, args, kwargs)

    served = Served(Kept())
    alone = [served([text]) for text in TEXTS[:8]]
    before, together = victim.stream.number, Service(victim).answer([(request, "") for request in asked])
    assert victim.stream.number - before < 8
    for one, found in zip(alone, together, strict=True):
        scores = np.exp(found["logits"] - found["logits"].max(-1, keepdims=True))
        np.testing.assert_allclose(one.answers, scores / scores.sum(-1, keepdims=True), atol=1e-6)


def test_figures_before_the_first_answer(zoo: dict[str, str]) -> None:
    """As of a run that is interrupted then."""
    service = Service(load(zoo["single"], "single", device="cpu"))
    service.put(1, {"ids": np.ones(4, np.int32), "length": np.array([4], np.int32)})
    assert service.figures() == {"requests": 1, "rows": 1, "asked_seconds": 0.0, "waited_seconds": 0.0}


def test_an_error_is_that_of_its_request(zoo: dict[str, str], serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = load(zoo["single"], "single", device="cpu", batch_tokens=256)
    plain, whole = victim.model.forward, victim(TEXTS)
    bad = victim.tokenizer.convert_tokens_to_ids("x")

    def forward(**inputs: Any) -> Any:
        if (inputs["input_ids"] == bad).any():
            raise ArithmeticError("no x, please")
        return plain(**inputs)

    monkeypatch.setattr(victim.model, "forward", forward)
    for shapes in (False, True):
        monkeypatch.setattr(Transformer, "in_shapes", property(lambda victim, shapes=shapes: shapes))
        served = serve(victim)
        found = Query(served)(TEXTS)  # which isolates the row
        assert {why for why in found.problem.tolist() if why} == {"error: ArithmeticError: no x, please"}
        fine = [at for at, text in enumerate(TEXTS) if "x" not in text]
        assert found.answered[fine].all() and found.answered.sum() >= len(fine)
        np.testing.assert_allclose(found.answers[fine], whole.answers[fine], atol=2e-3)
        with pytest.raises(ArithmeticError, match="no x"):
            served(["x"])
        assert served(["a cat"]).answered.all()


@pytest.mark.parametrize("arguments", [(1, 2), (1,)])
def test_an_error_that_cannot_travel_is_told_in_words(
    arguments: tuple[int, ...], zoo: dict[str, str], serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Odd(Exception):  # which no other process can import
        def __init__(self, one: int, *others: int) -> None:
            super().__init__(f"{one} and {others[0]}" if others else "odd")

    def forward(**inputs: Any) -> Any:
        raise Odd(*arguments)

    victim = load(zoo["single"], "single", device="cpu")
    served = serve(victim)
    monkeypatch.setattr(victim.model, "forward", forward)
    with pytest.raises(RuntimeError, match="1 and 2" if len(arguments) > 1 else "odd"):
        served(["a"])


def test_without_room_in_shared_memory_arrays_travel_through_the_socket(
    zoo: dict[str, str], serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim, made = load(zoo["single"], "single", device="cpu"), SharedMemory
    served, whole = serve(victim), victim(TEXTS)
    other = Served(pickle.loads(pickle.dumps(served.door)))
    same(served(["a cat"]), victim(["a cat"]))

    def full(name: str | None = None, create: bool = False, size: int = 0) -> SharedMemory:
        if create:
            raise OSError(28, "No space left on device")
        return made(name, create, size)

    monkeypatch.setattr(slabs, "FIRST", 1 << 30)
    for what, instead in (("SharedMemory", full), ("_has_room", lambda slab: False)):
        with monkeypatch.context() as patched:
            patched.setattr(slabs, what, instead)
            served.door._room(1 << 25)  # larger than the one that it has
            same(served(TEXTS), whole)
    served.door.close()
    same(other(TEXTS), whole)  # the service goes on for the others


def test_a_temporary_folder_with_a_long_name(
    zoo: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As batch systems have them: the name of a socket there would be too long."""
    (long := tmp_path / ("job" * 40)).mkdir()
    monkeypatch.setattr("multiprocessing.util.get_temp_dir", lambda: str(long))
    host = Host(Service(load(zoo["single"], "single", device="cpu")))
    assert Served(host.door).labels == ("bad", "good", "so-so")
    assert (socket := Path(host.door.address)).exists()
    host.close()
    assert not socket.parent.exists()


def test_a_slab_takes_its_memory_before_anybody_writes() -> None:
    slab = SharedMemory(create=True, size=1 << 20)
    try:
        assert slabs._has_room(slab)
        if (shown := slabs.SHARED / slab.name).exists():
            assert shown.stat().st_blocks * 512 >= 1 << 20
    finally:
        slab.close()
        slab.unlink()


def test_large_requests_get_a_larger_slab(zoo: dict[str, str], serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slabs, "FIRST", 64)
    victim = load(zoo["single"], "single", device="cpu")
    served = serve(victim)
    for count in (1, 5, len(TEXTS), 2):
        same(served(TEXTS[:count]), victim(TEXTS[:count]))
    assert isinstance(served.door, LocalDoor) and served.door._slab is not None and served.door._slab.size > 1024


def test_a_worker_that_ends_is_forgotten(zoo: dict[str, str]) -> None:
    victim = load(zoo["single"], "single", device="cpu")
    with Host(Service(victim)) as host:
        door = host.door
        for after in range(3):  # it ends after it knocked, after it has a slab, while its request is being answered
            line = Client(door.address, authkey=door.key)
            if after:
                line.send(("slab", 4096))
                failed, name = line.recv()
                assert failed is None
                slab = SharedMemory(name)
            if after > 1:
                line.send(("answer", slabs.write({"ids": np.ones(4, np.int32), "length": np.ones(4, np.int32)}, slab)))
            line.close()
            same(Served(door)(TEXTS), victim(TEXTS))
            if after:
                slab.close()
                with pytest.raises(FileNotFoundError):
                    SharedMemory(slab.name)
        assert len(host._slabs) == 1


def test_a_service_that_ends_is_told(zoo: dict[str, str]) -> None:
    victim = load(zoo["single"], "single", device="cpu")
    host = Host(Service(victim))
    served, late = Served(host.door), pickle.loads(pickle.dumps(host.door))
    assert served(["a"]).answered.all()
    host.close()
    host.close()
    for ask in (lambda: Query(served)(["b"]), lambda: late.call("facts")):
        with pytest.raises(ServiceLost, match="expected an answer from the process that holds the model, got none"):
            ask()


def test_a_message_that_cannot_be_rebuilt_ends_one_worker_alone(zoo: dict[str, str]) -> None:
    with Host(Service(load(zoo["single"], "single", device="cpu"))) as host:
        line = Client(host.door.address, authkey=host.door.key)
        line.send_bytes(b"no pickle")
        with pytest.raises(EOFError):
            line.recv()
        line.close()
        assert Served(host.door)(["a"]).answered.all()


def test_a_service_that_breaks_leaves_nobody_waiting(zoo: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    victim = load(zoo["single"], "single", device="cpu")
    monkeypatch.setattr("threading.excepthook", lambda _: None)
    with Host(Service(victim)) as host:
        served = Served(host.door)
        monkeypatch.setattr(host.service, "step", lambda: 1 / 0)
        with pytest.raises(ServiceLost):
            served(["a"])


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("timings.json", "run.json")  # which say how many workers there were
    }


@pytest.mark.slow
def test_workers_ask_one_encoder(
    zoo: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steady: Encoder
) -> None:
    monkeypatch.setattr(Transformer, "serves", True)
    monkeypatch.setattr("scuff.victims.huggingface._block", lambda weights: 20)
    rows = [{"text": text, "label": "bad"} for text in TEXTS if len(text) > 9]
    found, asked = [], []
    for workers in (2, 3):
        folder = tmp_path / str(workers)
        scuff.evaluate(
            zoo["single"], rows, folder, dimensions=["distraction"], cases=3, workers=workers, encoder=zoo["single"],
            options={"device": "cpu", "batch_tokens": 512},
        )  # fmt: skip
        found.append(files(folder))
        asked.append(steady.stream.number - sum(asked))
    assert found[0] == found[1] and min(asked) > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["attack", "evaluate"])
def test_runs_with_any_number_of_workers(
    kind: str, zoo: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Transformer, "serves", True)
    monkeypatch.setattr("scuff.victims.huggingface._block", lambda weights: 200)
    rows = [{"text": text, "label": ("bad", "good", "so-so")[at % 3]} for at, text in enumerate(TEXTS) if text.strip()]
    options: dict[str, Any] = {"options": {"device": "cpu", "batch_tokens": 512}, "encoder": "chrf"}
    found = []
    for workers in (1, 2, 4):
        folder = tmp_path / str(workers)
        if kind == "attack":
            scuff.attack(zoo["single"], rows, "deepwordbug", folder, workers=workers, **options)
        else:
            scuff.evaluate(
                zoo["single"],
                rows,
                folder,
                dimensions=["typo", "keyboard"],
                workers=workers,
                cases=3,
                options=options["options"],
            )
        timing = json.loads((folder / "timings.json").read_text())[-1]
        assert ("service" in timing) == (workers > 1) and timing.get("service", {"rows": 1})["rows"] > 0
        found.append(files(folder))
    assert found[0] == found[1] == found[2]
