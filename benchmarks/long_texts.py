"""Measures how the time for one text grows with its words, in attacks and in evaluations by scores.

  python benchmarks/long_texts.py [--words 100 1000 10000 100000] [--recipes deepwordbug textbugger pwws] [--reads 512]
                                  [--dimension typo] [--against SOURCES] [--most SECONDS]

The victim is the embedded toy:sentiment, which reads the first --reads words of a text, as a network of so many pieces does, and
knows an answer by heart after the first time. With --reads 0 it reads everything: a ranking of n words then asks about n texts
of n words, whatever the code does, and the characters that are written and read grow with the square. The victim's own seconds
stand apart. It is always sure of the label of the text, which is made of embedded reviews, so that a search goes on to the end.
Rows are printed as they come; a kind is given up once a row took more than --most seconds of the processor.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from os import environ
from pathlib import Path
from typing import Any

import numpy as np

import scuff
from scuff.data.toy import toy_data
from scuff.victims.base import Access, Column, Outputs, Victim
from scuff.victims.toy import Toy


class Reader(Victim):
    """Always sure of one label, a little less for some texts; reads so many words."""

    name, task, labels, access = "reader", "single", ("negative", "positive"), Access.SCORE
    rows_at_once = 512

    def __init__(self, reads: int) -> None:
        self.reads, self.toy = reads or None, Toy("sentiment")
        self.known: dict[str, float] = {}
        self.seconds, self.asked, self.characters = 0.0, 0, 0

    def __call__(self, *columns: Column) -> Outputs:
        begin = time.process_time()
        texts = [
            str(text) if self.reads is None else " ".join(str(text).split(" ", self.reads)[: self.reads])
            for text in columns[0]
        ]
        self.asked += len(texts)
        self.characters += sum(map(len, columns[0]))
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        for at in range(0, len(new), 64):
            some = new[at : at + 64]
            self.known |= dict(zip(some, self.toy(some).answers[:, 1].tolist(), strict=True))
        sure = 0.6 + 0.3 * np.array([self.known[text] for text in texts])
        self.seconds += time.process_time() - begin
        return Outputs.of(np.stack([1 - sure, sure], 1).astype(np.float32))

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("what it has learnt is no part of the model")


def text_of(words: int) -> str:
    """A text of so many words, made of reviews."""
    some = " ".join(toy_data("sentiment", "train")[0]).split()
    return " ".join((some * (words // len(some) + 1))[:words])


def measured(kind: str, words: int, reads: int, args: argparse.Namespace) -> tuple[float, float, int, int]:
    """Seconds without the victim's, the victim's, queries of the run, characters that the victim was given."""
    victim, rows = Reader(reads), [(text_of(words), "positive")]
    with tempfile.TemporaryDirectory() as folder:
        begin = time.process_time()
        if kind == "evaluate":
            scuff.evaluate(
                victim, rows, Path(folder) / "run", dimensions=[args.dimension], access="score", cases=2, degrees=[0.1],
                encoder="chrf",
            )  # fmt: skip
        else:
            vectors = {"vectors": args.vectors} if args.vectors else {}
            scuff.attack(
                victim, rows, kind, Path(folder) / "run", encoder="chrf", without=["meaning", "word-vectors"], **vectors
            )
        spent = time.process_time() - begin
    return spent - victim.seconds, victim.seconds, victim.asked, victim.characters


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, nargs="+", default=[100, 1000, 10_000, 100_000])
    parser.add_argument("--recipes", nargs="*", default=["deepwordbug", "pwws"])
    parser.add_argument("--dimension", default="typo")
    parser.add_argument("--reads", type=int, default=512)
    parser.add_argument("--vectors")
    parser.add_argument("--most", type=float, default=120.0)
    parser.add_argument("--against", help="the folder src of another version, which is measured first")
    args = parser.parse_args()
    if args.against:
        given = [part for part in sys.argv[1:] if part not in ("--against", args.against)]
        print(f"{args.against}:", flush=True)
        subprocess.run([sys.executable, __file__, *given], env={**environ, "PYTHONPATH": args.against}, check=True)
        print("these sources:", flush=True)
    print("| | words | seconds | to the row before | of the victim | texts asked | characters asked | MB at most |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    measured("evaluate", 20, args.reads, args)  # imports
    for kind in ("evaluate", *args.recipes):
        before = 0.0
        for words in args.words:
            seconds, victims, asked, size = measured(kind, words, args.reads, args)
            ratio = f"{seconds / before:.1f}" if before else ""
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            print(
                f"| {kind} | {words:,} | {seconds:.2f} | {ratio} | {victims:.2f} | {asked:,} | {size:,} | {most:,} |",
                flush=True,
            )
            before = seconds
            if seconds + victims > args.most:
                break


if __name__ == "__main__":
    main()
