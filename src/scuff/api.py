"""The public functions of Scuff, with all their keywords: the one file that a Python user needs to read,
with `keywords.py`, which says what each setting is.

A part (perturbation, shield, constraint, search, goal, metric, recipe) is given as a name such as "keyboard(layout='qwertz')", as
"module:Class(option=value)", or as an object. Settings have the names of the command line's flags.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from .attacks.attack import Attack
from .attacks.settings import AttackSettings
from .attacks.setup import AttackSetup, Found
from .data.held import frame_columns, held_texts, is_frame, like
from .data.mapping import Mapper
from .data.perturbing import Texts
from .evaluation.meaning import measure_meaning
from .evaluation.settings import EvaluationSettings
from .evaluation.setup import EvaluationSetup
from .evaluation.thresholds import Threshold, dimensions_to_measure, matching, read_share
from .judging.findings import judge, weights_of
from .judging.items import read_key
from .judging.judgement import Judgement
from .judging.kit import Kit, export_kit, must_be_new, write_for_third
from .judging.outputs import check_outputs
from .judging.ratings import read_ratings
from .judging.sampling import Cases, Files, Sides
from .judging.studies import CHRF_ABOVE, CONTROLS, LANGUAGE, PASS, Decide, StudyName
from .keywords import (
    AttackKeywords,
    AugmentKeywords,
    EvaluateKeywords,
    HardenKeywords,
    HasType,
    Held,
    PerturbKeywords,
    RayPerturbKeywords,
    RayShieldKeywords,
    ShieldKeywords,
    ShieldTokensKeywords,
    TokensKeywords,
)
from .metrics import Metric
from .perturbations.base import Perturbation
from .perturbations.blocks import Note, Tally, Work, check_each
from .perturbations.languages import warn_of_language
from .perturbations.plan import Plan, whole_number
from .perturbations.protect import Protect
from .reports import (
    check_summary,
    failure_text,
    write_attack_report,
    write_report,
)
from .reports.compared import Order, compare_saved
from .reports.comparison_result import Comparison
from .reports.entries import begun, ended, hardened
from .reports.gate import ATTACK_SCORES
from .reports.hardened import HardenResult, publish
from .reports.results import AttackResult, MeaningResult, Result
from .runs.folder import Folder, Home, write_atomically
from .runs.progress import Bar, in_notebook
from .runs.run import (
    ATTACK,
    Finish,
    Show,
    check_resumable,
    compute_again,
    kind_of,
    resume_run,
    silent,
    start_run,
    where_it_began,
)
from .runs.run import dry_run as only_preflight
from .runs.schema import AttackSummary, EvaluationSummary, RunFile
from .runs.settings import check_log
from .runs.setup import Say, Setup
from .runs.trackers import Beginning, Tracking
from .shields.base import Shield
from .shields.detect import Detecting, Detection, Detector
from .shields.mending import Mending, Repair
from .specs import as_spec, can_be_rebuilt
from .stores import on_this_disk
from .text.edits import Edit
from .training.augmentation import Augmentation
from .training.harden import Doors, Hardening
from .training.harden_settings import HardenSettings
from .training.methods import Method

if TYPE_CHECKING:
    from typing_extensions import Unpack

Ran = TypeVar("Ran", Result, AttackResult)


@overload
def perturb(  # type: ignore[overload-overlap]
    texts: str,
    perturbation: str | Perturbation,
    level: str | float = ...,
    *,
    return_edits: Literal[False] = ...,
    **keywords: Unpack[PerturbKeywords],
) -> str: ...
@overload
def perturb(
    texts: Sequence[str],
    perturbation: str | Perturbation,
    level: str | float = ...,
    *,
    return_edits: Literal[False] = ...,
    **keywords: Unpack[PerturbKeywords],
) -> list[str]: ...
@overload
def perturb(  # type: ignore[overload-overlap]
    texts: str,
    perturbation: str | Perturbation,
    level: str | float = ...,
    *,
    return_edits: Literal[True],
    **keywords: Unpack[PerturbKeywords],
) -> tuple[str, list[Edit]]: ...
@overload
def perturb(
    texts: Sequence[str],
    perturbation: str | Perturbation,
    level: str | float = ...,
    *,
    return_edits: Literal[True],
    **keywords: Unpack[PerturbKeywords],
) -> tuple[list[str], list[list[Edit]]]: ...
@overload
def perturb(
    texts: Sequence[str | None],
    perturbation: str | Perturbation,
    level: str | float = ...,
    *,
    return_edits: Literal[False] = ...,
    **keywords: Unpack[PerturbKeywords],
) -> list[str | None]: ...
@overload
def perturb(
    texts: Held,
    perturbation: str | Perturbation,
    level: str | float = ...,
    *,
    return_edits: Literal[False] = ...,
    **keywords: Unpack[PerturbKeywords],
) -> Held: ...
@overload
def perturb(
    texts: Held,
    perturbation: str | Perturbation,
    level: str | float = ...,
    *,
    return_edits: Literal[True],
    **keywords: Unpack[PerturbKeywords],
) -> tuple[Held, Any]: ...
def perturb(
    texts: Any,
    perturbation: str | Perturbation,
    level: str | float = "mid",
    *,
    seed: int = 0,
    draw: int = 0,
    selection: str | None = None,
    protect: Sequence[str] | Protect = (),
    ids: Sequence[object] | None = None,
    column: str | Sequence[str] | None = None,
    skip_errors: bool = False,
    as_published: bool = False,
    return_edits: bool = False,
) -> object:
    """Perturb texts. Returns a string for a string and a list for a list; with return_edits, also the edits of each text.

    A pandas Series gives a Series with its index and name, a DataFrame with column="text" (or several) a DataFrame, a NumPy array
    of strings an array. None and NaN stay.
    perturbation: a name (`scuff list`), a spec such as "keyboard(layout='qwertz')" or "intrude|segment", or an object.
    level: low, mid, high, or the share of words to change (visual: of characters, segment: of gaps; `scuff describe NAME` says
    which). draw: each number gives another random version.
    selection: quota, coin, each, below, edits or all (see Perturbation.choose). protect: text that must not change, e.g.
    ["urls", "word:Scuff"]. ids: names of the texts; without them equal texts are perturbed alike. skip_errors: a text that
    the perturbation raises on stays as it is, with a warning. as_published: options and selection that are not given are those of
    the perturbation's paper (docs/published.md), not our defaults.
    Raises ValueError for a spec, level or selection that does not exist. Warns (LanguageWarning) if the texts are in a language
    that the perturbation is not made for.
    """
    plan = Plan.of(perturbation, level, seed, selection, protect, as_published)
    draw = whole_number(draw, "perturb.draw")
    names = _columns(texts, column)

    def treat(held: Any, name: str | None) -> tuple[Any, list[list[Edit]]]:
        own = [f"{name}:{each}" for each in ids] if ids is not None and len(names) > 1 else ids
        return _perturbed(held, plan, draw, own, return_edits, skip_errors)

    return _everywhere(texts, names, treat, return_edits)


def _columns(texts: Any, column: str | Sequence[str] | None) -> list[Any]:
    """Returns the columns of a DataFrame that are meant, none for other texts. Raises TypeError for a column of those."""
    if is_frame(texts):
        return frame_columns(texts, column)
    if column is not None:
        raise TypeError(f"expected a DataFrame for column, got {type(texts).__name__}")
    return []


def _everywhere(
    texts: Any, names: list[Any], treat: Callable[[Any, Any], tuple[Any, list[list[Note]]]], return_edits: bool
) -> object:
    """Returns new texts in the type of the old, with what is told about each if wanted. names: the columns of a DataFrame."""
    if names:
        new, notes = texts.copy(), {}
        for name in names:
            series, notes[name] = treat(texts[name], name)
            new[name] = series.array
        return (new, notes if len(names) > 1 else notes[names[0]]) if return_edits else new
    texts = list(texts) if isinstance(texts, Iterator) else texts
    new, edits = treat(texts, None)
    return (new, edits[0] if isinstance(texts, str) else edits) if return_edits else new


def _perturbed(
    texts: Any, plan: Plan, draw: int, ids: Sequence[object] | None, edits: bool, skip_errors: bool
) -> tuple[Any, list[list[Edit]]]:
    """Returns perturbed texts in the type of the old, and their edits if wanted."""
    old = held_texts(texts)
    limited = plan.perturbation.facts.reach < plan.level
    warn_of_language([plan.perturbation], (text for text in old if isinstance(text, str)), stacklevel=STACK - 1)
    tally = Tally()
    new, changes = _treated(old, plan, draw, ids, edits, skip_errors, tally if limited else None)
    if limited and (warning := plan.out_of_reach(tally)):
        warnings.warn(warning, stacklevel=STACK - 1)
    return like(texts, new), changes


STACK = 6  # calls from `_treated` to the line of the user's program that a warning is about


def _treated(
    texts: list[str | None],
    work: Work[Note],
    draw: int,
    ids: Sequence[object] | None,
    edits: bool,
    skip_errors: bool,
    tally: Tally | None,
    stack: int = STACK,
    what: str = "stay as they are",
) -> tuple[list[str | None], list[list[Note]]]:
    """Returns new texts, and what is told about each if wanted. Some may be missing, or make the work raise."""
    new, notes = list(texts), []  # type: tuple[list[Any], list[list[Note]]]
    if not skip_errors and all(isinstance(text, str) for text in new):  # the usual case
        return [*work.texts(new, ids=ids, draw=draw, tally=tally, edits=notes if edits else None)], notes
    tally = work.new_tally() if tally is None else tally
    notes = [[] for _ in new] if edits else []
    check_each("ids", ids, len(new))
    check_each("protected spans", work.protect.spans, len(new))
    held = Texts(new.copy(), "text {}".format, list(ids) if ids is not None else None, work.protect.spans)
    for part in held.treated(work, draw, edits=edits, strict=not skip_errors):
        tally.add(part.tally)
        for row, text in zip(part.rows, part.new, strict=True):
            new[row] = str(text)
        for row, found in zip(part.rows, part.edits, strict=False):
            notes[row] = found
    if (failures := tally.failures).count:
        warnings.warn(
            f"{failures.count} of {len(new)} texts {what}: {'; '.join(failures.lines)}", RuntimeWarning, stack
        )
    return new, notes


@overload
def perturb_tokens(
    sentences: Sequence[Sequence[str]],
    perturbation: str | Perturbation,
    level: str | float = ...,
    *,
    return_edits: Literal[False] = ...,
    **keywords: Unpack[TokensKeywords],
) -> list[list[str]]: ...
@overload
def perturb_tokens(
    sentences: Sequence[Sequence[str]],
    perturbation: str | Perturbation,
    level: str | float = ...,
    *,
    return_edits: Literal[True],
    **keywords: Unpack[TokensKeywords],
) -> tuple[list[list[str]], list[list[Edit]]]: ...
def perturb_tokens(
    sentences: Sequence[Sequence[str]],
    perturbation: str | Perturbation,
    level: str | float = "mid",
    *,
    seed: int = 0,
    draw: int = 0,
    selection: str | None = None,
    protect: Sequence[str] | Protect = (),
    ids: Sequence[object] | None = None,
    as_published: bool = False,
    return_edits: bool = False,
) -> object:
    """Perturb sentences that are cut into tokens. Every token stays one token, so that tags stay aligned.

    No token gets white space or becomes empty. With return_edits, returns also the edits of each sentence, whose positions count
    in its tokens joined by one space. Keywords: as for `perturb`.
    """
    _check_sentences(sentences)
    changes: list[list[Edit]] = []
    plan = Plan.of(perturbation, level, seed, selection, protect, as_published)
    draw = whole_number(draw, "perturb_tokens.draw")
    warn_of_language([plan.perturbation], map(" ".join, sentences))
    new = plan.tokens(sentences, ids=ids, draw=draw, edits=changes if return_edits else None)
    return (new, changes) if return_edits else new


@overload
def shield(  # type: ignore[overload-overlap]
    texts: str, shield: str | Shield = ..., *, return_edits: Literal[False] = ..., **keywords: Unpack[ShieldKeywords]
) -> str: ...
@overload
def shield(
    texts: Sequence[str],
    shield: str | Shield = ...,
    *,
    return_edits: Literal[False] = ...,
    **keywords: Unpack[ShieldKeywords],
) -> list[str]: ...
@overload
def shield(  # type: ignore[overload-overlap]
    texts: str, shield: str | Shield = ..., *, return_edits: Literal[True], **keywords: Unpack[ShieldKeywords]
) -> tuple[str, list[Repair]]: ...
@overload
def shield(
    texts: Sequence[str], shield: str | Shield = ..., *, return_edits: Literal[True], **keywords: Unpack[ShieldKeywords]
) -> tuple[list[str], list[list[Repair]]]: ...
@overload
def shield(
    texts: Sequence[str | None],
    shield: str | Shield = ...,
    *,
    return_edits: Literal[False] = ...,
    **keywords: Unpack[ShieldKeywords],
) -> list[str | None]: ...
@overload
def shield(
    texts: Held, shield: str | Shield = ..., *, return_edits: Literal[False] = ..., **keywords: Unpack[ShieldKeywords]
) -> Held: ...
@overload
def shield(
    texts: Held, shield: str | Shield = ..., *, return_edits: Literal[True], **keywords: Unpack[ShieldKeywords]
) -> tuple[Held, Any]: ...
def shield(
    texts: Any,
    shield: str | Shield = "fast",
    *,
    protect: Sequence[str] | Protect = (),
    only: Sequence[str] = (),
    column: str | Sequence[str] | None = None,
    skip_errors: bool = False,
    return_edits: bool = False,
) -> object:
    """Mend texts: look-alike and invisible characters, disguises, misspellings. Returns a string for a string, a list for a list.

    A pandas Series gives a Series with its index and name, a DataFrame with column="text" (or several) a DataFrame, a NumPy array
    of strings an array. None and NaN stay. With return_edits, also what was mended: a list of `Repair` (start, stop, old, new,
    kinds) for each text.
    shield: a name (`scuff list shields`), "a+b" for one after the other, a spec such as "restore(tier='context')" or
    "my_file.py:Mine", or an object. protect: text that must not change, e.g. ["urls", "word:Scuff"]; only: nothing but such text
    is mended. skip_errors: a text that the shield raises on stays as it is, with a warning.
    What becomes of a text depends on that text alone. Raises ValueError for a spec that does not exist, and for text with a lone
    surrogate.
    """
    mending = Mending.of(shield, protect, only=only)

    def treat(held: Any, name: object) -> tuple[Any, list[list[Repair]]]:
        return _mended(held, mending, return_edits, skip_errors)

    return _everywhere(texts, _columns(texts, column), treat, return_edits)


def _mended(texts: Any, mending: Mending, edits: bool, skip_errors: bool) -> tuple[Any, list[list[Repair]]]:
    """Returns mended texts in the type of the old, and their repairs if wanted."""
    new, repairs = _treated(held_texts(texts), mending, 0, None, edits, skip_errors, None)
    return like(texts, new), repairs


@overload
def shield_tokens(
    sentences: Sequence[Sequence[str]],
    shield: str | Shield = ...,
    *,
    return_edits: Literal[False] = ...,
    **keywords: Unpack[ShieldTokensKeywords],
) -> list[list[str]]: ...
@overload
def shield_tokens(
    sentences: Sequence[Sequence[str]],
    shield: str | Shield = ...,
    *,
    return_edits: Literal[True],
    **keywords: Unpack[ShieldTokensKeywords],
) -> tuple[list[list[str]], list[list[Repair]]]: ...
def shield_tokens(
    sentences: Sequence[Sequence[str]],
    shield: str | Shield = "fast",
    *,
    protect: Sequence[str] | Protect = (),
    only: Sequence[str] = (),
    return_edits: bool = False,
) -> object:
    """Mend sentences that are cut into tokens. Every token stays one token, so that tags stay aligned.

    A repair that would join, part or empty tokens is not made. With return_edits, returns also the repairs of each sentence,
    whose positions count in its tokens joined by one space. Keywords: as for `shield`.
    """
    _check_sentences(sentences)
    repairs: list[list[Repair]] = []
    new = Mending.of(shield, protect, only=only).tokens(sentences, edits=repairs if return_edits else None)
    return (new, repairs) if return_edits else new


@overload
def detect(texts: str, *, false_alarms: float = ...) -> Detection: ...  # type: ignore[overload-overlap]
@overload
def detect(texts: Sequence[str], *, false_alarms: float = ...) -> list[Detection]: ...
@overload
def detect(
    texts: Sequence[str | None] | HasType, *, false_alarms: float = ..., skip_errors: bool = ...
) -> list[Detection | None]: ...
def detect(texts: Any, *, false_alarms: float = 0.01, skip_errors: bool = False) -> object:
    """Tell which texts were tampered with. Returns a `Detection` for a string, a list of them for a list, an array or a Series.

    A Detection has `tampered` (True or False), `probability`, and `kinds`, the probability of each kind of tampering; it is None
    for a text that is missing. false_alarms: the share of clean texts that may be called tampered with: 0.001, 0.01 or 0.05.
    skip_errors: a text with a lone surrogate gets None, with a warning. Raises ValueError for it otherwise, and for other rates.
    """
    texts = list(texts) if isinstance(texts, Iterator) else texts
    _, notes = _treated(
        held_texts(texts), Detecting(Detector(false_alarms)), 0, None, True, skip_errors, None, 3, "have no answer"
    )
    verdicts = [note[0] if note else None for note in notes]
    return verdicts[0] if isinstance(texts, str) else verdicts


def mapper(
    perturbation: str | Perturbation | None = None,
    level: str | float = "mid",
    *,
    column: str | Sequence[str] = "text",
    id: str | None = None,
    copies: int = 1,
    seed: int = 0,
    selection: str | None = None,
    protect: Sequence[str] | Protect = (),
    only: Sequence[str] = (),
    as_published: bool = False,
    shield: str | Shield | None = None,
    skip_errors: bool = False,
) -> Mapper:
    """Make a function for a pipeline that you already have: it takes a batch of rows and returns it with new texts.

        dataset.map(scuff.mapper("keyboard", column="review", seed=1), batched=True, num_proc=8)    # Hugging Face datasets
        dataset.map_batches(scuff.mapper(shield="fast", column="review"), batch_format="pyarrow")   # Ray Data
        frame["review"].map(scuff.mapper("keyboard"))                                               # pandas

    A batch is a dict of lists or arrays, a DataFrame or a pyarrow table; a row as a dict, or a text alone, will do, too. Other
    columns stay, and so does what is missing. Lists of tokens keep each token. The texts are those that `perturb` or `shield`
    makes, whatever the batches, their order and the processes are.
    perturbation, level, seed, selection, protect, as_published: as for `perturb`. only: nothing but such text is changed. shield:
    mend texts, instead of a perturbation. column: the texts, one or several. id: the column that names each row, so that equal
    texts are perturbed differently. copies: so many rows of each, with a column `draw` that numbers them; only for batches.
    skip_errors: a text that cannot be treated stays as it is, with a warning.
    Raises ValueError for wrong values.
    """
    columns = (column,) if isinstance(column, str) else tuple(column)
    rules = protect if isinstance(protect, Protect) else tuple(protect)
    make: Callable[[], Work[Any]]
    if (perturbation is None) == (shield is None):
        raise ValueError("expected a perturbation or shield=..., got " + ("none" if shield is None else "both"))
    if shield is not None:
        make = partial(Mending.of, _rebuilt(shield), rules, only=tuple(only))
        if copies != 1 or id is not None:
            raise ValueError(
                "expected copies and id beside a perturbation, got them beside a shield: it has no chance in it"
            )
    else:
        part = _rebuilt(perturbation)
        make = partial(Plan.of, part, level, whole_number(seed, "seed"), selection, rules, as_published, tuple(only))
    return Mapper(make, columns, id, copies, skip_errors)


def _rebuilt(part: Any) -> Any:
    """Returns the spec of a part, from which other processes build it again; the part itself if they cannot."""
    return spec if can_be_rebuilt(spec := as_spec(part)) else part


def ray_perturb(
    dataset: Any,
    perturbation: str | Perturbation,
    level: str | float = "mid",
    *,
    options: Mapping[str, Any] | None = None,
    **keywords: Unpack[RayPerturbKeywords],
) -> Any:
    """Perturb a column of a Ray Data Dataset. Returns a Dataset, which is computed when it is used, as with `map_batches`.

    Keywords: as for `mapper`, such as column, id, copies, seed. options: what `map_batches` takes, such as
    {"batch_size": 4096, "concurrency": 8}. The texts are the same however the data is partitioned.
    """
    return _map_batches(dataset, mapper(perturbation, level, **keywords), options)


def ray_shield(
    dataset: Any,
    shield: str | Shield = "fast",
    *,
    options: Mapping[str, Any] | None = None,
    **keywords: Unpack[RayShieldKeywords],
) -> Any:
    """Mend a column of a Ray Data Dataset. Returns a Dataset. Keywords: column, protect, only and skip_errors, as for `mapper`;
    options: as for `ray_perturb`.
    """
    return _map_batches(dataset, mapper(shield=shield, **keywords), options)


def _map_batches(dataset: Any, function: Mapper, options: Mapping[str, Any] | None) -> Any:
    if not hasattr(dataset, "map_batches"):
        raise TypeError(f"expected a Dataset of Ray Data, got {type(dataset).__name__}")
    # tables, since arrays would make numbers with gaps floats
    return dataset.map_batches(function, **{"batch_format": "pyarrow", **(options or {})})


def _check_sentences(sentences: Any) -> None:
    """Raises TypeError if these are no lists of tokens."""
    if isinstance(sentences, str) or not isinstance(sentences, Iterable):
        raise TypeError(f"expected sentences that are lists of tokens, got {type(sentences).__name__}")
    for at, sentence in enumerate(sentences):
        if isinstance(sentence, str):
            raise TypeError("expected sentences that are lists of tokens, got strings")
        if not isinstance(sentence, Iterable):
            raise TypeError(f"expected a list of tokens for sentence {at}, got {sentence!r:.60}")
        for token in sentence:
            if not isinstance(token, str):
                raise TypeError(f"expected str for each token of sentence {at}, got {token!r:.60}")


def evaluate(
    model: Any,
    data: Any,
    output: str | Path | None = None,
    *,
    named: bool = False,
    say: Say | None = None,
    show: Show | bool | None = None,
    **settings: Unpack[EvaluateKeywords],
) -> Result:
    """Measure how a model copes with perturbed texts. Returns the scores, with a table and every number.

    model: a callable (list of texts in, labels or scores out), a scikit-learn or Hugging Face pipeline, a `Victim`, or a name as
    for `scuff evaluate`. data: a file, a data set, a DataFrame or a list of (text, label). output: the run folder, or its URL,
    such as s3://bucket/run; a second call with the same settings resumes it; None keeps nothing on disk once the result is gone.
    named: output is a folder of runs, in which this one gets a name made of its settings. say: called with each message. show:
    called with the progress after each batch of answers; True shows a bar on stderr, False none; None, the default, shows one in
    a notebook only.

    What is measured: dimensions=["typo-g", "keyboard@edits", Shout()] (default: all of RobTest's that can run) or tag, access
    ("rule", "score", "gradient"), degrees, cases, width, protocol, as_published (as its paper has it), rounding, selection,
    beta, validity, metric, protect, seed, mlm, encoder, max_queries.
    The data: text, label, id, task, side, examples, format, delimiter, no_header, encoding, split. The model: labels, map, none,
    options, shield (text is mended before the model sees it), predictions.
    The run: engine, address, workers, cache, fresh, max_errors, log ("mlflow", "wandb", "jsonl": settings, scores and report go
    there, too).
    `EvaluateKeywords` and `RunKeywords` say what each is.

    Raises ValueError for wrong settings, and RuntimeError if the run fails: too many errors, or no answers at all.
    """
    setup = EvaluationSetup.open(model, data, settings, None if named else output)
    return _run(setup, output, _evaluated, named, say, _bar(show))


def attack(
    model: Any,
    data: Any,
    recipe: str | Attack = "default",
    output: str | Path | None = None,
    *,
    named: bool = False,
    say: Say | None = None,
    show: Show | bool | None = None,
    found: Found | None = None,
    **settings: Unpack[AttackKeywords],
) -> AttackResult:
    """Search for texts close to those of the data that a model gets wrong. Returns success rate, costs and adversarial texts.

    model, data, output, named, say, show: as for `evaluate`. recipe: toxictrap, tt-textfooler, pwws, ... (`scuff list recipes`),
    "module:function", or an `Attack`; by default toxictrap if vectors or perturbations are given, else deepwordbug. found: called
    with each success as soon as it is found (not in worker processes).

    Parts in place of the recipe's: goal, perturbations=["embedding(n=50)", Shout()], search="beam", constraint=["chrf"], without=
    ["pos"]. as_published=True: the recipe as its paper has it; the deviations that are left stand in the result.
    Limits: max_queries (for each example), max_time (seconds), valid. Files and models: vectors, mlm, encoder.
    Text that must not change: protect. The data: text, label, id, task, side, examples or attacked, format, delimiter, no_header,
    encoding, split, seed. The model: labels, map, none, options, shield, attacker (aware of the shield, or unaware). The run:
    engine, address, workers, cache, fresh, max_errors, log. `AttackKeywords` and `RunKeywords` say what each is.

    Raises ValueError for wrong settings, and RuntimeError if the run fails.
    """
    setup = AttackSetup.open(model, data, {"recipe": recipe, **settings}, None if named else output, found)
    return _run(setup, output, _attacked, named, say, _bar(show))


def augment(data: Any, **keywords: Unpack[AugmentKeywords]) -> Any:
    """Add perturbed copies to labelled data, for training. Returns what was given: a DataFrame (of pandas or Polars), a Hugging
    Face data set, a list of dicts or of tuples, a dict of lists; of a file, a list of dicts.

    data: as for `evaluate`. keywords: dimensions=["typo-g", "keyboard"] or tag, mlm, encoder, as_published=False, degree=0.1
    (never exceeded), or a mixture, such as "low-mid-high(keyboard)"; copies=1 of a share=1 of the examples, or ratio="1:1"
    (clean:perturbed), exact=False, each=False, only_perturbed=False, trace=False, seed=0, protect=[], side="first", text, id,
    format, delimiter, no_header, encoding, split, skip_errors=False.
    `AugmentKeywords` says what each is.
    """
    return Augmentation.of(**keywords).rows(data)


def harden(
    model: Any,
    data: Any = None,
    output: str | Path = "hardened",
    *,
    methods: str | Method | Sequence[str | Method] = "augment",
    say: Say | None = None,
    show: Show | bool | None = None,
    command: str = "",
    **settings: Unpack[HardenKeywords],
) -> HardenResult:
    """Mend a model and prove it: measure it, train it or put a shield in front, measure it again on the same frozen cases.

    model: a Hugging Face folder or id, toy:sentiment or toy:tone, or a scikit-learn pipeline; with shields alone, anything that
    `evaluate` takes. data: labelled examples as for `evaluate`; a fifth of them is held out for the two measurements, a tenth
    chooses the epoch, by seed, with no text in two parts. Or train and test (and dev), each a file or an object.
    output: a new folder. It gets `model` (a Hugging Face folder with a model card), `before` and `after` (the runs), proof.json,
    comparison.html, and settings.yaml for `--config`. The same call goes on where it was interrupted.

    methods: "augment" (perturbed copies: "augment(keyboard, visual)", "augment(leave-one-out(phonetic))"), "plm", "pp"
    (pretraining, then fine-tuning), "attack(deepwordbug, tt-pwws, gamma=0.2)" (adversarial examples), "shield(fast)" (texts are
    mended before the model sees them), or several: "augment,shield(fast)". `scuff list methods` says what each is.

    What is measured: dimensions (default: the perturbations that were trained on, and others that were not, which are reported
    apart), degrees, cases, metric, mlm, encoder, examples (of the test part), attack (a recipe; its success before and after),
    attacked, goal, vectors. The training: epochs, rate, seconds, device, train_examples, protect, side, seed.
    The data: text, label, id, task, format, delimiter, no_header, encoding. The model: labels, map, none, options. The runs:
    engine, address, workers, max_errors, log. say, show: as for `evaluate`. command: what the model card names as the way to
    repeat it.
    `HardenKeywords` says what each is.

    Returns the proof: `print` shows it; `model`, `clean`, `seen`, `unseen`, `words`, `before`, `after`. Raises ValueError, before
    any work, for what cannot work together, and BadRun if the folder holds something else.
    """
    chosen = HardenSettings.of(methods=methods, **settings)
    folder = on_this_disk(output, "the output of harden")
    work = Hardening(model, data, folder, chosen, Doors(evaluate, attack), say or silent, show, command)
    options = chosen.measuring.asdict().get("options")
    with Tracking(chosen.log, lambda: begun("harden", *work.names, chosen, options)) as tracking:
        made = work.run()
        result = publish(
            made.proof, made.folder, work.parts.test.task, made.model, made.shield, made.before, made.after
        )
        tracking.done(lambda: hardened(result.proof, made.folder))
    return result


def meaning(
    src: Any = None,
    adv_src: Any = None,
    out: Any = None,
    adv_out: Any = None,
    ref: Any = None,
    *,
    other_adv_src: Any = None,
    other_adv_out: Any = None,
    source_metric: str | Metric | Callable[[str, str], float] = "chrf",
    target_metric: str | Metric | Callable[[str, str], float] = "chrf",
    threshold: float | None = None,
    seed: int = 0,
    encoding: str | None = None,
) -> MeaningResult:
    """Tell whether an attack changed the meaning of the inputs, or broke the model (Michel et al., 2019). Asks no model.

    src, adv_src: the inputs before and under attack. out, adv_out: what the model made of them. ref: references. Each is a list
    of texts (or an array, a Series) or the path of a file with a text per line. Give src and adv_src, out and adv_out with or
    without ref, or all. Without ref the decrease is 1 - the likeness of the two outputs. other_adv_src, other_adv_out: a second
    attack on the same texts, which the first is compared with.
    source_metric, target_metric: "chrf", "bleu", "meteor", "exact-match", a metric, or a function of a text and its reference.
    threshold: an attack succeeded where S = s_src + d_tgt is above it; default 1, and 1.8 with exact-match as target_metric.
    seed: of the intervals' resamples. encoding: of the files; default UTF-8.

    Raises ValueError if there are not as many texts everywhere, or if a file is missing that another one needs.
    """
    columns = {
        "src": src, "adv_src": adv_src, "out": out, "adv_out": adv_out, "ref": ref, "other_adv_src": other_adv_src,
        "other_adv_out": other_adv_out,
    }  # fmt: skip
    return MeaningResult(
        *measure_meaning(
            columns, source_metric=source_metric, target_metric=target_metric, threshold=threshold, seed=seed,
            encoding=encoding,
        )
    )  # fmt: skip


def resume(
    folder: str | Path,
    *,
    say: Say | None = None,
    show: Show | bool | None = None,
    found: Found | None = None,
    engine: Literal["local", "ray"] | None = None,
    address: str | None = None,
    workers: int | None = None,
    max_errors: str | int | float | None = None,
    cache: str | None = None,
    log: str | Sequence[str] = (),
) -> Result | AttackResult:
    """Resume a run that was interrupted, with the settings in its folder. Returns the result of the whole run.

    engine, address, workers, max_errors, cache, log: replace those settings, which do not decide the trials. say, show: as for
    `evaluate`. found: as for `attack`. Relative paths are meant from where the run was started, which is the current folder
    while this works.
    Raises BadRun if the folder is no run, or if its model or data was given as an object.
    """
    own_cache = None if cache is None else str(on_this_disk(cache, "the cache").absolute())
    changes = {
        "engine": engine, "address": address, "workers": workers, "max_errors": max_errors, "cache": own_cache,
    }  # fmt: skip
    kind = kind_of(folder)
    is_attack = kind == ATTACK
    check_resumable(folder, AttackSetup if is_attack else EvaluationSetup)

    def opened(run: RunFile) -> EvaluationSetup | AttackSetup:
        settings = {**run["config"], **{name: value for name, value in changes.items() if value is not None}}
        model, data = run["model"]["spec"], run["data"]["spec"]
        if is_attack:
            return AttackSetup.open(model, data, settings, found=found)
        return EvaluationSetup.open(model, data, settings)

    def known() -> Beginning:
        run = Folder(folder).run()
        settings = (AttackSettings if is_attack else EvaluationSettings).of(**run["config"])
        return begun(kind, run["model"]["name"], run["data"]["name"], settings, run["config"].get("options"))

    trackers = [log] if isinstance(log, str) else list(log)
    check_log(trackers)
    with Tracking(trackers, known) as tracking, where_it_began(folder) as inside:
        shown = tracking.watching(_bar(show))
        result: Result | AttackResult
        if is_attack:
            result = resume_run(inside, opened, _attacked, say=say or silent, show=shown)
        else:
            result = resume_run(inside, opened, _evaluated, say=say or silent, show=shown)
        tracking.done(lambda: ended(result.run_files))
    return replace(result, folder=str(folder))


def report(folder: str | Path) -> Result | AttackResult:
    """Compute summary.json, results.jsonl and report.html of a run again from its trials, without its model.

    Raises BadRun if the run is not finished.
    """
    if kind_of(folder) == ATTACK:
        return compute_again(AttackSetup, folder, _attacked)
    return compute_again(EvaluationSetup, folder, _evaluated)


def compare(
    *runs: str | Path | Result | AttackResult,
    names: Sequence[str] | None = None,
    anyway: bool = False,
    order: Order = "given",
) -> Comparison:
    """Compare saved runs with the first of them: models side by side, one over time, before and after a shield or training.

    runs: folders of evaluations, or of attacks, or results that were saved to one. names: what to call them, one name each.
    order: "date" puts the run that was started first at the beginning. anyway: compare what is common to runs that differ in
    more than the model: examples, dimensions, degrees; numbers without a common example are marked as not paired.

    Returns the comparison: `print` shows the table; `verdict`, `words`, `worse`, `content`, `to_pandas()`; `html`, `markdown`,
    `csv` and `json` are texts to be written. Raises Differing, a BadRun, with what differs, unless `anyway`; BadRun if a folder
    is no finished run.
    """
    return Comparison(compare_saved([_folder_of(run) for run in runs], names=names, anyway=anyway, order=order))


def _folder_of(run: str | Path | Result | AttackResult) -> str | Path:
    """Returns the folder of a run. Raises ValueError for a result that was not saved."""
    if isinstance(run, str | Path):
        return run
    if isinstance(run, Result | AttackResult) and run.folder is not None:
        return run.folder
    raise ValueError(f"expected a run folder, got {type(run).__name__}: give evaluate or attack an output folder")


def judge_export(
    runs: str | Path | Sequence[str | Path],
    output: str | Path,
    *,
    study: StudyName = "meaning",
    each: int | None = None,
    side: Sides = "source",
    cases: Cases | None = None,
    degree: float | None = None,
    controls: int = CONTROLS,
    qualification: int | None = None,
    qualification_file: str | None = None,
    src: str | None = None,
    adv_src: Mapping[str, str] | None = None,
    ref: str | None = None,
    out: str | None = None,
    adv_out: Mapping[str, str] | None = None,
    encoding: str | None = None,
    language: str = LANGUAGE,
    warning: str = "",
    seed: int = 0,
) -> Kit:
    """Write a kit for raters into a new folder: `key.json`, which stays with you, and `raters`, with a page and a CSV sheet.

    runs: folders of evaluations or attacks; [] if the texts come from files of one text per line: src and adv_src (original and
    attacked inputs; adv_src={"knn": "a.txt"}, one per attack), ref, out and adv_out (reference, original and attacked outputs),
    in an encoding other than UTF-8 if one is named. Empty texts are not shown to raters.
    study: meaning (0 to 5, TEAPOT), validity (RobTest; cases that broke the model) or readability (versions are ranked, Zéroe).
    each: items of every stratum (attack and number of edits; dimension and degree), by default as in the paper: 100, 50; of
    readability, texts: 10. side: of text-to-text models, inputs or outputs. cases: "broken" ones alone or "all". degree: of the
    versions that are ranked. controls: pairs whose rating is known, between the others; qualification: such pairs at the
    beginning, as a test (10 for validity), or your own, qualification_file (CSV: original, changed, label, rating). language:
    of the texts, for the scale. warning: a content warning that raters see first. The same seed gives the same bytes.

    Raises ValueError for wrong options or unfit runs and files, BadRun if a folder is no run.
    """
    given = [runs] if isinstance(runs, str | Path) else list(runs)
    files = Files(src, adv_src or {}, ref, out, adv_out or {}, encoding)
    return export_kit(
        given, output, files=files, study=study, each=each, side=side, cases=cases, degree=degree, controls=controls,
        qualification=qualification, own=qualification_file, language=language, warning=warning, seed=seed,
    )  # fmt: skip


def judge_import(
    key: str | Path,
    ratings: str | Path | Sequence[str | Path],
    *,
    decide: Decide | None = None,
    least: float = PASS,
    keep_all: bool = False,
    metrics: Sequence[str] = (),
    encoder: str | None = None,
    above: float = CHRF_ABOVE,
    predict: bool = False,
    mlm: str | None = None,
    disputed: str | Path | None = None,
    weights: str | Path | None = None,
) -> Judgement:
    """Read the ratings of a kit. Returns agreement, correlation with metrics, shares of valid cases or ranks, with intervals.

    key: key.json of the kit. ratings: a file of each rater, as the page saves it (CSV, JSON) or as a spreadsheet does. decide:
    how one rating is made of several: "third" (what the first two agree on, else what the third file says; for meaning), "vote"
    (for validity), "mean" or "median". least: the share of the controls and of the qualification that a rater must get right;
    others are left out, unless keep_all. metrics: specs of more metrics to compare with; encoder: a sentence encoder. above: the
    chrF whose share of pairs above it is counted. predict: also how well degree, grammar, similarity and perplexity (mlm: by a
    masked language model) predict what people found valid. disputed: a new folder to write a page for a third rater to, with
    what the first two do not agree on, and the controls. weights: a file to write shares of valid cases to, for
    `evaluate(validity=...)`.

    Raises ValueError, with file and line, for ratings that do not fit the key, and for outputs that would overwrite them.
    """
    paths = [ratings] if isinstance(ratings, str | Path) else list(ratings)
    check_outputs({"weights": weights}, [key, *paths])
    if disputed is not None:
        must_be_new(Path(disputed))
    read = read_key(key)
    judged = judge(
        read, read_ratings(paths, read), decide=decide, least=least, keep=keep_all, metrics=metrics, encoder=encoder,
        above=above, predict=predict, mlm=mlm,
    )  # fmt: skip
    if disputed is not None:
        write_for_third(read, judged.disputed, Path(disputed))
    if weights is not None:
        text = json.dumps(weights_of(judged.content), indent=1, ensure_ascii=False) + "\n"
        write_atomically(Path(weights), text.encode())
    return Judgement(judged.content, judged)


@overload
def assert_robust(
    model: Any,
    data: Any,
    output: str | Path | None = ...,
    *,
    min: Mapping[str, Threshold] | None = ...,
    max_drop: Threshold | None = ...,
    **settings: Unpack[EvaluateKeywords],
) -> Result: ...
@overload
def assert_robust(
    model: Any,
    data: Any,
    output: str | Path | None = ...,
    *,
    recipe: str | Attack,
    min: Mapping[str, Threshold] | None = ...,
    max_drop: Threshold | None = ...,
    max_success: Threshold | None = ...,
    **settings: Unpack[AttackKeywords],
) -> AttackResult: ...
def assert_robust(
    model: Any,
    data: Any,
    output: str | Path | None = None,
    *,
    recipe: str | Attack | None = None,
    min: Mapping[str, Threshold] | None = None,
    max_drop: Threshold | None = None,
    max_success: Threshold | None = None,
    **settings: Any,
) -> Result | AttackResult:
    """Evaluate a model in a test or, with a recipe, attack it. Raises AssertionError if it is less robust than asked, with the
    bounds that failed, the verdict, some of the texts that broke, and the table.

    output: the run folder; None keeps nothing on disk. min: scores and their minimums, named as for `scuff check`: {"worst": 0.5,
    "keyboard": "80%"}. max_drop: how far each dimension's average, or the accuracy after an attack, may be below the clean score.
    max_success: the highest success rate of an attack. settings: as for `evaluate`, or `attack`. Without dimensions, those that
    `min` names are measured, and all default ones if a bound is over all dimensions (average, worst, each, max_drop). Too few
    answers (`answered`, 90 %) or too few texts that changed (`tried`, 50 %) fail, too, unless `min` has another share.

    Raises ValueError before the model is opened for wrong settings, bounds outside [0, 1], and names of no score.
    """
    if not isinstance(min or {}, Mapping):
        raise ValueError(f"expected scores and their minimums for min, such as {{'worst': 0.5}}, got {min!r:.60}")
    least = {name: read_share(value, f"min[{name!r}]") for name, value in (min or {}).items()}
    drop = None if max_drop is None else read_share(max_drop, "max_drop")
    success = None if max_success is None else read_share(max_success, "max_success")
    if success is not None and recipe is None:
        raise ValueError("expected a recipe beside max_success, which is of attacks, got none")
    if not least and drop is None and success is None:
        bounds = "min, max_drop or max_success" if recipe is not None else "min or max_drop"
        raise ValueError(f"expected something to check ({bounds}), got nothing")
    result: Result | AttackResult
    if recipe is not None:
        for name in least:
            matching(name, ATTACK_SCORES, {})
        result = attack(model, data, recipe, output, **settings)
    else:
        measured = dimensions_to_measure(EvaluationSettings.of(**settings), least, drop)
        if measured and not settings.get("dimensions"):
            settings["dimensions"] = list(measured)
        result = evaluate(model, data, output, **settings)
    failed = [line for line in check_summary(result.summary, least, drop, None, success) if not line.passed]
    if failed:
        kept = output is not None
        raise AssertionError(failure_text(failed, result.verdict, str(result), result.run_files, kept=kept))
    return result


def dry_run(model: Any, data: Any, *, recipe: str | Attack | None = None, say: Say = silent, **settings: Any) -> None:
    """Do only the pre-flight of an evaluation or, with a recipe, of an attack: say two examples, the clean score, the costs."""
    if recipe is None:
        only_preflight(EvaluationSetup.open(model, data, settings), say)
    else:
        only_preflight(AttackSetup.open(model, data, {"recipe": recipe, **settings}), say)


def _run(
    setup: Setup, output: str | Path | None, finish: Finish[Ran], named: bool, say: Say | None, show: Show | None
) -> Ran:
    """Does a run and tells its trackers. Without an output its files last as long as the result."""
    home = Home.temporary() if output is None else None
    about = setup.settings.asdict().get("options")  # without those that may hold a secret
    with Tracking(
        setup.settings.log,
        lambda: begun(setup.kind, setup.victim.name, setup.data.name, setup.settings, about),
    ) as tracking:
        setup.begun += tracking.seconds
        result = start_run(
            setup, output if home is None else home.path, finish, named=named and home is None, say=say or silent,
            show=tracking.watching(show), forecast=say is not None or show is not None,
        )  # fmt: skip
        tracking.done(lambda: ended(result.run_files))
    return result if home is None else replace(result, folder=None, home=home)


def _bar(show: Show | bool | None) -> Show | None:
    """Returns what shows the progress of a run; None if nothing does."""
    if show is None:
        show = in_notebook(sys.stderr)
    return show if callable(show) else Bar(sys.stderr) if show else None


def _evaluated(folder: Folder, summary: EvaluationSummary) -> Result:
    return Result(summary, str(folder.path), Home(folder.path), write_report(folder))


def _attacked(folder: Folder, summary: AttackSummary) -> AttackResult:
    verdict = write_attack_report(folder)
    return AttackResult(summary, folder.timings(), str(folder.path), Home(folder.path), verdict)
