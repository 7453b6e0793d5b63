"""Nasty text: what breaks tools that think a character is a byte, a code unit or a letter."""

from __future__ import annotations

from hypothesis import strategies as st

NASTY = [
    "", " ", "a", "e\u0301", "é", "naïve", "don't", "rock'n'roll", "e-mail", "-", "'", "''", "x-", "-x",
    "👩‍👩‍👧‍👦", "🇩🇪", "🇩🇪🇫🇷🇩", "👍🏽", "1️⃣", "❤️", "‍", "‌", "\u00ad", "क्षत्रिय", "नमस्ते", "ไทย", "ภาษา", "漢字かな", "한국어", "ᄀ",
    "ᅡ", "שלום", "مرحبا", "\u202eabc\u202c", "Привет", "Ελλάδα", "İstanbul", "ß", "ﬁ", "Ǆ", "𝔘𝔫𝔦", "𝒳", "\x00", "\r\n", "\n",
    "\t", "\u2028", "\ufeff", "\u0600١", "ൎക", "aaaa", "AbCd", "abba", "HELLO", "World", "the", "quick", "brown", "3.14",
    "http://example.org/a?b=c", "me@example.org", "@user", "#tag", "{name}", "\U0010ffff", "\ue000",
]  # fmt: skip

plain = st.text(alphabet=st.characters(codec="utf-8"), max_size=12)
text = st.lists(st.one_of(st.sampled_from(NASTY), plain, st.sampled_from([" ", ", ", ". ", "  "])), max_size=12).map(
    "".join
)
texts = st.lists(text, max_size=6)
strength = st.one_of(st.sampled_from([0.0, 0.2, 0.5, 0.8, 1.0]), st.floats(0, 1))
seed = st.integers(0, 2**32)
