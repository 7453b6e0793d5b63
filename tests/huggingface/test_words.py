"""Pieces of words that are kept, beside what the tokenizer itself gives for the whole text."""

from __future__ import annotations

import gzip
import io
import json
import sys
import threading
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

hf = pytest.importorskip("transformers")

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

from scuff.huggingface import words
from scuff.huggingface.batches import Pieces, encode
from scuff.huggingface.words import words_of

CORPUS = [
    "the cat sat on a mat, and it wasn't happy: 'no!' it said 12 times.", "The naïve café über alles — ΣΑΣ ας 3.5%",
    "你好 世界 がぎ ありがとう", "unbelievable believing 😀 film films great bad not very", "Ünïcödé ﬁne ½ x²",
    "a▁b ``quoted'' text",
] * 3  # fmt: skip
MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ANGLES = ["<s>", "<pad>", "</s>", "<unk>"]


def finished(cut: Tokenizer, kind: str, **options: Any) -> Any:
    """A tokenizer as transformers uses it, with the marks of BERT, RoBERTa or T5."""
    first, last = ("[CLS]", "[SEP]") if kind == "bert" else ("<s>", "</s>")
    ends = {name: cut.token_to_id(name) for name in (first, last)}
    if kind == "bert":
        cut.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=list(ends.items())
        )
    elif kind == "roberta":
        cut.post_processor = processors.RobertaProcessing((last, ends[last]), (first, ends[first]))
    elif kind == "t5":
        cut.post_processor = processors.TemplateProcessing(
            single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", ends[last])]
        )
    names = ["input_ids", "token_type_ids", "attention_mask"]
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=cut, model_input_names=names, pad_token="[PAD]" if kind == "bert" else "<pad>", **options
    )


def bert(cased: bool) -> Any:
    cut = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    cut.normalizer = normalizers.BertNormalizer(lowercase=not cased)
    cut.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    cut.train_from_iterator(CORPUS, trainers.WordPieceTrainer(vocab_size=260, special_tokens=MARKS))
    cut.add_tokens([AddedToken("film", single_word=True), AddedToken("over", lstrip=True, rstrip=True)])
    cut.enable_truncation(5)  # as some are stored
    cut.enable_padding(length=9)
    return finished(cut, "bert")


def bytes_level(prefix: bool, kind: str, normalizer: Any = None) -> Any:
    cut = Tokenizer(models.BPE())
    cut.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=ANGLES, initial_alphabet=alphabet)
    if normalizer:
        cut.normalizer = normalizer
    cut.train_from_iterator(CORPUS + ["a  b   c    d \t\t\n\n x"] * 9, trainer)
    cut.add_special_tokens([AddedToken("<mask>", lstrip=True), AddedToken("<hide>", rstrip=True)])
    return finished(cut, kind)


@cache
def charsmap() -> bytes:
    """The table by which sentencepiece normalises (nmt_nfkc), from a model that it trains."""
    spm = pytest.importorskip("sentencepiece")
    out = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=out, vocab_size=120, minloglevel=2, hard_vocab_limit=False,
        num_threads=1,
    )  # fmt: skip
    raw = out.getvalue()
    # the field precompiled_charsmap (2, bytes) of normalizer_spec (3) of the protobuf message, both with their length before
    name = raw.index(b"\x0a\x08nmt_nfkc\x12")
    at, length, shift = name + 11, 0, 0
    while True:
        length |= (raw[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if raw[at - 1] < 128:
            return raw[at : at + length]


def unigram(kind: str, scheme: str, steps: list[Any], split: bool = False) -> Any:
    cut = Tokenizer(models.Unigram())
    cut.normalizer = normalizers.Sequence(steps)
    marks = pre_tokenizers.Metaspace(prepend_scheme=scheme)
    cut.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), marks]) if split else marks
    trainer = trainers.UnigramTrainer(vocab_size=300, special_tokens=ANGLES, unk_token="<unk>", show_progress=False)
    cut.train_from_iterator(CORPUS, trainer)
    cut.add_special_tokens([AddedToken("<mask>", lstrip=True), AddedToken("<hide>", rstrip=True)])
    return finished(cut, kind)


