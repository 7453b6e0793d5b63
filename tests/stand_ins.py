"""What stands in for the files, models and endpoints that the documents name: ./my-bert, reviews.csv, https://example.org.

All of it is real, but small: networks of two layers, some sentences, a server on this machine.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

ROOT = Path(__file__).parents[1]
ELSEWHERE = re.compile(r"https://(?:example\.org|host)(?=[/\s])")  # the addresses in the documents
NETWORKS = ("my-bert", "my-filter", "my-marian", "encoder")
GOOD, BAD = ("good", "great", "nice"), ("bad", "awful", "dull")
PLAIN = (
    "the film was {} and very old",
    "a {} house of red",
    "it was {} , the plot and the dog",
    "the {} cat and the table",
)
MORE = (
    "",
    " and it was red",
    " , the old dog",
    " of the cat and it",
    " on a table",
    " and a plot",
    " , very red",
    " of old",
)
ROWS = 48  # texts of each turn that are not in another one
MODEL = '''"""A model of words."""

def predict(texts):
    return ["positive" if any(word in text for word in ("good", "great", "nice")) else "negative" for text in texts]
'''
FRENCH = ["deux hommes sont assis dans le parc", "un chien court sur la plage", "la femme lit un livre", "il pleut"]
ENGLISH = ["two men sit in the park", "a dog runs on the beach", "the woman reads a book", "it is raining"]
PAIRS = [
    ("a small dog", "ein kleiner Hund"),
    ("a woman reads", "eine Frau liest"),
    ("two men go home", "zwei Männer gehen"),
]


def sentences(turn: int, count: int) -> list[tuple[str, str]]:
    """So many texts with their labels, by turns good and bad; no text is in two turns."""
    kinds = [pair for both in zip(GOOD, BAD, strict=True) for pair in ((both[0], "positive"), (both[1], "negative"))]
    made = [(f"{form.format(word)}{more}", label) for more in MORE for form in PLAIN for word, label in kinds]
    return made[turn * ROWS : turn * ROWS + count]


def write_files(folder: Path, labels: tuple[str, str] = ("positive", "negative"), rows_each: int = 8) -> None:
    """Writes the data and the code that the documents name.

    labels: those of reviews, train, dev, test and data. rows_each: how many reviews, data and comments there are.
    """
    tables = {"reviews": 0, "train": 1, "dev": 2, "test": 3, "data": 0}
    for name, turn in tables.items():
        count = rows_each if turn == 0 else ROWS
        rows = [(text, labels[label == "negative"]) for text, label in sentences(turn, count)]
        (folder / f"{name}.csv").write_text("text,label\n" + "".join(f'"{a}",{b}\n' for a, b in rows), encoding="utf-8")
        lines = [json.dumps({"text": text, "label": label}) for text, label in rows]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    toxic = "".join(f'"{text}",{"ok" if label == "positive" else "toxic"}\n' for text, label in sentences(2, rows_each))
    (folder / "comments.csv").write_text(f"text,label\n{toxic}", encoding="utf-8")
    pairs = "".join(f"{source}\t{target}\n" for source, target in PAIRS)
    (folder / "pairs.tsv").write_text(f"source\ttarget\n{pairs}", encoding="utf-8")
    rows = [json.dumps({"source": source, "target": target}) for source, target in PAIRS]
    (folder / "pairs.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "sources.txt").write_text("\n".join(source for source, _ in PAIRS) + "\n", encoding="utf-8")
    (folder / "my_model.py").write_text(MODEL, encoding="utf-8")
    for name, texts in {"src.fr": FRENCH, "ref.en": ENGLISH, "out.en": ENGLISH}.items():
        (folder / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
    for attack, letter in (("u", "x"), ("k", "y"), ("c", "z")):
        for language, texts in (("fr", FRENCH), ("en", ENGLISH)):
            changed = [text.replace("e", letter, 1) for text in texts]
            (folder / f"{attack}.{language}").write_text("\n".join(changed) + "\n", encoding="utf-8")
    vectors = {word: (at / 10, 1 - at / 10, 1.0) for at, word in enumerate((*GOOD, *BAD, "film", "plot", "dog", "cat"))}
    numbers = "".join(f"{word} {' '.join(f'{value:.3f}' for value in row)}\n" for word, row in vectors.items())
    (folder / "counter-fitted-vectors.txt").write_text(numbers, encoding="utf-8")
    parts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples" / "parts").glob("*.py"))]
    future = "from __future__ import annotations\n"
    (folder / "my_file.py").write_text(future + "\n".join(part.replace(future, "") for part in parts), encoding="utf-8")


def write_networks(folder: Path) -> None:
    """Writes small networks as Hugging Face folders: two classifiers that have learnt, the others with random weights."""
    from scuff.training import fine_tune
    from training.toys import save_start
    from victims.writers import writer

    save_start(folder / "encoder")
    for name, labels in (("my-bert", ("positive", "negative")), ("my-filter", ("ok", "toxic"))):
        rows = [(text, labels[label == "negative"]) for text, label in sentences(1, ROWS)]
        fine_tune(
            folder / "encoder", rows, rows, folder / name, schedule={"epochs": 12, "rate": 5e-3, "batch_tokens": 128}
        )
    made = writer("marian")
    made.model.save_pretrained(folder / "my-marian")
    made.tokenizer.save_pretrained(folder / "my-marian")


def link_networks(networks: Path, folder: Path) -> None:
    for name in NETWORKS:
        os.symlink(networks / name, folder / name)


class Answers(BaseHTTPRequestHandler):
    """A classifier, a translator and a chat model behind one address."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "messages" in asked:
            content = asked["messages"][-1]["content"]
            said = "positive" if any(word in content for word in GOOD) else "negative"
            answer: object = {"choices": [{"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}]}
        elif "text" in asked:
            answer = {"translation": str(asked["text"]).upper()}
        else:
            texts = asked["inputs"]
            labels = ["positive" if any(word in text for word in GOOD) else "negative" for text in texts]
            answer = {"predictions": [{"label": label} for label in labels]} if self.path == "/predict" else labels
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@contextmanager
def endpoint() -> Iterator[str]:
    """The address of a server of Answers, which ends with the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
