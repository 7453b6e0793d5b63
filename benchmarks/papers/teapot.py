"""Repeats TEAPOT's Tables 2, 5 and 6 and its Figure 1 (Michel et al. 2019) on Multi30k and writes docs/results/teapot.md.

  python benchmarks/papers/teapot.py run [MODEL ...] [--device cuda] [--jobs 4] [--seconds 120] [--limit 480] [--out FOLDER]
  python benchmarks/papers/teapot.py run de-lstm-words --tiny     (to try it: a small model, few sentences)
  python benchmarks/translators.py TRAIN --json FOLDER/times.json     (what adversarial training costs)
  python benchmarks/papers/teapot.py page [--runs FOLDER]

Models: LANGUAGE-ARCHITECTURE-PIECES (cs, de, fr; lstm, transformer; words, bpe), and the word LSTMs that are trained on attacks,
LANGUAGE-lstm-words-WITHIN-ALPHA (vocabulary, swaps; 1.0, 0.5). A model is trained, tested and attacked by one process, `--jobs`
of them side by side, base models first; then the rows that the paper has no figures of. What is finished is not done again. More
jobs at once are not faster on one GPU: an epoch of the word LSTM took 1.5 s with 3 at once and 13 s with 24. After `--limit`
seconds nothing begins; `--seconds` is the most that a training takes. Numbers, without any text of the data, are kept in
FOLDER/models and FOLDER/attacks, which is all that `page` needs: it writes docs/results/teapot.json, the evidence, and the
tables of docs/results/teapot.md. Data: SCUFF_SHARED/data/multi30k_*_en. The train part trains, the dev part chooses the epoch,
and everything that is reported, attacks too, is on the test part (2016).
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

LANGUAGES = ("cs", "de", "fr")
TITLES = {"lstm": "LSTM", "transformer": "Transformer", "words": "words", "bpe": "subwords"}
CONSTRAINTS = {"Unconstrained": "vocabulary", "CharSwap": "swaps", "kNN": "neighbours"}  # the paper's names, and ours
SUBSTITUTIONS = 3
STEPS = (1, 2, 3)  # substitutions of the stronger search
RANDOM = "CharSwap, random places"
TRAININGS = {  # the paper's names of adversarial trainings
    f"{within}-{alpha}": f"{name}-adv, alpha {alpha}"
    for alpha in (1.0, 0.5)
    for name, within in (("Unconstrained", "vocabulary"), ("CharSwap", "swaps"))
}
OWN = (  # German sentences of our own, in the manner of Multi30k's captions, whose texts may not be copied
    ("Ein alter Mann repariert im Regen ein rotes Fahrrad.", "An old man is repairing a red bicycle in the rain."),
    ("Zwei Kinder bauen am Strand eine Burg aus Sand.", "Two children are building a castle of sand on the beach."),
    ("Eine Frau mit einem blauen Hut liest auf einer Bank ein Buch.", "A woman with a blue hat is reading a book on a bench."),
    ("Drei Hunde rennen über eine Wiese hinter einem Ball her.", "Three dogs are running across a meadow after a ball."),
    ("Ein Junge springt von einer Mauer in das Wasser.", "A boy is jumping from a wall into the water."),
    ("Mehrere Leute sitzen an einem Tisch und essen zusammen.", "Several people are sitting at a table and eating together."),
    ("Ein Mädchen in einem gelben Kleid spielt auf der Straße Gitarre.", "A girl in a yellow dress plays guitar on the street."),
    ("Ein Arbeiter steht auf einer Leiter und malt ein Haus an.", "A worker is standing on a ladder and painting a house."),
)  # fmt: skip


def title(model: str) -> str:
    """The name of a model, without its language, as tables show it."""
    return " ".join(TITLES.get(part, part) for part in model.split("-"))


def no_sign(name: str) -> str:
    return f"{name}, no sign"


def strong(name: str, n: int = SUBSTITUTIONS) -> str:
    return f"{name}, stronger, {n}"


@dataclass(frozen=True)
class Model:
    """A translator. within, alpha: of adversarial training; "": none."""

    language: str
    kind: str
    pieces: str
    within: str = ""
    alpha: float = 0.0

    @property
    def name(self) -> str:
        trained = f"-{self.within}-{self.alpha}" if self.within else ""
        return f"{self.language}-{self.kind}-{self.pieces}{trained}"

    @classmethod
    def all(cls) -> list[Model]:
        """Base models, then adversarially trained ones; German first."""
        order = sorted(LANGUAGES, key=lambda language: language != "de")
        base = [
            cls(each, kind, pieces) for kind in ("lstm", "transformer") for pieces in ("words", "bpe") for each in order
        ]
        alphas = [(float(alpha), within) for within, _, alpha in (name.rpartition("-") for name in TRAININGS)]
        return [*base, *(cls(each, "lstm", "words", within, alpha) for alpha, within in alphas for each in order)]


@dataclass(frozen=True)
class Attack:
    """An attack of a table. spec: its search; "": at random places, which asks for no gradient."""

    name: str
    spec: str

    @classmethod
    def main(cls, model: Model) -> list[Attack]:
        """Those of Table 2, or of Table 6 for the models of that table."""
        names = ("CharSwap",) if model.within else tuple(CONSTRAINTS)
        return [cls(name, f"substitution(within='{CONSTRAINTS[name]}', n={SUBSTITUTIONS})") for name in names]

    @classmethod
    def more(cls, model: Model) -> list[Attack]:
        """Those that the paper has no figures of."""
        if model.within:
            return []
        made = [cls(RANDOM, "")]
        for name, within in CONSTRAINTS.items():
            made.append(cls(no_sign(name), f"substitution(within='{within}', n={SUBSTITUTIONS}, sign=False)"))
        for name, within in sorted(CONSTRAINTS.items()):
            made += [
                cls(strong(name, n), f"substitution(within='{within}', n={n}, {STRONGER})") for n in reversed(STEPS)
            ]
        return made


STRONGER = "beam=4, verify=16"
ADVERSARIAL_EPOCHS = 20  # a model that sees attacked sentences alone learns more slowly than on clean ones (16 epochs)
METRICS = "metrics.json"  # the last file that a training writes
TINY_PAIRS = 60
BATCH = {"cpu": 2048, "cuda": 16384}  # tokens: many processes share the memory of a GPU


@dataclass(frozen=True)
class Place:
    """Where things are, and how much is done."""

    out: Path
    shared: Path
    device: str
    sentences: int
    seconds: float | None
    epochs: int | None
    tiny: bool
    until: float  # nothing begins after that
    jobs: int = 1  # processes that share the device

    def translator(self, model: Model) -> Path:
        return self.out / "translators" / model.name

    def tested(self, model: Model) -> Path:
        return self.out / "models" / f"{model.name}.json"

    def attacked(self, model: Model, attack: Attack) -> Path:
        return self.out / "attacks" / model.name / f"{attack.name.replace(', ', '--').replace(' ', '-')}.json"

    def part(self, language: str, name: str, most: int | None = None) -> list[tuple[str, str]]:
        """Pairs of a part of the data."""
        path = self.shared / "data" / f"multi30k_{language}_en" / f"{name}.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        return [(row["source"], row["target"]) for row in rows[:most]]

    def test(self, language: str) -> list[tuple[str, str]]:
        return self.part(language, "test", self.sentences)

    @property
    def late(self) -> bool:
        return time.time() > self.until


def keep(path: Path, what: Any) -> None:
    """Writes JSON, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(what, ensure_ascii=False), encoding="utf-8")
    part.rename(path)