def precompiled() -> Any:
    return normalizers.Precompiled(charsmap())


def one_blank() -> Any:
    return normalizers.Replace(Regex(" {2,}"), " ")


def quotes() -> list[Any]:
    return [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]


MADE = {
    "bert": lambda: bert(cased=False),
    "bert, cased": lambda: bert(cased=True),
    "gpt2": lambda: bytes_level(False, "none"),
    "roberta": lambda: bytes_level(True, "roberta"),
    "modernbert": lambda: bytes_level(False, "t5", normalizers.NFC()),
    "xlm-roberta": lambda: unigram("roberta", "always", [precompiled(), one_blank()], split=True),
    "t5": lambda: unigram("t5", "always", [precompiled(), normalizers.Strip(left=False), one_blank()]),
    "identity": lambda: unigram("t5", "always", [normalizers.Strip(left=False), one_blank()]),
    "deberta": lambda: unigram("t5", "always", [normalizers.Strip(), precompiled(), one_blank()]),
    "albert": lambda: unigram(
        "t5", "always",
        [*quotes(), normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(), precompiled(), one_blank()],
    ),
    "first": lambda: unigram("t5", "first", [normalizers.Nmt(), normalizers.NFKC()]),
    "never": lambda: unigram("none", "never", [normalizers.Strip(left=False)]),
}  # fmt: skip


@cache
def made(kind: str) -> Any:
    return MADE[kind]()


# what reaches across blanks, is cut in an odd way, or stands for something else
NASTY = [
    *" .,'-▁", "  ", "   ", "\t", "\n", "\r\n", " \t", "\u00a0", "\u3000", "\u2028", "\u200b", "\u200d", "\ufeff", "\x00", "\x1f",
    "\x85", "\u0301", "\u0345", "\u0308", "\u3099", "\u0600", "\U000110bd", "\u0d4e", "\u0e33", "\uff9e", "\U0001f3fb", "\u20dd",
    "the", "The", "cat", "naïve", "nai\u0308ve", "ΣΑΣ", "ας", "İ", "ß", "ﬁne", "x²", "¨", "´", "你好", "か\u3099", "각",
    "\u1100\u1161", "film", "films", "over", "[MASK]", "[UNK]", "[SEP]", "<mask>", "</s>", "<unk>", "<hide>", "<s>", "[unk]",
    "<MASK>", "``", "''", "it's", "wasn't", "'ll", "12", "3.5%", "x" * 101, "é" * 100, "😀", "👩‍👩‍👧", "a▁b", "▁", "\ufffd",
    "שלום", "م\u0640\u0651", "Ǆ",
]  # fmt: skip
fragments = st.lists(st.sampled_from(NASTY), max_size=12).map("".join)
spaced = st.lists(st.sampled_from(NASTY), max_size=12).map(" ".join)
texts = st.one_of(fragments, spaced, st.text(max_size=20))


def rows_of(pieces: Pieces, name: str) -> list[list[int]]:
    return pieces.back([part.tolist() for part in np.split(pieces.flat[name], pieces.start[1:-1])])


@pytest.mark.parametrize("kind", MADE)
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(
    rows=st.lists(st.tuples(texts, texts), min_size=1, max_size=8),
    pairs=st.booleans(),
    longest=st.integers(5, 40),
    side=st.sampled_from(["left", "right"]),
)
def test_pieces_are_those_of_the_tokenizer(
    kind: str, rows: list[tuple[str, str]], pairs: bool, longest: int, side: str
) -> None:
    tokenizer = made(kind)
    assert words_of(tokenizer) is not None
    tokenizer.truncation_side = side
    columns = [list(column) for column in zip(*rows, strict=True)][: 1 + pairs]
    plain = tokenizer(*columns, truncation=True, max_length=longest)
    found = encode(tokenizer, columns, longest)
    assert found.length.tolist() == sorted(found.length.tolist(), reverse=True)
    spare = next(
        n for n in (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.unk_token_id, tokenizer.pad_token_id, 0)
        if n is not None
    )  # fmt: skip
    assert rows_of(found, "input_ids") == [row or [spare] for row in plain["input_ids"]]
    assert rows_of(found, "token_type_ids") == [row or [0] for row in plain["token_type_ids"]]


