"""The files of the Zéroe benchmark: clean, every perturbation and level, training mixtures, a manifest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from ..perturbations.base import LEVELS, Perturbation
from ..perturbations.plan import Plan, Tally
from ..resources import MissingResource
from ..text.corpus import Corpus
from ..text.ragged import Ints
from ..text.random import Rng
from ..version import __version__
from .formats.base import Format, Value
from .formats.streams import BadInput, replacing
from .perturbing import Input, Progress, chunks

Choice = tuple[str, str]  # attack, level


def mixtures(rows: list[list[Value]], perturbations: list[str], seed: int) -> Iterator[tuple[str, list[Choice], Ints]]:
    """(mixture, what there is to choose from, which of it each record gets). A record's share depends on its text alone."""
    keys = Corpus.of([json.dumps(row, ensure_ascii=False) for row in rows]).keys
    index = np.arange(len(rows))

    def draw(limit: int, *names: object) -> Ints:
        return Rng.of(keys, seed, "zeroe", *names).below(limit, index, np.zeros_like(index))

    levels = {name: draw(len(LEVELS), "level", name) for name in perturbations}
    for name in perturbations:
        yield f"{name}.lmh", [(name, level) for level in LEVELS], levels[name]
    for left_out in [*(perturbations if len(perturbations) > 1 else []), None]:
        others = [name for name in perturbations if name != left_out]
        part = draw(len(others), "attack", left_out)
        level = np.stack([levels[name] for name in others])[part, index]
        choices = [(name, level) for name in others for level in LEVELS]
        yield f"no-{left_out}" if left_out else "all", choices, part * len(LEVELS) + level


SCHEMA = 1


@dataclass
class Output:
    """One file of the benchmark, what made it and what came of it."""

    path: Path
    about: dict[str, Any]
    tally: Tally = field(default_factory=Tally)
    shares: dict[str, int] = field(default_factory=dict)

    def share(self, choices: list[Choice], pick: Ints) -> None:
        """Count which record of a mixture is from where."""
        for choice, count in zip(choices, np.bincount(pick, minlength=len(choices)).tolist(), strict=True):
            self.shares[".".join(choice)] = self.shares.get(".".join(choice), 0) + count

    def entry(self) -> dict[str, Any]:
        out = {"file": self.path.name, **self.about, "sha256": sha256(self.path.read_bytes()).hexdigest()}
        done = self.tally
        if self.about["set"] == "attack":
            out |= {
                "texts": done.texts, "changed_texts": done.changed_texts, "units": done.units,
                "changed_units": done.changed_units, "reached": round(done.reached, 4),
            }  # fmt: skip
        return {**out, **({"rows": self.shares} if self.shares else {})}


