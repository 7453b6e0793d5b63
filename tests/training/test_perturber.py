"""Perturbing on the fly for other trainers: same seed, epoch and example, same bytes, in all of their loops."""

from __future__ import annotations

import pickle
import random
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.data.dataset import Dataset
from scuff.training import Clean, Mixed, Perturber
from strategies import texts

SENTENCE = "the staff were friendly and every room was spotless although breakfast ended rather early"
TEXTS = [" ".join(random.Random(at).sample(SENTENCE.split(), 8)) + f" {at}" for at in range(24)]
ROWS = [{"text": text, "label": at % 2} for at, text in enumerate(TEXTS)]
MIXTURE = "keyboard,intrude@high,truncate@mid"


@given(texts, st.integers(0, 3), st.integers(1, 4), st.randoms(use_true_random=False))
def test_same_bytes_whatever_the_batch(found: list[str], epoch: int, size: int, dice: random.Random) -> None:
    noise = Perturber(MIXTURE, epoch=epoch)
    rows = [{"text": text, "label": at} for at, text in enumerate(found)]
    whole = noise(rows)
    order = dice.sample(range(len(rows)), len(rows))
    again = Perturber(MIXTURE)
    again.set_epoch(epoch)
    parts = [again([rows[at] for at in order[begin : begin + size]]) for begin in range(0, len(order), size)]
    assert [row for part in parts for row in part] == [whole[at] for at in order]
    assert [row["label"] for row in whole] == list(range(len(rows))) and [row["text"] for row in rows] == found


def test_a_batch_comes_back_in_its_type() -> None:
    noise = Perturber(MIXTURE)
    columns = {"text": TEXTS, "label": list(range(24))}
    made = noise(columns)
    assert made["text"] == [row["text"] for row in noise(ROWS)] != TEXTS and made["label"] == columns["label"]
    assert noise([]) == [] and noise({"text": [], "label": []}) == {"text": [], "label": []}
    missing = noise([{"text": None}, {"text": TEXTS[0]}])
    assert missing[0] == {"text": None} and missing[1]["text"] == made["text"][0]


def test_every_epoch_is_fresh() -> None:
    noise = Perturber("keyboard@high,truncate@high,intrude@high")
    epochs = []
    for number in range(3):
        noise.set_epoch(number)
        epochs.append([row["text"] for row in noise(ROWS)])
    assert all(len({*versions, text}) == 4 for text, *versions in zip(TEXTS, *epochs, strict=True))


def test_pairs_tokens_and_ids() -> None:
    pairs = [{"premise": text, "hypothesis": text, "label": 0} for text in TEXTS]
    made = Perturber("keyboard@high", side="both")(pairs)
    assert all(len({row["premise"], row["hypothesis"], old}) == 3 for row, old in zip(made, TEXTS, strict=True))
    tokens = Perturber("keyboard@high")([{"tokens": text.split(), "tags": text.split()} for text in TEXTS])
    assert all(len(row["tokens"]) == len(row["tags"]) and row["tokens"] != row["tags"] for row in tokens)
    twins = Perturber("keyboard@high", id="name")([{"text": TEXTS[0], "name": at} for at in range(5)])
    assert len({row["text"] for row in twins}) == 5