def plain_rows(tokenizer: Any, texts: list[str]) -> list[list[int]]:
    return list(tokenizer(texts, truncation=True, max_length=64)["input_ids"])


def test_only_new_words_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = bert(cased=False)
    encode(tokenizer, [["the cat sat on a mat"]], 64)
    table, seen = words_of(tokenizer), []
    assert table is not None
    add = table._add
    monkeypatch.setattr(table, "_add", lambda new: (seen.extend(new), add(new)))
    found = encode(tokenizer, [["the dog sat on a mat", "the [UNK] sat on a mat", "the cat sat on a mat"]], 64)
    assert seen == [" dog", " [UNK]"]
    assert len(found) == 3


def test_a_full_table_starts_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MOST_WORDS", 50)
    tokenizer = bert(cased=True)
    texts = [f"word{at} cat {at}" for at in range(400)]
    for at in range(0, 400, 20):
        some = texts[at : at + 20]
        assert rows_of(encode(tokenizer, [some], 64), "input_ids") == plain_rows(tokenizer, some)
        table = words_of(tokenizer)
        assert table is not None and table._count <= 50 + 2 * 3 * 20


def test_tokens_that_are_added_later_are_known() -> None:
    tokenizer = bert(cased=False)
    texts = ["a good zebra", "zebra", "goodzebras"]
    before = rows_of(encode(tokenizer, [texts], 64), "input_ids")
    tokenizer.add_tokens(["zebra"])
    after = rows_of(encode(tokenizer, [texts], 64), "input_ids")
    assert after != before
    assert after == plain_rows(tokenizer, texts)


def test_a_part_that_is_set_otherwise_later_is_known() -> None:
    tokenizer, texts = bert(cased=True), ["a Good cat", "Good", "goodness"]
    before = rows_of(encode(tokenizer, [texts], 64), "input_ids")
    tokenizer.backend_tokenizer.normalizer = normalizers.Lowercase()
    lower = rows_of(encode(tokenizer, [texts], 64), "input_ids")
    assert lower != before and lower == plain_rows(tokenizer, texts)
    tokenizer.add_tokens(["the"])  # which was a piece before, so that the vocabulary is as large as it was
    texts = ["them", "the cat"]
    assert rows_of(encode(tokenizer, [texts], 64), "input_ids") == plain_rows(tokenizer, texts)


def test_threads_set_a_tokenizer_one_after_the_other() -> None:
    """Truncation is set for a moment, while another thread may cut texts."""
    tokenizer, long, lengths = bert(cased=True), [("cat",) * 300] * 50, []
    before, interval = tokenizer.backend_tokenizer.truncation, sys.getswitchinterval()
    asking = threading.Thread(
        target=lambda: lengths.extend(encode(tokenizer, [long], 16, words=True).length.max() for _ in range(20))
    )
    sys.setswitchinterval(1e-5)
    try:
        asking.start()
        while asking.is_alive():
            encode(tokenizer, [[("a",)]], 9, words=True)
    finally:
        sys.setswitchinterval(interval)
    asking.join()
    assert lengths == [16] * 20 and tokenizer.backend_tokenizer.truncation == before


def test_a_text_that_is_none_leaves_the_table_whole() -> None:
    tokenizer = bert(cased=False)
    with pytest.raises(TypeError):
        encode(tokenizer, [["good words", "a lone \ud800 surrogate"]], 64)
    texts = ["good words", "other words"]
    assert rows_of(encode(tokenizer, [texts], 64), "input_ids") == plain_rows(tokenizer, texts)


