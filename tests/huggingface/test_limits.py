"""How many words a network reads: tokenizers make the same pieces of a text that is cut behind them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scuff.huggingface.batches import encode
from scuff.huggingface.limits import LETTERS, words_read
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


def test_words_without_a_piece_or_with_blanks_tell_nothing(tmp_path: Path) -> None:
    hf = pytest.importorskip("transformers")
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    from huggingface import small

    small.save_wordpieces(tmp_path)
    tokenizer = hf.AutoTokenizer.from_pretrained(tmp_path)
    assert words_read(tokenizer, 8) == 8
    tokenizer.add_tokens(["New York"])
    assert words_read(tokenizer, 8) is None, "two words are one piece"
    replacing = hf.AutoTokenizer.from_pretrained(tmp_path)
    replacing.backend_tokenizer.normalizer = normalizers.Replace("sat", "")
    assert words_read(replacing, 8) is None, "a word is gone"
    replacing.backend_tokenizer.normalizer = normalizers.Replace(Regex(r"https?://\S+"), "")
    assert words_read(replacing, 8) is None, "addresses are gone"
    replacing.backend_tokenizer.normalizer = normalizers.Replace(Regex(" {2,}"), " ")
    assert words_read(replacing, 8) == 8
    replacing.backend_tokenizer.normalizer = normalizers.Replace(" ", "_")
    replacing.backend_tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    assert words_read(replacing, 8) is None, "a text is one word"
    few = Tokenizer(models.BPE({"a": 0, "b": 1}, []))
    few.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    assert words_read(hf.PreTrainedTokenizerFast(tokenizer_object=few), 8) is None, "z has no piece"
    replacing.backend_tokenizer.normalizer = normalizers.Replace(Regex(" {2,}"), "")
    assert words_read(replacing, 8) is None, "two words become one"
    replacing.backend_tokenizer.normalizer = None
    steps = [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex(r"https?://\S+"), "removed")]
    replacing.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(steps)
    assert words_read(replacing, 8) is None, "addresses are gone"
    ends = Tokenizer(models.BPE({f"{c}</w>": at for at, c in enumerate(LETTERS)}, [], end_of_word_suffix="</w>"))
    ends.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    assert words_read(hf.PreTrainedTokenizerFast(tokenizer_object=ends), 8) is None, "ab! has no piece"

    class Own:
        def normalize(self, text: object) -> None:
            """Changes nothing."""

    replacing.backend_tokenizer.normalizer = normalizers.Normalizer.custom(Own())
    assert words_read(replacing, 8) is None, "nobody knows what it does"
