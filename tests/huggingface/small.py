"""Small networks with random weights, and tokenizers that cut text as the large ones do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import transformers as hf
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from scuff.huggingface.loading import quiet

WORDS = [
    "the", "a", "an", "cat", "dog", "good", "great", "bad", "film", "movie", "films", "was", "very", "not", "and", "sat", "on",
    "mat", "it", "is", "un", "old", "red", "believ", "##able", "##ing", "##s", "picture", "animal", "house", "nice", "table",
]  # fmt: skip
LETTERS = "abcdefghijklmnopqrstuvwxyz"
TEXTS = [
    "the cat sat on a mat", "", "   ", "not a good film, was it?", "believing in unbelievable dogs " * 3, "very " * 200,
    "😀👩‍👩‍👧 film", "שלום good", "مرحبا", "\u200b", "x", "the cat sat on a mat", "bad " * 47, "[SEP] [MASK]", "it\nis\tbad",
]  # fmt: skip
TINY: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
    "max_position_embeddings": 48, "initializer_range": 0.6,  # so large that answers differ widely
}  # fmt: skip


def save(model: Any, folder: Path) -> str:
    with quiet():
        model.save_pretrained(folder)
    return str(folder)


def save_wordpieces(folder: Path) -> int:
    """A tokenizer as BERT's; gives the number of its pieces."""
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *".,?![]", *WORDS, *(f"##{x}" for x in LETTERS)]
    cut = Tokenizer(models.WordPiece({piece: at for at, piece in enumerate(pieces)}, unk_token="[UNK]"))
    cut.normalizer, cut.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    cut.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    cut.enable_truncation(5)  # as sentence-transformers store theirs, which must not matter
    cut.enable_padding(length=9)
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    hf.PreTrainedTokenizerFast(tokenizer_object=cut, **names).save_pretrained(folder)
    return len(pieces)


def save_bytes(folder: Path) -> int:
    """A tokenizer as RoBERTa's: bytes, and words with the space before them."""
    merges = [
        ("Ġ", "c"),
        ("Ġc", "a"),
        ("Ġca", "t"),
        ("d", "o"),
        ("do", "g"),
        ("Ġ", "dog"),
        ("Ġ", "g"),
        ("Ġg", "o"),
        ("Ã", "©"),
    ]
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    pieces += ["".join(pair) for pair in merges]
    vocabulary = {piece: at for at, piece in enumerate(pieces)}
    hf.RobertaTokenizerFast(vocab=vocabulary, merges=merges).save_pretrained(folder)
    return len(pieces)