@pytest.mark.parametrize(
    ("options", "rows", "message"),
    [
        ({"mixture": "keybord"}, ROWS, "did you mean keyboard"),
        ({"mixture": "keyboard", "side": "both"}, ROWS, "expected two columns of texts for side both, got text"),
        ({"mixture": "keyboard", "text": "body"}, ROWS, "batch: expected a column 'body', got text, label"),
        ({"mixture": "keyboard", "id": "name"}, ROWS, "batch: expected a column 'name', got text, label"),
        ({"mixture": "keyboard"}, [{"a": "b", "c": "d"}], "batch: expected --text NAME"),
        ({"mixture": "segment"}, [{"tokens": ["a", "b"]}], "expected perturbations that keep each token"),
    ],
)
def test_what_is_wrong(options: Any, rows: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Perturber(**options)(rows)


def test_datasets_map_and_transform() -> None:
    datasets = pytest.importorskip("datasets")
    from datasets.fingerprint import Hasher

    held = datasets.Dataset.from_list(ROWS)
    noise = Perturber(MIXTURE)
    expected = [row["text"] for row in noise(ROWS)]
    assert held.map(noise, batched=True, batch_size=5)["text"][:] == expected
    assert Hasher.hash(noise) == Hasher.hash(Perturber(MIXTURE)) != Hasher.hash(Perturber(MIXTURE, epoch=1)), "cached"
    held.set_transform(noise)
    assert held[3]["text"] == expected[3] and held[[5, 1]]["text"] == [expected[5], expected[1]]
    noise.set_epoch(1)
    assert held[3]["text"] == Perturber(MIXTURE, epoch=1)(ROWS)[3]["text"] != expected[3]


def test_without_torch_the_command_that_installs_it_is_named() -> None:
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "try:\n    from scuff.training import Collator\n"
        "except LookupError as error:\n    print(error)"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert out == "expected torch for Collator, got none: pip install 'scuff[training]'\n"


torch = pytest.importorskip("torch")
hf = pytest.importorskip("transformers")
pytest.importorskip("tokenizers")

from scuff.training import Collator, Examples


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    letters = sorted({*"abcdefghijklmnopqrstuvwxyz0123456789"})
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{letter}" for letter in letters), *SENTENCE.split()]
    cut = Tokenizer(models.WordPiece({piece: at for at, piece in enumerate(pieces)}, unk_token="[UNK]"))
    cut.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    cut.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return hf.PreTrainedTokenizerFast(tokenizer_object=cut, pad_token="[PAD]", unk_token="[UNK]")


def tiny(tokenizer: Any) -> Any:
    torch.manual_seed(0)
    return hf.BertForSequenceClassification(
        hf.BertConfig(
            vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
        )
    )


def test_collator_labels(tokenizer: Any) -> None:
    one = Collator(tokenizer)(ROWS[:4])
    assert one["labels"].tolist() == [0, 1, 0, 1] and one["input_ids"].shape[0] == 4
    assert one["attention_mask"].sum(1).max() == one["input_ids"].shape[1], "padded to the longest"
    sets = Collator(tokenizer)([{"text": "early", "labels": [0.0, 1.0]}, {"text": "room", "labels": [1.0, 1.0]}])
    assert sets["labels"].dtype == torch.float32 and sets["labels"].tolist() == [[0, 1], [1, 1]]
    pair = Collator(tokenizer)([{"premise": "early", "hypothesis": "room", "label": 1}])
    assert tokenizer.decode(pair["input_ids"][0]) == "[CLS] early [SEP] room [SEP]"
    tags = Collator(tokenizer)([{"tokens": ["early", "abc"], "tags": [3, 4]}, {"tokens": ["room"], "tags": [5]}])
    assert tags["labels"].tolist() == [[-100, 3, 4, -100, -100, -100], [-100, 5, -100, -100, -100, -100]]
    assert "labels" not in Collator(tokenizer)([{"text": "early"}])
    with pytest.raises(ValueError, match="expected labels as numbers, as many in each row, got 'good'"):
        Collator(tokenizer)([{"text": "early", "label": "good"}])


def fed(tokenizer: Any, workers: int, epochs: int = 2, **more: Any) -> list[list[int]]:
    """The word pieces of some epochs, read by a DataLoader."""
    collate = Collator(tokenizer, Perturber(MIXTURE))
    loader = torch.utils.data.DataLoader(ROWS, 5, collate_fn=collate, num_workers=workers, **more)
    out: list[list[int]] = []
    for epoch in range(epochs):
        collate.set_epoch(epoch)
        out += [batch["input_ids"].tolist() for batch in loader]
    return out


def test_plain_torch(tokenizer: Any) -> None:
    alone = fed(tokenizer, 0)
    half = len(alone) // 2
    assert alone[:half] != alone[half:] and alone == fed(tokenizer, 0)
    noisy = Perturber(MIXTURE, epoch=1)(ROWS)
    assert alone[half:] == [Collator(tokenizer)(noisy[at : at + 5])["input_ids"].tolist() for at in range(0, 24, 5)]
    batch, model = Collator(tokenizer, Perturber(MIXTURE))(ROWS), torch.nn.EmbeddingBag(len(tokenizer), 2)
    torch.nn.functional.cross_entropy(model(batch["input_ids"]), batch["labels"]).backward()


def test_worker_processes(tokenizer: Any) -> None:
    assert fed(tokenizer, 2, persistent_workers=True) == fed(tokenizer, 0), "also if workers outlive an epoch"
    rows = Examples(feed())
    loader = torch.utils.data.DataLoader(rows, 5, collate_fn=list, num_workers=2, persistent_workers=True)
    for epoch in (0, 1):
        rows.set_epoch(epoch)
        assert [row["text"] for batch in loader for row in batch] == list(feed().epoch(epoch).columns[0])


def test_rows_of_a_feed() -> None:
    rows = Examples(feed())
    first = [rows[at] for at in range(len(rows))]
    assert [row["label"] for row in first] == [row["label"] for row in ROWS] and first[0].keys() == {"text", "label"}
    rows.set_epoch(1)
    assert [row["text"] for row in first] != [rows[at]["text"] for at in range(24)]
    rows.set_epoch(0)
    assert first == [rows[at] for at in range(24)] == [pickle.loads(pickle.dumps(rows))[at] for at in range(24)]

    def clean(task: Any, columns: Any, targets: Any) -> Examples:
        return Examples(Clean(Dataset("d", task, (columns,), targets, tuple(map(str, range(len(targets)))))), label="y")

    sets = clean("multi", ("", "", ""), ((), ("a",), ("b", "a")))
    assert [sets[at]["y"] for at in range(3)] == [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]
    assert clean("tokens", (("an", "oak"),), (("DET", "NOUN"),))[0] == {"text": ["an", "oak"], "y": [0, 1]}
    assert clean("text", ("an oak",), ("eine Eiche",))[0] == {"text": "an oak", "y": "eine Eiche"}


def feed() -> Mixed:
    names = tuple(("bad", "good")[row["label"]] for row in ROWS)  # type: ignore[index]
    return Mixed(Dataset("d", "single", (tuple(TEXTS),), names, tuple(map(str, range(24)))), MIXTURE)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["feed", "transform"])
