"""A tiny encoder with random weights, and data that it can learn in a second."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import transformers as hf
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from scuff.data.dataset import Dataset, Task
from scuff.huggingface.loading import quiet

GOOD, BAD = ("good", "great", "nice"), ("bad", "awful", "dull")
PLAIN = ("the", "a", "film", "was", "it", "and", "of", "plot", "very", "house", "table", "red", "old", "dog", "cat")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
TAGS = {
    "the": "DET",
    "a": "DET",
    "film": "NOUN",
    "plot": "NOUN",
    "dog": "NOUN",
    "was": "VERB",
    "good": "ADJ",
    "bad": "ADJ",
}


def save_start(folder: Path, kind: str = "BertModel", **options: Any) -> Path:
    """An encoder of two layers, 32 numbers wide, with word pieces, as BERT has them."""
    import torch

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *GOOD, *BAD, *PLAIN, *(f"##{x}" for x in LETTERS)]
    cut = Tokenizer(models.WordPiece({piece: at for at, piece in enumerate(pieces)}, unk_token="[UNK]"))
    cut.normalizer, cut.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    cut.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    hf.PreTrainedTokenizerFast(tokenizer_object=cut, model_input_names=inputs, **names).save_pretrained(folder)
    config = hf.BertConfig(
        vocab_size=len(pieces), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
        max_position_embeddings=48, initializer_range=0.1, hidden_dropout_prob=0.0, **options,
    )  # fmt: skip
    with quiet(), torch.random.fork_rng([]):
        torch.manual_seed(0)
        getattr(hf, kind)(config).save_pretrained(folder)
    return folder


def sentences(count: int, seed: int) -> Dataset:
    """Texts of 2 to 12 words with one word that is good or bad, and the label that says which."""
    chance = np.random.default_rng(seed)
    texts, targets = [], []
    for _ in range(count):
        words = [PLAIN[at] for at in chance.integers(len(PLAIN), size=chance.integers(1, 12))]
        label = int(chance.integers(2))
        words.insert(int(chance.integers(len(words) + 1)), str(chance.choice((BAD, GOOD)[label])))
        texts.append(" ".join(words))
        targets.append(("negative", "positive")[label])
    return dataset("single", (texts,), targets)


def tagged(count: int, seed: int) -> Dataset:
    """Tokens with the tags of TAGS; tokens of several pieces, too."""
    chance = np.random.default_rng(seed)
    known = [*TAGS, "zq", "xyx"]
    rows = [tuple(known[at] for at in chance.integers(len(known), size=chance.integers(1, 9))) for _ in range(count)]
    return dataset("tokens", (rows,), [tuple(TAGS.get(word, "X") for word in row) for row in rows])


def label_sets(count: int, seed: int) -> Dataset:
    """Texts with the labels `animal` and `building`, both, or none."""
    chance = np.random.default_rng(seed)
    rows = [[PLAIN[at] for at in chance.integers(len(PLAIN), size=6)] for _ in range(count)]
    targets = [(("animal",) if "dog" in row else ()) + (("building",) if "house" in row else ()) for row in rows]
    return dataset("multi", ([" ".join(row) for row in rows],), targets)


def pairs(count: int, seed: int) -> Dataset:
    """Pairs of texts; the second one decides: without it, nothing can be learnt."""
    one, other = sentences(count, seed), sentences(count, seed + 1000)
    return dataset("single", (one.columns[0], other.columns[0]), other.targets, ("premise", "hypothesis"))


def dataset(task: Task, columns: Any, targets: Any, fields: tuple[str, ...] = ("text",)) -> Dataset:
    ids = tuple(str(at) for at in range(len(targets)))
    return Dataset("toy", task, tuple(map(tuple, columns)), tuple(targets), ids, fields)