def test_threads_share_a_table() -> None:
    tokenizer = bert(cased=False)
    texts = [[f"{a}{b} film {b}{a}" for a in "abcdefgh" for b in "xyz"] for _ in range(4)]
    wanted, found = plain_rows(tokenizer, texts[0]), []

    def work(some: list[str]) -> None:
        for _ in range(10):
            found.append(rows_of(encode(tokenizer, [some], 64), "input_ids"))

    threads = [threading.Thread(target=work, args=(some,)) for some in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [wanted] * 40


def test_tokens_of_users_behind_a_stripped_blank() -> None:
    """Such a token is looked for in the normalised text: alone its word has lost the blank before it, in a text it has not."""
    tokenizer = unigram("t5", "always", [normalizers.Strip(), one_blank()])
    tokenizer.add_tokens(["film"])
    texts = ["a bad film", "film", " film film", "films  film", "a bad cat"]
    assert words_of(tokenizer) is not None
    assert rows_of(encode(tokenizer, [texts], 64), "input_ids") == plain_rows(tokenizer, texts)


@pytest.mark.parametrize(
    "steps",
    [
        [normalizers.NFKC(), normalizers.Replace("q", "xy")],  # the letter beside which `Words` normalises words
        [normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), "▁")],  # is no blank for this tokenizer
    ],
)
def test_white_space_that_normalizers_make_at_an_end(steps: list[Any]) -> None:
    tokenizer = bytes_level(False, "none", normalizers.Sequence(steps))
    texts = ["cat \n \t cat", "\u3000 cat", "a \u3000 cat", "cat\t cat", "a \u3000 "]
    assert rows_of(encode(tokenizer, [texts], 64), "input_ids") == plain_rows(tokenizer, texts)


def without_splitter() -> Any:
    made = bert(cased=False)
    made.backend_tokenizer.pre_tokenizer = None
    return made


def with_dropout() -> Any:
    made = bytes_level(False, "none")
    made.backend_tokenizer.model.dropout = 0.5
    return made


def with_blank_in_a_token() -> Any:
    made = bert(cased=False)
    made.add_tokens(["New York"])
    return made


def with_own_splitter() -> Any:
    made = bytes_level(False, "none")
    steps = [pre_tokenizers.Split(Regex("n y"), "isolated"), pre_tokenizers.ByteLevel(use_regex=False)]
    made.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
    return made


@pytest.mark.parametrize("build", [without_splitter, with_dropout, with_blank_in_a_token, with_own_splitter])
def test_other_tokenizers_cut_whole_texts(build: Any) -> None:
    tokenizer, texts = build(), ["in New York", "new york", "a cat  sat"]
    assert words_of(tokenizer) is None
    assert len(encode(tokenizer, [texts], 64)) == 3
    if build is not with_dropout:
        assert rows_of(encode(tokenizer, [texts], 64), "input_ids") == plain_rows(tokenizer, texts)


@pytest.mark.shared
def test_the_real_tokenizer(real_model: Any, shared: Any) -> None:
    tokenizer = hf.AutoTokenizer.from_pretrained(real_model("sst2"))
    with gzip.open(shared / "data" / "sst2" / "dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines][:300]
    texts += [text.replace(" ", "  ", 3) + " \t[MASK]" for text in texts]
    assert rows_of(encode(tokenizer, [texts], 64), "input_ids") == plain_rows(tokenizer, texts)


def few_words(**options: Any) -> Any:
    cut = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1, "b": 2, "c": 3, "ab": 4}, unk_token="[UNK]"))
    cut.pre_tokenizer = pre_tokenizers.Whitespace()
    return hf.PreTrainedTokenizerFast(tokenizer_object=cut, unk_token="[UNK]", **options)