def test_the_trainer_of_hugging_face(tokenizer: Any, way: str, tmp_path: Any) -> None:
    pytest.importorskip("accelerate")
    datasets = pytest.importorskip("datasets")
    seen: list[str] = []
    noise = Perturber(MIXTURE)
    examples: Any = Examples(feed())
    collate = Collator(tokenizer)

    def spy(rows: Any) -> Any:
        seen.extend(tokenizer.decode(row["input_ids"]) if "input_ids" in row else row["text"] for row in rows)
        return collate(rows)

    class Epoch(hf.TrainerCallback):  # type: ignore[misc]
        def on_epoch_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            noise.set_epoch(round(state.epoch))

    if way == "transform":
        examples = datasets.Dataset.from_list(ROWS)
        examples.set_transform(noise)
    args = hf.TrainingArguments(
        str(tmp_path), num_train_epochs=3, per_device_train_batch_size=8, remove_unused_columns=False, report_to=[],
        save_strategy="no", disable_tqdm=True, use_cpu=True,
    )  # fmt: skip
    trainer = hf.Trainer(tiny(tokenizer), args, train_dataset=examples, data_collator=spy, callbacks=[Epoch()])
    trainer.train()
    for epoch in range(3):
        expected = list(feed().epoch(epoch).columns[0])
        if way == "transform":
            expected = [row["text"] for row in Perturber(MIXTURE, epoch=epoch)(ROWS)]
        assert sorted(seen[24 * epoch : 24 * epoch + 24]) == sorted(expected), f"epoch {epoch}"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of Lightning itself
