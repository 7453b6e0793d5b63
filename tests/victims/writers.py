"""Small random text-to-text models with the tokenizers of their kind, as tests build them."""

from __future__ import annotations

from typing import Any

import torch
import transformers as hf
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from scuff.huggingface.loading import quiet
from scuff.victims.huggingface import Transformer

SENTENCES = [
    "the small dog sees a big cat", "a cat sat on the green mat", "two men are walking home", "the woman reads a book",
    "a child plays with the yellow ball", "people wait for the train", "an old man drinks coffee", "dogs run through the snow",
    "ein kleiner Hund läuft über die Straße", "eine Frau liest ein Buch im Garten", "zwei Männer gehen nach Hause",
]  # fmt: skip
MARKS = ["<s>", "<pad>", "</s>", "<unk>"]


def byte_level() -> Any:
    """As BART's: bytes, words begin with a blank."""
    made = Tokenizer(models.BPE(unk_token="<unk>"))
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        SENTENCES, trainers.BpeTrainer(vocab_size=360, special_tokens=MARKS, initial_alphabet=alphabet)
    )
    made.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False
    )
    return _fast(made)


def sentence_pieces(kind: str = "unigram") -> Any:
    """As those of T5 (unigram) and Marian (here by merges): words begin with ▁."""
    made = Tokenizer(models.Unigram() if kind == "unigram" else models.BPE(unk_token="<unk>"))
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    trainer = (
        trainers.UnigramTrainer(vocab_size=140, special_tokens=MARKS, unk_token="<unk>")
        if kind == "unigram"
        else trainers.BpeTrainer(vocab_size=140, special_tokens=MARKS)
    )
    made.train_from_iterator(SENTENCES, trainer)
    made.post_processor = processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", made.token_to_id("</s>"))])
    return _fast(made)


def _fast(made: Any) -> Any:
    names = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    return hf.PreTrainedTokenizerFast(tokenizer_object=made, **names)


def writer(kind: str, *, positions: int = 160, **options: Any) -> Transformer:
    """A model of kind bart, t5 or marian with random weights. positions: of bart and marian."""
    torch.manual_seed(3)
    tokenizer = byte_level() if kind == "bart" else sentence_pieces("unigram" if kind == "t5" else "merges")
    marks = {
        "vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id,
        "decoder_start_token_id": tokenizer.pad_token_id,
    }  # fmt: skip
    wide = {
        "d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
        "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "max_position_embeddings": positions, "init_std": 0.3,
        "scale_embedding": True,
    }  # fmt: skip
    with quiet():
        if kind == "bart":
            model = hf.BartForConditionalGeneration(hf.BartConfig(**marks, **wide, bos_token_id=tokenizer.bos_token_id))
        elif kind == "marian":
            model = hf.MarianMTModel(hf.MarianConfig(**marks, **wide))
        else:
            config = hf.T5Config(
                **marks,
                d_model=16,
                d_kv=8,
                d_ff=24,
                num_layers=1,
                num_heads=2,
                dropout_rate=0.1,
                initializer_factor=0.7,
            )
            model = hf.T5ForConditionalGeneration(config)
    model.eval()
    return Transformer(
        model, tokenizer, "text", name=kind, digest=lambda: kind, **{"max_length": 40, "max_new_tokens": 12, **options}
    )