def write_zeroe(
    source: Input,
    folder: str,
    perturbations: dict[str, Perturbation],
    *,
    seed: int = 0,
    selection: str | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write the benchmark and its manifest, and return the manifest.

    `{attack}.{level}`: the test data. `{attack}.lmh`: each record at low, mid or high, a third each (thesis 3.4). `no-{attack}`:
    each record under one of the other attacks, at one of the levels (leave-one-out). `all`: the same with none left out.
    A mixture has the size of the original and each record once.
    """
    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise BadInput(f"{folder}: expected a new or empty folder, got one that holds files, or a file")
    reader = source.open()
    perturbations, skipped = _usable(perturbations, tokens=_holds_tokens(source))
    made = not target.exists()
    try:
        target.mkdir(parents=True, exist_ok=True)
        return _write(source, reader, target, perturbations, skipped, seed, selection, progress)
    except BaseException:
        if made:
            for path in target.iterdir():
                path.unlink()
            target.rmdir()
        raise
    finally:
        reader.source.close()


def _holds_tokens(source: Input) -> bool:
    """Whether the texts are cut into tokens: by the format, or, in a table, by the first records."""
    if source.kind not in ("jsonl", "parquet") or source.path == "-":
        return source.kind in ("conllu", "tokens")
    reader = source.open()
    try:
        return any(isinstance(value, list) for record in next(reader.chunks(), []) for value in reader.values(record))
    finally:
        reader.source.close()


def _usable(perturbations: dict[str, Perturbation], tokens: bool) -> tuple[dict[str, Perturbation], dict[str, str]]:
    """The attacks that can run here, and why the others cannot."""
    skipped: dict[str, str] = {}
    for name, perturbation in perturbations.items():
        if tokens and not perturbation.facts.keeps_tokens:
            skipped[name] = "joins words, whose tags would be lost"
        try:
            Plan(perturbation, 1.0).texts(["a"])
        except MissingResource as missing:
            skipped[name] = str(missing)
    usable = {
        n: perturbation.for_tokens() if tokens else perturbation
        for n, perturbation in perturbations.items()
        if n not in skipped
    }
    if not usable:
        raise BadInput(f"expected an attack that can run here, got none: {skipped}")
    return usable, skipped


def _write(
    source: Input,
    reader: Format,
    target: Path,
    perturbations: dict[str, Perturbation],
    skipped: dict[str, str],
    seed: int,
    selection: str | None,
    progress: Progress | None,
) -> dict[str, Any]:
    suffix = (
        "".join(Path(source.path).suffixes[-2 if source.path.endswith(".gz") else -1 :])
        if source.path != "-"
        else ".txt"
    )
    plans = {
        (name, level): Plan(perturbation, p, seed, selection)
        for name, perturbation in perturbations.items()
        for level, p in LEVELS.items()
    }
    outputs = {"clean": Output(target / f"clean{suffix}", {"set": "clean"})}
    for (name, level), plan in plans.items():
        about = {
            "set": "attack",
            "attack": name,
            "level": level,
            "unit": plan.perturbation.facts.unit,
            "signature": plan.signature,
        }
        outputs[f"{name}.{level}"] = Output(target / f"{name}.{level}{suffix}", about)
    for name in perturbations:
        outputs[f"{name}.lmh"] = Output(
            target / f"{name}.lmh{suffix}", {"set": "low-mid-high", "attack": name, "seed": seed}
        )
        if len(perturbations) > 1:
            outputs[f"no-{name}"] = Output(
                target / f"no-{name}{suffix}", {"set": "leave-one-out", "without": name, "seed": seed}
            )
    outputs["all"] = Output(target / f"all{suffix}", {"set": "mixture", "seed": seed})

    seen = Tally()
    with ExitStack() as stack:
        sinks = {
            name: reader.sink(stack.enter_context(replacing(str(output.path), source.path)))
            for name, output in outputs.items()
        }
        for chunk in chunks(source, reader, len(outputs)):
            clean = [list(values) for values in zip(*chunk.columns, strict=True)]
            sinks["clean"].write(chunk.records, [clean])
            versions = {key: chunk.run(plan, 0, outputs[".".join(key)].tally)[0] for key, plan in plans.items()}
            for (name, level), new in versions.items():
                sinks[f"{name}.{level}"].write(chunk.records, [new])
            for name, choices, pick in mixtures(clean, list(perturbations), seed):
                outputs[name].share(choices, pick)
                sinks[name].write(
                    chunk.records, [[versions[choices[choice]][row] for row, choice in enumerate(pick.tolist())]]
                )
            seen.texts += len(chunk.records)
            if progress:
                progress(reader.source, seen)
        for sink in sinks.values():
            sink.close()
    manifest = {
        "schema": SCHEMA, "scuff": __version__, "source": Path(source.path).name, "seed": seed,
        "attacks": {name: perturbation.spec for name, perturbation in perturbations.items()}, "levels": LEVELS,
        "skipped": skipped, "files": [output.entry() for output in outputs.values()],
    }  # fmt: skip
    with replacing(str(target / "manifest.json")) as out:
        out.write((json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode())
    return manifest
