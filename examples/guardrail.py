"""Mend texts before a filter sees them, and log what changed: before any guardrail, or in FastAPI (`uvicorn guardrail:app`)."""

from __future__ import annotations

import logging
import re
from typing import Annotated

import scuff

BLOCKED = re.compile(r"free money|click here", re.IGNORECASE)  # your filter: words, a model, a service


def mend(text: str) -> str:
    mended, repairs = scuff.shield(text, protect=["urls"], return_edits=True)  # the one line
    if repairs:
        logging.info("mended: %s", ", ".join(f"{r.old!a} to {r.new!a} ({'+'.join(r.kinds)})" for r in repairs))
    return mended


try:
    from fastapi import Body, FastAPI
    from pydantic import AfterValidator

    def comment(text: Annotated[str, Body(embed=True), AfterValidator(mend)]) -> dict[str, object]:
        return {"text": text, "blocked": BLOCKED.search(text) is not None}  # it comes mended

    app = FastAPI()
    app.post("/comments")(comment)
except ImportError:
    app = None

if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    for text in ("Get fr\u0435\u0435 m\u043eney, cl\u200bick h.e.r.e", "A plain comment from a na\u00efve caf\u00e9"):
        before, after = (BLOCKED.search(each) is not None for each in (text, mend(text)))
        print(f"{text!a}\n  blocked as it is: {before}, mended: {after}")
    print("the app is ready" if app else "FastAPI is not installed: there is no app, only the guardrail")