# ---- a model: trained, tested, attacked ----


def train(model: Model, place: Place) -> Any:
    """Trains a translator, or opens it if that was done before. Returns it."""
    from scuff.training.translation import SCHEDULES, train_translator
    from scuff.translators.translator import load

    folder = place.translator(model)
    if not (folder / METRICS).is_file():
        epochs = place.epochs or (ADVERSARIAL_EPOCHS if model.within else SCHEDULES[model.kind].epochs)
        train_translator(
            place.part(model.language, "train", TINY_PAIRS if place.tiny else None),
            place.part(model.language, "dev", TINY_PAIRS if place.tiny else None),
            folder, architecture=model.kind, pieces=model.pieces, adversarial=model.within or None, alpha=model.alpha or None,
            device=place.device, seconds=place.seconds, sizes=tiny_sizes() if place.tiny else None,
            schedule=replace(SCHEDULES[model.kind], epochs=epochs),
        )  # fmt: skip
    return load(folder, device=place.device)


def tiny_sizes() -> Any:
    from scuff.translators.network import Sizes

    return Sizes(16, 16, 1, 2)


def statistics(outputs: list[str], wanted: list[str]) -> dict[str, Any]:
    """What corpus scores are made of, of each sentence: so that intervals can be computed without any text."""
    from sacrebleu.metrics import BLEU, CHRF

    metrics = {"chrf": CHRF(), "bleu": BLEU(tokenize="intl"), "lower": BLEU(lowercase=True)}
    return {name: metric._extract_corpus_statistics(outputs, [wanted]) for name, metric in metrics.items()}