def test_lightning(tokenizer: Any, tmp_path: Any) -> None:
    lightning = pytest.importorskip("lightning")
    seen: list[str] = []
    collate = Collator(tokenizer, Perturber(MIXTURE))

    class Model(lightning.LightningModule):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = tiny(tokenizer)

        def train_dataloader(self) -> Any:
            return torch.utils.data.DataLoader(ROWS, 8, collate_fn=collate)

        def on_train_epoch_start(self) -> None:
            collate.set_epoch(self.current_epoch)

        def training_step(self, batch: Any, at: int) -> Any:
            seen.extend(tokenizer.batch_decode(batch["input_ids"]))
            return self.model(**batch).loss

        def configure_optimizers(self) -> Any:
            return torch.optim.AdamW(self.parameters(), 1e-3)

    lightning.Trainer(
        max_epochs=3, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, default_root_dir=str(tmp_path),
    ).fit(Model())  # fmt: skip
    assert seen == [
        text
        for epoch in range(3)
        for begin in (0, 8, 16)
        for text in tokenizer.batch_decode(
            Collator(tokenizer)(Perturber(MIXTURE, epoch=epoch)(ROWS[begin : begin + 8]))["input_ids"]
        )
    ]


PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "augment.md"
BLOCKS = re.findall(r"^```py\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def run_blocks(tokenizer: Any, needs: set[str]) -> dict[str, Any]:
    """Runs the examples of the page that need no other of the heavy packages, in their order; returns the names that they set."""
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["bad", "good"])}
    )
    names: dict[str, Any] = {"tokenizer": tokenizer, "model": tiny(tokenizer) if needs else Blind()}
    names |= {part: datasets.Dataset.from_list(ROWS, features=features) for part in ("train", "dev")}
    heavy = {"transformers", "lightning"}
    ran = [
        block
        for block in BLOCKS
        if {word for word in heavy if f"{word} " in block or f"import {word}" in block} <= needs
    ]
    for block in ran:
        exec(block, names)
    names["ran"] = len(ran)
    return names


class Blind:
    """A model that looks at nothing."""

    def __call__(self, input_ids: Any, labels: Any, **more: Any) -> Any:
        return SimpleNamespace(loss=labels.float().mean())


def test_the_examples_of_the_page(tokenizer: Any) -> None:
    found = run_blocks(tokenizer, set())
    assert found["ran"] == 2 and len(BLOCKS) == 5
    assert found["noisy"]["label"][:] == found["train"]["label"][:] and found["noisy"]["text"][:] != TEXTS
    assert 24 < len(found["more"]) <= 48 and found["more"].features == found["train"].features
    assert float(found["loss"]) <= 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_examples_of_the_page_that_train(tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("accelerate")
    monkeypatch.chdir(tmp_path)
    found = run_blocks(tokenizer, {"transformers"})
    assert found["trainer"].state.epoch == 2 and "eval_loss" in found["trainer"].evaluate()
    args = found["args"]
    seen = hf.Trainer(tiny(tokenizer), args, train_dataset=found["train"], data_collator=Collator(tokenizer))
    seen.add_callback(found["SetEpoch"])
    seen.train()
    assert found["noise"].epoch == 1
    lightning = pytest.importorskip("lightning")
    found = run_blocks(tokenizer, {"transformers", "lightning"})
    quiet: Any = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    trainer = lightning.Trainer(max_epochs=1, accelerator="cpu", **quiet)
    trainer.fit(found["Module"](), found["loader"])
    assert trainer.current_epoch == 1
