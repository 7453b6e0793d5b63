"""Augments files block by block in the workers of an engine, to the same bytes as in one process.

No copy may be equal to an example or to an earlier copy, of any block. So the files are read twice: first workers write down
hashes of all texts, then the copies, with the hash of each; those that an earlier block has made, too, are left out when parts
are joined. Hashes take 8 bytes of memory for each text and copy; all else does not grow with the files.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import fields, replace
from functools import partial
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..data.blocks import blocks_of, can_be_cut, first_chunk
from ..data.columns import HEAD
from ..data.formats.files import TOKEN_FORMATS
from ..data.formats.streams import BadInput, put_in_place
from ..data.partitions import Partition
from ..data.parts import Entry, Part, Parts, join_pieces, join_tables
from ..data.perturbing import ShowProgress
from ..data.records import read_records
from ..isolation import Failures
from ..runs.engines.base import Engine, Say, Tell, WorkerLost
from ..runs.files import Job, done_or_error, key_of, make_folders, results, will_be_cut
from ..text.ragged import Bits, Mask
from .augmentation import Augmentation
from .mixing import TRACE, Counts, Mixer, Seen
from .mixtures import ranked

TEXTS, KEYS, ROWS = "texts", "keys", "rows"  # suffixes of arrays beside the parts
Array = npt.NDArray[Any]


def augment_files(
    augmentation: Augmentation,
    files: Sequence[Partition],
    *,
    output: str,
    engine: Callable[[], Engine],
    progress: ShowProgress | None = None,
    say: Say | None = None,
) -> Counts:
    """Writes files with their copies, all of them as one data set. Returns the counts.

    output: the file or folder that the user has named. engine: is opened if there is more than one block.
    """
    if len(files) == 1 and not will_be_cut(files[0]):
        return augmentation.write(files[0].source.path, files[0].target, progress)
    for each in files:
        each.source.check_output(each.target)
        if not can_be_cut(each.source, each.target):
            raise BadInput(
                f"{each.source.path}: expected csv, tsv, jsonl, parquet or tokens in UTF-8, not packed, among several"
            )
    make_folders(files)
    work = _Augmented(augmentation, files, output, progress)
    with ExitStack() as stack:
        specs = [str(spec) for spec in (*augmentation.settings.dimensions, augmentation.mixture)]
        models = [name for name in (augmentation.mlm, augmentation.encoder) if name]
        key = key_of(files, {"augment": work.plain}, specs, models)
        for parts in (work.texts, work.copies):
            stack.enter_context(parts.opened(key, WorkerLost))
        pool = engine()
        stack.callback(pool.close)
        for parts, texts in ((work.texts, None), (work.copies, str(work.texts.path))):
            for job, result in results(pool, work.jobs(parts), partial(_open, work.plain, work.tokens, texts), say):
                work.done(parts, job, result)
            if texts is None:
                work.gather()
        return work.join()


class _Augmented:
    """All files, and the two folders of their parts."""

    def __init__(
        self, augmentation: Augmentation, files: Sequence[Partition], output: str, progress: ShowProgress | None
    ) -> None:
        self.augmentation, self.files, self.progress, self.examples = augmentation, files, progress, 0
        self.done_bytes, self.size = 0.0, 2 * sum(os.path.getsize(each.source.path) for each in files)
        self.plain = {each.name: getattr(augmentation, each.name) for each in fields(augmentation)}
        self.texts, self.copies = Parts(output, ".texts"), Parts(output)
        heads = [list(islice(read_records(each.source), HEAD)) for each in files]
        first = next((at for at, head in enumerate(heads) if head), 0)  # others may be empty, as partitions are
        self.mixer = augmentation.mixer(files[first].source.path, heads[first])
        self.tokens = self.mixer.tokens
        for each, head in zip(files, heads, strict=True):
            path, known = (each.source.path, head) if head else (files[first].source.path, heads[first])
            if augmentation.is_of_tokens(path, known) != self.tokens:
                raise BadInput(
                    f"{path}: expected texts, or lists of tokens, as in {files[first].source.path}, got the other"
                )
            if each.source.kind not in TOKEN_FORMATS:
                each.source.columns = augmentation.columns(path, known)

    def jobs(self, parts: Parts) -> Iterator[Job]:
        """Yields the blocks that are left."""
        for at, each in enumerate(self.files):
            for block in blocks_of(each.source, first_chunk(each.source)[0]):
                start = block.block.start if block.block else 0
                out = parts.place(at, start)
                job = Job(at, block, str(out))
                if start in parts.done[at] and out.exists():
                    self._show(job, parts.done[at][start])
                else:
                    yield job

    def done(self, parts: Parts, job: Job, result: Entry) -> None:
        """Keeps the result of a job."""
        parts.note({"file": job.file, "start": job.start, "stop": job.stop, **result})
        self._show(job, result)

    def _show(self, job: Job, result: Entry) -> None:
        self.examples += result.get("counts", {}).get("examples", 0)
        self.done_bytes += job.bytes
        if self.progress:
            self.progress(min(self.done_bytes / self.size, 1.0), self.examples)

    def gather(self) -> None:
        """Puts the arrays of all blocks together: the hashes in order and, if shares are exact, the ranks of all examples."""
        found = [np.load(path) for path, _ in _blocks(self.texts, len(self.files))]
        _save(self.texts.path / TEXTS, np.unique(np.concatenate(found)))
        if self.mixer.exact:
            keys = [np.load(path.with_suffix(f".{KEYS}")) for path, _ in _blocks(self.texts, len(self.files))]
            _save(self.texts.path / KEYS, ranked(np.concatenate(keys), self.mixer.copies.seed))
        examples = 0
        for at in range(len(self.files)):
            number = 0
            for start, entry in self.texts.of(at).items():
                _save(self.texts.place(at, start, "before"), np.array([examples, number]))
                examples, number = examples + entry["examples"], number + entry["records"]

    def join(self) -> Counts:
        """Joins the parts without copies that an earlier one has, too. Returns all counts."""
        total, blocks = self.mixer.made, list(_blocks(self.copies, len(self.files)))
        kept = iter(
            _kept([np.load(path.with_suffix(f".{ROWS}")) for path, _ in blocks], all_of_them=self.mixer.repeats)
        )
        for at, each in enumerate(self.files):
            masks = {}
            for start, entry in self.copies.of(at).items():
                masks[start], own = next(kept), _counts(entry)
                rows = np.load(self.copies.place(at, start, ROWS))
                for number in rows["dimension"][~masks[start]].tolist():
                    own.copies[entry["dimensions"][number]] -= 1
                    own.duplicates += 1
                total.add(own)
            whole, places = self.copies.joined(at), [self.copies.place(at, start) for start in masks]
            if each.source.kind == "parquet":
                join_tables(whole, places, list(masks.values()))
            else:
                join_pieces(whole, map(_left, places, masks.values()))
            put_in_place(whole, Path(os.path.realpath(each.target)))
        return total


def _blocks(parts: Parts, files: int) -> Iterator[tuple[Path, Entry]]:
    """Yields the parts of all blocks, in order."""
    return ((parts.place(at, start), entry) for at in range(files) for start, entry in parts.of(at).items())


def _counts(entry: Entry) -> Counts:
    """Returns the counts of a block, also after they were JSON."""
    saved = entry["counts"]
    return Counts("", {}, **{**saved, "copies": Counter(saved["copies"]), "failures": Failures(**saved["failures"])})


def _kept(blocks: list[Array], *, all_of_them: bool) -> Iterator[Mask]:
    """Yields which rows of each block stay: records, and copies that are the first of their hash."""
    rows = np.concatenate(blocks)
    stays = rows["dimension"] < 0
    copies = np.flatnonzero(~stays)
    stays[copies if all_of_them else copies[np.unique(rows["bits"][copies], return_index=True)[1]]] = True
    return iter(np.split(stays, np.cumsum([block.size for block in blocks])[:-1]))


def _left(part: Path, mask: Mask) -> Path | bytes:
    """Returns a part, or what is left of it without some rows."""
    if mask.all():
        return part
    content, sizes = part.read_bytes(), np.load(part.with_suffix(f".{ROWS}"))["size"]
    edges = np.cumsum(np.append(len(content) - sizes.sum(), sizes)).tolist()  # behind the head, if there is one
    return b"".join(
        [content[: edges[0]], *(content[edges[at] : edges[at + 1]] for at in np.flatnonzero(mask).tolist())]
    )


def _save(path: Path, array: Array) -> None:
    with Part(path) as part:
        # to a file that it knows NumPy writes past us, and its error does not say that the disk is full
        np.save(SimpleNamespace(write=part.file.write), array)


def _open(settings: dict[str, Any], tokens: bool, texts: str | None, tell: Tell) -> Callable[[Job], Entry]:
    """Opens the work in a worker. texts: the folder with the hashes of all texts; None: they are to be written."""
    augmentation = Augmentation(**settings)
    mixer = augmentation.opened("", tokens)
    return partial(done_or_error, partial(_remember, mixer) if texts is None else partial(_do, mixer, Path(texts)))


def _remember(mixer: Mixer, job: Job) -> Entry:
    """Writes the hashes of the texts of a block."""
    own, reader, records = replace(mixer, seen=Seen(), keys=[]), job.source.open(), 0
    examples = 0
    with closing(reader.source):
        for chunk in reader.chunks():
            examples += own.remember(reader, chunk)
            records += sum(not reader.is_blank(record) for record in chunk)
    if own.exact:
        _save(Path(job.out).with_suffix(f".{KEYS}"), np.concatenate([np.zeros(0, np.uint64), *own.keys]))
    _save(Path(job.out), np.array(sorted(own.seen.added), np.uint64))
    return {"examples": examples, "records": records}


def _do(mixer: Mixer, texts: Path, job: Job) -> Entry:
    """Writes the records of a block with their copies, and an array that says which row is which."""
    known: Bits = np.load(texts / TEXTS, mmap_mode="r")
    before, number = np.load(texts / f"{job.file}-{job.start}.before").tolist()
    row = job.source.block.row if job.source.block else 0
    own = replace(
        mixer, seen=Seen(known), made=Counts("", {}), before=before, number=number, row=row,
        ranks=np.load(texts / KEYS, mmap_mode="r") if mixer.exact else None, written=[],
    )  # fmt: skip
    reader = job.source.open()
    with closing(reader.source), Part(Path(job.out)) as part:
        sink = reader.sink(part.file, TRACE if own.trace else None)
        sink.sizes = []
        for chunk in reader.chunks():
            for rows in own.rows(reader, chunk):
                if rows:
                    sink.write_rows(rows)
        sink.close()
    names = sorted(own.made.copies)
    written = own.written or []
    table = np.zeros(len(written), [("bits", np.uint64), ("dimension", np.int16), ("size", np.int64)])
    table["bits"] = [row[0] if row else 0 for row in written]
    table["dimension"] = [names.index(row[1]) if row else -1 for row in written]
    table["size"] = sink.sizes or 0
    _save(Path(job.out).with_suffix(f".{ROWS}"), table)
    made = {name: value for name, value in vars(own.made).items() if name not in ("signature", "left_out")}
    return {
        "sizes": [part.size], "dimensions": names,
        "counts": {**made, "failures": vars(own.made.failures)},
    }  # fmt: skip