def tested(model: Model, translator: Any, place: Place) -> dict[str, Any]:
    """What is kept of a model: how it was trained, and how it translates the test part."""
    pairs = place.test(model.language)
    texts, wanted = [source for source, _ in pairs], [target for _, target in pairs]
    pieces = [piece for row in translator.rows(texts) for piece in row.ids.tolist()]
    trained = json.loads((place.translator(model) / METRICS).read_text(encoding="utf-8"))
    return {
        "model": model.name, "parameters": trained["weights"], "sizes": trained["settings"]["sizes"],
        "vocabulary": [len(translator.source), len(translator.target)],
        "unknown": round(pieces.count(translator.source.number["<unk>"]) / max(1, len(pieces)), 5),
        "epochs": len(trained["epochs"]), "best": trained["dev"]["epoch"], "seconds": round(trained["seconds"]["training"], 1),
        "dev": [round(epoch["chrf"], 2) for epoch in trained["epochs"]],
        "test": statistics(translator.translate(texts), wanted),
    }  # fmt: skip


def scored(rows: list[dict[str, str]]) -> dict[str, list[float]]:
    """chrF of each sentence: of the adversarial source with the source, and of both outputs with the reference."""
    from scuff.metrics.chrf import chrf

    def likeness(one: str, other: str) -> list[float]:
        return [round(float(value), 5) for value in chrf([row[one] for row in rows], [row[other] for row in rows])]

    return {
        "source": likeness("adversarial", "text"), "base": likeness("output", "target"),
        "attacked": likeness("adversarial_output", "target"),
    }  # fmt: skip


def attacked(model: Model, attack: Attack, place: Place, translator: Any) -> str:
    """Attacks the test part and keeps the numbers. Returns a line that says what happened."""
    begin, path = time.time(), place.attacked(model, attack)
    if path.is_file():
        return f"{attack.name}: done before"
    if place.late:
        return f"{attack.name}: no time left"
    pairs = place.test(model.language)
    rows, asked = searched(model, attack, place, pairs, "test") if attack.spec else shuffled(translator, pairs)
    seconds, numbers = time.time() - begin, scored(rows)
    kept = {
        "model": model.name,
        "attack": attack.name,
        "spec": attack.spec or "random",
        "asked": asked,
        "seconds": seconds,
    }
    keep(path, {**kept, "id": [row["id"] for row in rows], **numbers})
    if attack in Attack.main(model):
        texts = {
            "adversarial": [row["adversarial"] for row in rows],
            "output": [row["adversarial_output"] for row in rows],
        }
        folder = place.out / "texts" / model.name  # to look at; they are not for the project
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{path.stem}.json.gz").write_bytes(gzip.compress(json.dumps(texts).encode()))
    from scuff.metrics.tradeoff import relative_decrease

    harm = relative_decrease(numbers["base"], numbers["attacked"]).mean()
    source = sum(numbers["source"]) / max(1, len(rows))
    return f"{attack.name}: RDchrF {100 * harm:.1f}, source chrF {100 * source:.1f}, {len(rows)} sentences, {seconds:.0f} s"


