"""Small random models and a tokenizer for them, as tests build them."""

from __future__ import annotations

from pathlib import Path

import transformers as hf
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

LONGEST = 48  # positions of the small models
WORDS = [
    "the", "a", "cat", "dog", "good", "bad", "film", "was", "very", "not", "and", "sat", "on", "mat", "it", "is", "un",
    "believ", "##able", "##ing", "##s",
]  # fmt: skip
TINY = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
    "max_position_embeddings": LONGEST, "initializer_range": 0.6,  # so large that answers differ widely
}  # fmt: skip


def save_tokenizer(folder: Path) -> int:
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz.,?![]", *WORDS]
    pieces += [f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    words = Tokenizer(models.WordPiece({piece: at for at, piece in enumerate(pieces)}, unk_token="[UNK]"))
    words.normalizer, words.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    words.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    words.enable_truncation(5)  # as sentence-transformers store theirs, which must not matter
    words.enable_padding(length=9)
    names = {
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
    }
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    hf.PreTrainedTokenizerFast(tokenizer_object=words, model_input_names=inputs, **names).save_pretrained(folder)
    return len(pieces)
