"""Writes the files of the Zéroe benchmark: clean, every perturbation and level, training mixtures, a manifest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ..isolation import Failures
from ..perturbations import published
from ..perturbations.base import LEVELS, Perturbation
from ..perturbations.blocks import Tally
from ..perturbations.languages import warn_of_language
from ..perturbations.names import parse
from ..perturbations.plan import Plan
from ..perturbations.published import published_selection
from ..resources import MissingResource
from ..text.corpus import Corpus
from ..text.ragged import Ints
from ..text.random import Rng
from ..version import __version__
from .formats.base import Format, Value
from .formats.files import SUFFIXES, TOKEN_FORMATS, Input
from .formats.streams import BadInput, replacing
from .perturbing import Chunk, ShowProgress, chunks

SCHEMA = 1  # of the manifest, whose keys and values call a perturbation "attack"

Choice = tuple[str, str]  # perturbation, level


def mixtures(rows: list[list[Value]], perturbations: list[str], seed: int) -> Iterator[tuple[str, list[Choice], Ints]]:
    """Yields for each mixture its name, the choices, and the number of the choice that each record gets.

    What a record gets depends on its texts and the seed alone. The names of the random streams may not change: files would.
    """
    texts = [json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace").decode() for row in rows]
    keys = Corpus.of(texts).keys
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


@dataclass
class BenchmarkFile:
    """One file of the benchmark: what it is, and what was written to it."""

    path: Path
    about: dict[str, Any]  # its entry in the manifest, before it is written
    tally: Tally = field(default_factory=Tally)
    shares: dict[str, int] = field(default_factory=dict)  # of a mixture: records by perturbation and level

    def share(self, choices: list[Choice], pick: Ints) -> None:
        """Counts the choices that the records of a mixture got."""
        for choice, count in zip(choices, np.bincount(pick, minlength=len(choices)).tolist(), strict=True):
            self.shares[".".join(choice)] = self.shares.get(".".join(choice), 0) + count

    def entry(self) -> dict[str, Any]:
        """Returns the entry of the written file in the manifest."""
        out = {"file": self.path.name, **self.about, "sha256": sha256(self.path.read_bytes()).hexdigest()}
        done = self.tally
        if self.about["set"] == "attack":
            out |= {
                "texts": done.texts, "changed_texts": done.changed_texts, "units": done.units,
                "changed_units": done.changed_units, "reached": round(done.reached, 4),
            }  # fmt: skip
            out |= {"failed": done.failures.count} if done.failures.count else {}
        return {**out, **({"rows": self.shares} if self.shares else {})}


def write_zeroe(
    source: Input,
    folder: str,
    chosen: dict[str, str],
    *,
    seed: int = 0,
    selection: str | None = None,
    progress: ShowProgress | None = None,
    failures: Failures | None = None,
    as_published: bool = False,
) -> dict[str, Any]:
    """Writes the benchmark and its manifest, and returns the manifest. Adds texts that a perturbation raised on to `failures`.

    chosen: the specs of the perturbations, by name. as_published: options and selection that they do not give are those of the
    paper; the manifest then names the selections.

    `{perturbation}.{level}`: the test data. `{perturbation}.lmh`: each record at low, mid or high, a third each (thesis 3.4).
    `no-{perturbation}`: each record under one of the other perturbations, at one of the levels (leave-one-out). `all`: the same
    with none left out. A mixture has the size of the original and each record once.
    """
    selections: dict[str, str | None] = dict.fromkeys(chosen, selection)
    if as_published:
        selections = {name: selection or published_selection(spec) for name, spec in chosen.items()}
        chosen = {name: published.as_published(spec) for name, spec in chosen.items()}
    perturbations = {name: parse(spec) for name, spec in chosen.items()}
    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise BadInput(f"{folder}: expected a new or empty folder, got one that holds files, or a file")
    is_new = not target.exists()
    reader = source.open()
    try:
        blocks = reader.chunks()
        first = next(blocks, [])
        looked_at, _ = reader.usable(first, source.others)
        tokens = any(isinstance(value, list) for record in looked_at for value in reader.values(record))
        perturbations, skipped = _usable(perturbations, tokens=tokens or source.kind in TOKEN_FORMATS)
        target.mkdir(parents=True, exist_ok=True)
        parts = chunks(source, reader, 2 + len(perturbations) * (len(LEVELS) + 2), chain([first], blocks))
        return _write(
            source,
            reader,
            parts,
            target,
            perturbations,
            skipped,
            seed,
            selections,
            progress,
            failures if failures is not None else Failures(),
        )
    except BaseException:
        if is_new and target.exists():
            for path in target.iterdir():
                path.unlink()
            target.rmdir()
        raise
    finally:
        reader.source.close()


def _usable(perturbations: dict[str, Perturbation], tokens: bool) -> tuple[dict[str, Perturbation], dict[str, str]]:
    """Returns the perturbations that can run on this data, and why the others cannot."""
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
        raise BadInput(f"expected a perturbation that can run here, got none: {skipped}")
    return usable, skipped


def _write(
    source: Input,
    reader: Format,
    parts: Iterator[Chunk],
    target: Path,
    perturbations: dict[str, Perturbation],
    skipped: dict[str, str],
    seed: int,
    selections: dict[str, str | None],
    progress: ShowProgress | None,
    failures: Failures,
) -> dict[str, Any]:
    plans = {
        (name, level): Plan(perturbation, p, seed, selections[name])
        for name, perturbation in perturbations.items()
        for level, p in LEVELS.items()
    }
    outputs = _files(target, _suffix(source), plans, seed)
    seen = Tally()
    with ExitStack() as stack:
        sinks = {
            name: reader.sink(stack.enter_context(replacing(str(output.path), source.path)))
            for name, output in outputs.items()
        }
        told = False
        for chunk in parts:
            told = told or warn_of_language(perturbations.values(), chunk.texts())
            clean = [list(values) for values in zip(*chunk.columns, strict=True)]
            sinks["clean"].write(chunk.records, [clean])
            copies = {key: chunk.run(plan, 0, outputs[".".join(key)].tally)[0] for key, plan in plans.items()}
            for (name, level), new in copies.items():
                sinks[f"{name}.{level}"].write(chunk.records, [new])
            for name, choices, pick in mixtures(clean, list(perturbations), seed):
                outputs[name].share(choices, pick)
                sinks[name].write(
                    chunk.records, [[copies[choices[choice]][row] for row, choice in enumerate(pick.tolist())]]
                )
            seen.texts += len(chunk.records)
            if progress:
                progress(reader.source.done(), seen.texts)
        for sink in sinks.values():
            sink.close()
    for output in outputs.values():
        failed = output.tally.failures
        failures.extend(Failures(failed.count, [f"{output.path.name}: {line}" for line in failed.lines]))
    manifest = {
        "schema": SCHEMA, "scuff": __version__, "source": Path(source.path).name, "seed": seed,
        "attacks": {name: perturbation.spec for name, perturbation in perturbations.items()}, "levels": LEVELS,
        "skipped": skipped, "files": [output.entry() for output in outputs.values()],
    }  # fmt: skip
    with replacing(str(target / "manifest.json")) as out:
        out.write((json.dumps(manifest, indent=1, ensure_ascii=False) + "\n").encode())
    return manifest


def _suffix(source: Input) -> str:
    """Returns the suffix of the files: that of the input or, if that does not tell the format, the format's."""
    zipped = ".gz" if source.path.endswith(".gz") else ""
    own = Path(source.path.removesuffix(".gz")).suffix
    if SUFFIXES.get(own.lower()) == source.kind or (source.path != "-" and source.kind in ("lines", "whole")):
        return own + zipped
    return next(suffix for suffix, kind in SUFFIXES.items() if kind in (source.kind, "lines")) + zipped


def _files(target: Path, suffix: str, plans: dict[Choice, Plan], seed: int) -> dict[str, BenchmarkFile]:
    """Returns all files of the benchmark by name, in the order of the manifest."""
    abouts: dict[str, dict[str, Any]] = {"clean": {"set": "clean"}}
    for (name, level), plan in plans.items():
        abouts[f"{name}.{level}"] = {
            "set": "attack", "attack": name, "level": level, "unit": plan.perturbation.facts.unit,
            "signature": plan.signature,
        }  # fmt: skip
    names = list(dict.fromkeys(name for name, _ in plans))
    for name in names:
        abouts[f"{name}.lmh"] = {"set": "low-mid-high", "attack": name, "seed": seed}
        if len(names) > 1:
            abouts[f"no-{name}"] = {"set": "leave-one-out", "without": name, "seed": seed}
    abouts["all"] = {"set": "mixture", "seed": seed}
    return {name: BenchmarkFile(target / f"{name}{suffix}", about) for name, about in abouts.items()}