def searched(
    model: Model, attack: Attack, place: Place, pairs: list[tuple[str, str]], part: str
) -> tuple[list[dict[str, str]], int]:
    """Runs `scuff attack --recipe teapot` with a search. Returns texts and outputs of each sentence, and how much was asked."""
    import scuff

    data = place.out / "data" / f"{model.language}-{part}.jsonl"
    text = "".join(json.dumps({"source": source, "target": target}) + "\n" for source, target in pairs)
    if not data.is_file() or data.read_text(encoding="utf-8") != text:
        data.parent.mkdir(parents=True, exist_ok=True)
        writing = data.with_suffix(f".{os.getpid()}")
        writing.write_text(text, encoding="utf-8")
        writing.rename(data)
    folder = place.out / "runs" / model.name / f"{place.attacked(model, attack).stem}-{part}"
    result = scuff.attack(
        str(place.translator(model)), str(data), "teapot", folder, search=attack.spec, examples=len(pairs),
        encoder="chrf", options={"device": place.device, "batch_tokens": BATCH[place.device.partition(":")[0]]},
    )  # fmt: skip
    rows = []
    for line in result.lines:
        old, output = line["texts"][0], line["clean"]["answer"]
        new, answer = old, output
        if found := line["adversarial"]:
            new, answer = found["texts"][0], found["answer"]
        said = {
            "text": old,
            "target": line["target"],
            "output": output,
            "adversarial": new,
            "adversarial_output": answer,
        }
        rows.append({"id": str(line["id"]), **{name: str(each or "") for name, each in said.items()}})
    return rows, sum(part["queries"] for part in result.timings)


def shuffled(translator: Any, pairs: list[tuple[str, str]]) -> tuple[list[dict[str, str]], int]:
    """CharSwap at places that a die chooses: as many as the attack substitutes, without looking at the model's gradients."""
    from random import Random

    from scuff.victims.substitution import MAX_SCRAMBLING, make_oov

    known, changed = frozenset(translator.source.surfaces) - {""}, []
    for at, ((text, _), row) in enumerate(zip(pairs, translator.rows([text for text, _ in pairs]), strict=True)):
        dice = Random(f"teapot {at}")
        words = [place for place in range(len(row.ids)) if text[row.start[place] : row.stop[place]].isalpha()]
        for place in sorted(dice.sample(words, min(SUBSTITUTIONS, len(words))), reverse=True):
            start, stop = int(row.start[place]), int(row.stop[place])
            new = make_oov(text[start:stop], known, [dice.random() for _ in range(MAX_SCRAMBLING)])
            text = text[:start] + new + text[stop:]
        changed.append(text)
    texts = [text for text, _ in pairs]
    outputs, after = translator.translate(texts), translator.translate(changed)
    return [
        {
            "id": str(at),
            "text": text,
            "target": target,
            "output": output,
            "adversarial": new,
            "adversarial_output": answer,
        }
        for at, ((text, target), output, new, answer) in enumerate(zip(pairs, outputs, changed, after, strict=True))
    ], 2 * len(pairs)


def examples(model: Model, place: Place) -> None:
    """Attacks our own sentences and keeps them."""
    from scuff.metrics.tradeoff import relative_decrease

    path = place.out / "examples.json"
    if path.is_file():
        return
    charswap = next(attack for attack in Attack.main(model) if attack.name == "CharSwap")
    rows, _ = searched(model, charswap, place, list(OWN), "own")
    found = scored(rows)
    decrease = relative_decrease(found["base"], found["attacked"])
    numbers = [
        {"source": source, "decrease": round(float(lost), 5)}
        for source, lost in zip(found["source"], decrease, strict=True)
    ]
    keep(path, [{**row, **each} for row, each in zip(rows, numbers, strict=True)])


def do(model: Model, turn: int, place: Place) -> Iterator[str]:
    """Turn 0: trains, tests, and attacks as the paper does. Turn 1: the other attacks. Yields a line for all that is done."""
    trained = (place.translator(model) / METRICS).is_file()
    if not trained and (turn or place.late):
        yield "not trained" if turn else "no time left"
        return
    begin = time.time()
    translator = train(model, place)
    if not place.tested(model).is_file():
        keep(place.tested(model), tested(model, translator, place))
        yield f"trained and tested, {time.time() - begin:.0f} s"
    for attack in Attack.more(model) if turn else Attack.main(model):
        yield attacked(model, attack, place, translator)
    if not turn and model == Model("de", "lstm", "words"):
        examples(model, place)


