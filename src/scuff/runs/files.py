"""Treats files block by block in the workers of an engine: perturbs them, shields them, tells what was tampered with.

Workers read blocks and write parts of the output on their own; this process only says where blocks begin and joins the parts. The
bytes are the same for any number of workers.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

from ..data.blocks import ROWS, SIZE, blocks_of, can_be_cut, first_chunk, is_small
from ..data.formats.base import Format
from ..data.formats.files import Input
from ..data.formats.streams import BadInput, CannotWrite, output_file, put_in_place
from ..data.partitions import Partition, make_folder
from ..data.parts import Entry, Part, Parts, append, join_tables
from ..data.perturbing import ShowProgress, Treatment, check_targets, chunks, treat_file
from ..resources.checksums import named_files
from ..specs import digests
from ..version import __version__
from .engines.base import Engine, Open, Say, Tell, WorkerLost

SUFFIXES = ("part", "log")  # of parts of the output, and of what is told about each text

NAMED = ("path", "kind", "columns", "key", "spans", "carried", "delimiter", "no_header", "encoding")  # of an input

ERRORS: dict[str, type[Exception]] = {
    "input": BadInput, "value": ValueError, "write": CannotWrite, "system": OSError, "run": RuntimeError,
}  # fmt: skip


@dataclass(frozen=True)
class Job:
    """A block of a file, or a file that cannot be cut, and the files that its parts of the outputs are written to."""

    file: int
    source: Input
    out: str
    log: str | None = None
    zipped: bool = False  # whether the output is to be compressed

    @property
    def start(self) -> int:
        return self.source.block.start if self.source.block else 0

    @property
    def stop(self) -> int:
        return self.source.block.stop if self.source.block else 1

    @property
    def bytes(self) -> float:
        """How much of the file it is."""
        block, size = self.source.block, os.path.getsize(self.source.path)
        return size * (block.stop - block.start) / max(block.whole, 1) if block else size

    @property
    def name(self) -> str:
        """Names it in messages."""
        return f"{self.source.path} from {'row' if self.source.kind == 'parquet' else 'byte'} {self.start}"


def treat_files(
    files: Sequence[Partition],
    make: partial[Any],
    *,
    output: str,
    engine: Callable[[], Engine],
    progress: ShowProgress | None = None,
    say: Say | None = None,
) -> Any:
    """Does the same with all files, and returns the counts.

    make: a function and plain values, called in each worker; these and the files decide the output, so a command that was killed
    goes on if they are the same. output: the file or folder that the user has named. engine: is opened if there is more than one
    block. say: is told of workers that are lost.
    """
    treatment = make()
    for each in files:
        check_targets(each.source, each.target, treatment, each.edits_to)
    if len(files) == 1 and not will_be_cut(files[0]):
        one = files[0]
        return treat_file(one.source, one.target, treatment, edits_to=one.edits_to, progress=progress)
    make_folders(files)
    parts, what = Parts(output), {"treatment": make.func.__name__, "values": make.args}
    with ExitStack() as stack:
        stack.enter_context(parts.opened(key_of(files, what, [treatment.work.spec]), WorkerLost))
        work = _Files(files, treatment, parts, progress)
        pool = engine()
        stack.callback(pool.close)
        for job, result in results(pool, work.jobs(), partial(_open, make), say):
            work.done(job, result)
        return work.total()


def results(engine: Engine, jobs: Iterator[Job], open_work: Open, say: Say | None) -> Iterator[tuple[Job, Entry]]:
    """Yields jobs with their results, as they are done. After an error no other job begins.

    At the end, the error that stands first in the files is raised, not that of the fastest worker.
    """
    errors: dict[tuple[float, float], Exception] = {}
    warned: set[str] = set()

    def until_error() -> Iterator[Job]:
        try:
            for job in jobs:
                yield job
                if errors:
                    return
        except BadInput as error:  # behind all jobs that have begun
            errors[inf, inf] = error

    for job, result in engine.run(until_error(), open_work, say=say):
        for message in result.pop("warnings"):
            if message not in warned:
                warnings.warn(message, stacklevel=3)
            warned.add(message)
        if "error" in result:
            errors[job.file, job.start] = ERRORS[result["error"]](result["told"])
        else:
            yield job, result
    if errors:
        raise errors[min(errors)]


def make_folders(files: Sequence[Partition]) -> None:
    """Makes the folders of several outputs. Raises BadInput if an output cannot be written, or is its input."""
    for each in files:
        for path in (each.target, each.edits_to):
            if path is not None:
                if len(files) > 1:
                    make_folder(Path(path).parent)
                output_file(path, each.source.path)


def will_be_cut(file: Partition) -> bool:
    """Whether a file has several blocks."""
    return can_be_cut(file.source, file.target, file.edits_to) and not is_small(file.source)


def key_of(
    files: Sequence[Partition], what: Mapping[str, Any], specs: Sequence[str], models: Sequence[str] = ()
) -> dict[str, Any]:
    """Returns all that decides the output. Of files, as what they hold may be long: how long, and when they were written.

    what: is done with them. specs: of the parts that do it, which may name a user's class, files and models. models: that they
    need besides.
    """
    from ..victims.open import hub_commit  # with all of the victims, which small files do without

    about = []
    for source, *outputs in files:
        named = {name: getattr(source, name) for name in NAMED}
        found = os.stat(source.path)
        about.append({**named, "outputs": outputs, "size": found.st_size, "written": found.st_mtime_ns})
    used = {"own": digests(specs), "used": named_files(specs, models, hub_commit)}
    return {"scuff": __version__, "blocks": [SIZE, ROWS], **what, **used, "files": about}


def _open(make: Callable[[], Treatment], tell: Tell) -> Callable[[Job], Entry]:
    """Opens the work in a worker."""
    return partial(done_or_error, partial(_do, make()))


def done_or_error(do: Callable[[Job], Entry], job: Job) -> Entry:
    """Does a job. Returns its error, if it is one that the user can understand, so that `results` finds the first of them.

    Warnings are returned, too, since a worker cannot show them.
    """
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        try:
            result = do(job)
        except tuple(ERRORS.values()) as error:
            kind = next(name for name, kind in ERRORS.items() if isinstance(error, kind))
            result = {"error": kind, "told": str(error)}
    return {**result, "warnings": list(dict.fromkeys(str(each.message) for each in told))}


def _do(treatment: Treatment, job: Job) -> Entry:
    with ExitStack() as stack:
        out = stack.enter_context(Part(job.out, job.zipped))
        log = stack.enter_context(Part(job.log)) if job.log else None
        tally = treatment(job.source, out.file, log.file if log else None)
    return {"sizes": [part.size for part in (out, log) if part], "counts": tally.saved()}


class _Stream:
    """One output of one file: its parts are appended to each other, in their order, as they are done."""

    def __init__(self, parts: Parts, file: int, number: int, target: Path, kept: bool) -> None:
        """number: 0 for the output, 1 for what is told about each text. kept: parts stay until all of them are there."""
        self.parts, self.file, self.number, self.target, self.kept = parts, file, number, target, kept
        self.path, self.next = parts.joined(file, SUFFIXES[number]), 0
        if kept:  # all parts are still there, or are made again
            self.path.unlink(missing_ok=True)
            return
        size = self.path.stat().st_size if self.path.exists() else -1  # it may have got its name already, empty or not
        position = 0
        while (entry := self._entry()) and not self.place(self.next).exists():
            position += entry["sizes"][number]
            if position > size:  # lost: what was joined begins again
                position = self.next = 0
                break
            self.next = entry["stop"]
        if self.path.exists():
            os.truncate(self.path, position)  # without the part that was being appended when the command was killed

    def place(self, start: int) -> Path:
        return self.parts.place(self.file, start, SUFFIXES[self.number])

    def holds(self, start: int) -> bool:
        """Whether the part of a block that is done is still there."""
        return (start < self.next and not self.kept) or self.place(start).exists()

    def join(self) -> None:
        """Appends the parts that are next."""
        while (entry := self._entry()) and self.place(self.next).exists():
            if not self.kept:
                append(self.place(self.next), self.path)
            self.next = entry["stop"]

    def finish(self) -> None:
        """Gives the file its name. All parts were joined, or are kept until `clean`."""
        if self.kept:
            join_tables(self.path, [self.place(start) for start in self.parts.of(self.file)])
        put_in_place(self.path, self.target)

    def clean(self) -> None:
        """Deletes parts that were kept. It was written down that the file is complete."""
        for start in self.parts.of(self.file) if self.kept else ():
            self.place(start).unlink(missing_ok=True)

    def _entry(self) -> Entry | None:
        return self.parts.done[self.file].get(self.next)


class _Output:
    """What becomes of one file."""

    def __init__(self, at: int, file: Partition, parts: Parts, treatment: Treatment) -> None:
        self.at, self.file, self.parts, self.treatment = at, file, parts, treatment
        self.cut = will_be_cut(file)
        kept = self.cut and file.source.kind == "parquet" and treatment.same_format
        targets = [Path(os.path.realpath(path)) for path in (file.target, file.edits_to) if path]
        self.streams = [_Stream(parts, at, number, path, kept and not number) for number, path in enumerate(targets)]
        self.last: int | None = None  # where the last block ends, as soon as that is known

    @property
    def size(self) -> int:
        return os.path.getsize(self.file.source.path)

    def blocks(self, look: Callable[[Format, list[Any]], None]) -> Iterator[Job]:
        """Yields the jobs. look: is shown the first records."""
        source, stop = self.file.source, 1
        if not self.cut:
            yield self._job(source)
        else:
            reader, records = first_chunk(source)
            look(reader, records)
            for block in blocks_of(source, reader):
                yield (job := self._job(block))
                stop = job.stop
        self.last = stop
        self.join()

    def _job(self, source: Input) -> Job:
        start = source.block.start if source.block else 0
        out, *log = [str(stream.place(start)) for stream in self.streams]
        return Job(self.at, source, out, log[0] if log else None, self.file.target.endswith(".gz"))

    def is_done(self, job: Job) -> bool:
        return job.start in self.parts.done[self.at] and all(stream.holds(job.start) for stream in self.streams)

    def join(self) -> None:
        """Joins the parts that are next and, after the last one, gives the outputs their names."""
        for stream in self.streams:
            stream.join()
        if all(stream.next == self.last for stream in self.streams):
            total = self.treatment.work.new_tally()
            for entry in self.parts.of(self.at).values():
                total.add(type(total).restored(entry["counts"]))
            for stream in reversed(self.streams):
                stream.finish()
            self.parts.note({"file": self.at, "counts": total.saved(), "outputs": self._outputs()})
            for stream in self.streams:
                stream.clean()

    def is_complete(self) -> bool:
        """Whether the file was finished before, and its outputs are what they were then."""
        return self.at in self.parts.finished and self.parts.finished[self.at]["outputs"] == self._outputs()

    def _outputs(self) -> list[list[int]]:
        """Returns how long the outputs are, and when they were written; nothing of those that are not there."""
        found = [stream.target.stat() for stream in self.streams if stream.target.exists()]
        return [[each.st_size, each.st_mtime_ns] for each in found]


class _Files:
    """All files: the jobs that are left, and what came of those that are done."""

    def __init__(
        self, files: Sequence[Partition], treatment: Treatment, parts: Parts, progress: ShowProgress | None
    ) -> None:
        self.treatment, self.parts, self.progress = treatment, parts, progress
        self.outputs = [_Output(at, each, parts, treatment) for at, each in enumerate(files)]
        self.size = sum(each.size for each in self.outputs) or 1
        self.done_bytes, self.texts, self.looked = 0.0, 0, False

    def jobs(self) -> Iterator[Job]:
        """Yields the blocks that are not done."""
        for output in self.outputs:
            if output.is_complete():
                self._count(self.parts.finished[output.at], output.size)
                continue
            for job in output.blocks(partial(self._look, output.file.source)):
                if output.is_done(job):
                    self._count(self.parts.done[job.file][job.start], job.bytes)
                else:
                    yield job

    def done(self, job: Job, result: Entry) -> None:
        """Keeps the result of a job, and joins what can be."""
        entry = {"file": job.file, "start": job.start, "stop": job.stop, **result}
        self.parts.note(entry)
        self._count(entry, job.bytes)
        self.outputs[job.file].join()

    def total(self) -> Any:
        """Returns all counts."""
        total = self.treatment.work.new_tally()
        for output in self.outputs:
            total.add(type(total).restored(self.parts.finished[output.at]["counts"]))
        return total

    def _count(self, entry: Entry, size: float) -> None:
        self.texts += entry["counts"]["texts"]
        self.done_bytes += size
        if self.progress:
            self.progress(min(self.done_bytes / self.size, 1.0), self.texts)

    def _look(self, source: Input, reader: Format, records: list[Any]) -> None:
        """Looks at the first records of files until something is known, such as their language."""
        first = next(chunks(source, reader, 1, [records]), None)
        self.looked = self.looked or first is None or self.treatment.look(first)