def other_words(tokenizer: Any) -> None:
    same_size = {"[UNK]": 0, "a": 3, "b": 2, "c": 1, "ab": 4}
    tokenizer.backend_tokenizer.model = models.WordLevel(same_size, unk_token="[UNK]")


def other_unknown(tokenizer: Any) -> None:
    tokenizer.backend_tokenizer.model.unk_token = "c"


def other_backend(tokenizer: Any) -> None:
    tokenizer._tokenizer = Tokenizer(models.WordLevel({"b": 0, "ab": 1, "c": 2, "[UNK]": 3, "a": 4}, unk_token="[UNK]"))
    tokenizer._tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()


def other_flags(tokenizer: Any) -> None:
    tokenizer.add_tokens([AddedToken("zz", single_word=False)])


def split_marks(tokenizer: Any) -> None:
    tokenizer.split_special_tokens = True


def own_splitter(tokenizer: Any) -> None:
    class Letters:
        def pre_tokenize(self, text: Any) -> None:
            text.split(lambda at, part: [part[i : i + 1] for i in range(len(str(part)))])

    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.PreTokenizer.custom(Letters())


@pytest.mark.parametrize("change", [other_words, other_unknown, other_backend, other_flags, split_marks, own_splitter])
def test_whatever_is_set_otherwise_later_is_known(change: Any) -> None:
    tokenizer, texts = few_words(), ["a b ab", "q zz azz", "a [X] b"]
    tokenizer.add_tokens([AddedToken("zz", single_word=True)])
    tokenizer.add_special_tokens({"mask_token": "[X]"})
    before = rows_of(encode(tokenizer, [texts], 64), "input_ids")
    change(tokenizer)
    after = rows_of(encode(tokenizer, [texts], 64), "input_ids")  # before the tokenizer itself is asked
    assert after == plain_rows(tokenizer, texts) and after != before


@pytest.mark.parametrize(
    ("splitter", "vocabulary"),
    [
        (lambda: pre_tokenizers.ByteLevel(add_prefix_space=False), {"a": 0, "Ġb": 1}),
        (pre_tokenizers.Metaspace, {"▁a": 0, "▁b": 1}),
    ],
)
def test_no_word_is_cut_that_no_text_has(splitter: Any, vocabulary: dict[str, int]) -> None:
    """A tokenizer without a piece for the unknown raises for them."""
    cut = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    cut.pre_tokenizer = splitter()
    tokenizer = hf.PreTrainedTokenizerFast(tokenizer_object=cut)
    assert words_of(tokenizer) is not None
    assert rows_of(encode(tokenizer, [["a b", "a"]], 64), "input_ids") == plain_rows(tokenizer, ["a b", "a"])


def test_a_normalizer_that_drops_blanks() -> None:
    spm = pytest.importorskip("sentencepiece")
    proto = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as rules:
        rules.write("20\t\n41\t61\n")  # nothing for a blank, a for A
        rules.flush()
        out = io.BytesIO()
        spm.SentencePieceTrainer.train(
            sentence_iterator=iter(CORPUS), model_writer=out, vocab_size=120, minloglevel=2, hard_vocab_limit=False,
            num_threads=1, normalization_rule_tsv=rules.name,
        )  # fmt: skip
    model = proto.ModelProto()
    model.ParseFromString(out.getvalue())
    tokenizer = unigram("t5", "always", [normalizers.Precompiled(model.normalizer_spec.precompiled_charsmap)])
    assert rows_of(encode(tokenizer, [["the A cat"]], 64), "input_ids") == plain_rows(tokenizer, ["the A cat"])


def test_pairs_of_a_template_that_repeats_its_text() -> None:
    tokenizer = few_words()
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(single="$A $A", pair="$A $B")
    plain = tokenizer(["a"], ["b c"], truncation=True, max_length=9)["input_ids"]
    assert rows_of(encode(tokenizer, [["a"], ["b c"]], 9), "input_ids") == plain
