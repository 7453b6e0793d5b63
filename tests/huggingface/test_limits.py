"""How many words a network reads: tokenizers make the same pieces of a text that is cut behind them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scuff.huggingface.batches import encode
from scuff.huggingface.limits import words_read
from scuff.text.corpus import Corpus
from scuff.text.reading import Reading
from strategies import text as nasty


@pytest.mark.parametrize("kind", ["wordpieces", "bytes"])
def test_tokenizers_make_the_same_pieces_of_what_is_read(kind: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    hf = pytest.importorskip("transformers")
    from huggingface import small

    folder: Path = tmp_path_factory.mktemp(kind)
    getattr(small, f"save_{kind}")(folder)
    tokenizer = hf.AutoTokenizer.from_pretrained(folder)

    @settings(max_examples=60)
    @given(nasty, nasty, st.integers(4, 9))
    def same(one: str, other: str, most: int) -> None:
        assert words_read(tokenizer, most) == most
        text = f"{one} the cat {other} {one} sat\x1con\n a mat {other}dog 1 2 3 4 5 6 7 8 9"
        cut = Reading.of(Corpus.of([text]), most).first(text)
        whole, part = (encode(tokenizer, [[written]], most).flat["input_ids"].tolist() for written in (text, cut))
        assert whole == part

    same()
    tokenizer.truncation_side = "left"
    assert words_read(tokenizer, 8) is None