def share_memory(place: Place) -> None:
    """Limits what this process takes of a GPU's memory. It keeps what batches of many shapes took, up to 13 GB in a run of 24
    jobs, which left nothing to others; with a limit it gives back what it does not use before it fails.
    """
    if place.device.startswith("cuda"):
        import torch

        torch.cuda.set_per_process_memory_fraction(0.9 / place.jobs)


def work(model: Model, turn: int, place: Place) -> list[str]:
    """Does a turn of a model in a process of its own; an error ends it alone."""
    lines = []
    try:
        share_memory(place)
        for line in do(model, turn, place):
            lines.append(line)
            print(f"{model.name}: {line}", flush=True)
    except Exception as error:
        import traceback

        traceback.print_exc()
        lines.append(f"FAILED: {type(error).__name__}: {error}")
        print(f"{model.name}: {lines[-1]}", flush=True)
    return lines


# ---- all of them ----


def run(args: argparse.Namespace, shared: Path) -> int:
    """Does the first turn of all models, then the second, side by side. Returns an exit code."""
    begin, out = time.time(), args.out
    out.mkdir(parents=True, exist_ok=True)
    sentences = args.sentences or (20 if args.tiny else 1000)
    place = Place(
        out, shared, args.device, sentences, args.seconds, args.epochs, args.tiny, begin + args.limit, args.jobs
    )
    chosen = [model for model in Model.all() if not args.models or model.name in args.models]
    tasks = [(model, 0) for model in chosen] + [(model, 1) for model in chosen if not args.first and Attack.more(model)]
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    if args.jobs > 1:
        os.environ["OMP_NUM_THREADS"] = "1"
    failed = 0
    with ProcessPoolExecutor(args.jobs, multiprocessing.get_context("spawn")) as pool:
        for (model, turn), lines in side_by_side(pool, tasks, place, args.jobs):
            failed += sum("FAILED" in line for line in lines)
            print(f"{time.time() - begin:5.0f} s  {model.name}, turn {turn}: over", flush=True)
    return 3 if failed else 0


def side_by_side(
    pool: ProcessPoolExecutor, tasks: list[tuple[Model, int]], place: Place, jobs: int
) -> Iterator[tuple[tuple[Model, int], list[str]]]:
    """Yields the lines of each task as it ends. They begin in their order, but a second turn waits for the first of its model."""
    waiting, over = list(tasks), set()
    running: dict[Future[list[str]], tuple[Model, int]] = {}
    while waiting or running:
        ready = [task for task in waiting if not task[1] or (task[0], 0) in over or (task[0], 0) not in tasks]
        for model, turn in ready[: jobs - len(running)]:
            waiting.remove((model, turn))
            running[pool.submit(work, model, turn, place)] = (model, turn)
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            task = running.pop(future)
            over.add(task)
            yield task, future.result()


def arguments(given: Iterable[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run", help="train, test and attack models")
    runs.add_argument("models", nargs="*", metavar="MODEL", help="default: all")
    runs.add_argument("--sentences", type=int, help="of the test part; default: all 1,000")
    runs.add_argument("--epochs", type=int, help="default: as the package trains")
    runs.add_argument("--seconds", type=float, help="the most that a training takes")
    runs.add_argument("--first", action="store_true", help="only what the paper has figures of")
    runs.add_argument("--jobs", type=int, default=1)
    runs.add_argument("--limit", type=float, default=float("inf"), metavar="SECONDS", help="nothing begins after that")
    runs.add_argument("--device", default="cpu")
    runs.add_argument("--out", type=Path, default=Path("runs/teapot"), metavar="FOLDER")
    runs.add_argument("--tiny", action="store_true", help="small models and few sentences, to try it")
    page = commands.add_parser("page", help="write the evidence and the page")
    page.add_argument("--runs", type=Path, metavar="FOLDER", help="take numbers from there; default: only the evidence")
    args = parser.parse_args(given)
    if args.command == "run":
        known = [model.name for model in Model.all()]
        strange = [name for name in args.models if name not in known]
        if strange:
            parser.error(f"expected some of {', '.join(known)}, got {', '.join(strange)}")
    return args


def main() -> int:
    args = arguments()
    if args.command == "page":
        from teapot_page import write

        return write(args.runs)
    shared = Path(os.environ.get("SCUFF_SHARED", Path(__file__).parents[3] / "shared"))
    return run(args, shared)


if __name__ == "__main__":
    sys.exit(main())
