"""The keywords of the public functions, with what each is. Settings have the names of the command line's flags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypedDict, TypeVar

from .attacks.attack import Proposals
from .attacks.constraints.base import Constraint
from .attacks.goals import Goal
from .attacks.search.base import Search
from .data.dataset import Task
from .evaluation.dimensions import Dimension
from .metrics import Metric
from .perturbations.base import Perturbation
from .perturbations.protect import Protect
from .shields.base import Shield

Held = TypeVar("Held", "HasType", "HasColumns")


class HasType(Protocol):
    """A pandas Series or a NumPy array."""

    @property
    def dtype(self) -> Any: ...


class HasColumns(Protocol):
    """A pandas DataFrame."""

    @property
    def columns(self) -> Any: ...


class TokensKeywords(TypedDict, total=False):
    """Keywords of `perturb_tokens`, beside return_edits."""

    seed: int
    draw: int
    selection: str | None
    protect: Sequence[str] | Protect
    ids: Sequence[object] | None
    as_published: bool


class PerturbKeywords(TokensKeywords, total=False):
    """Keywords of `perturb`, beside return_edits."""

    column: str | Sequence[str] | None
    skip_errors: bool


class ShieldTokensKeywords(TypedDict, total=False):
    """Keywords of `shield_tokens`, beside return_edits."""

    protect: Sequence[str] | Protect
    only: Sequence[str]


class ShieldKeywords(ShieldTokensKeywords, total=False):
    """Keywords of `shield`, beside return_edits."""

    column: str | Sequence[str] | None
    skip_errors: bool


class RayShieldKeywords(ShieldTokensKeywords, total=False):
    """Keywords of `ray_shield`, beside options."""

    column: str | Sequence[str]
    skip_errors: bool


class RayPerturbKeywords(RayShieldKeywords, total=False):
    """Keywords of `ray_perturb`, beside options."""

    id: str | None  # column that names each row: equal texts are then perturbed differently
    copies: int  # rows of each row, with a column `draw`; default 1
    seed: int
    selection: str | None
    as_published: bool


class RunKeywords(TypedDict, total=False):
    """Settings that evaluations and attacks have in common."""

    text: str | Sequence[str]  # column of texts; two for sentence pairs
    label: str | Sequence[str]  # column of labels, tags or translations; several: a 0/1 column each
    id: str | None  # column that names each example
    task: Task | None  # default: guessed from what the columns hold
    format: str | None  # of a file; default: by its name
    delimiter: str | None  # what separates the columns of a csv or tsv file
    no_header: bool  # a csv or tsv file without a header: its columns are named 1, 2, ...
    encoding: str | None  # of a text file; default UTF-8
    split: str | None  # of a Hugging Face data set; default: test, else validation
    labels: str | Sequence[str]  # names of the model's labels, in its order
    map: dict[str, str]  # {label of the data: label of the model}, where they differ
    none: str | None  # the model's label for texts without any other (label sets)
    options: dict[str, Any]  # of the model, e.g. {"device": "cpu"}
    shield: str | Shield | None  # mends texts before the model sees them: "fast", "normalise+restore", a Shield
    predictions: str | Sequence[str]  # files of answers collected before, instead of a model
    examples: int | None  # how many to sample, in the shares of their labels; default 500
    mlm: str | None  # masked language model for the perturbation contextual
    encoder: str | None  # measures meaning: a sentence encoder or "chrf"; default: MiniLM if installed, else chrf
    side: Literal["first", "second", "both"] | None  # which text of a pair to perturb; default first (zeroe: both)
    protect: str | Sequence[str]  # text that must not change: "urls", "word:Scuff", ...
    seed: int  # of all random choices; default 0
    engine: Literal["local", "ray"]  # what workers are: processes of this machine (default), actors on a Ray cluster
    address: str | None  # of the Ray cluster: "auto", "HOST:PORT"; default: RAY_ADDRESS, else one on this machine
    workers: int | None  # default 1, with engine="ray" as many as the cluster has CPUs
    cache: str | None  # file that keeps the model's answers, for all runs
    fresh: bool  # ask again: no answers of an earlier run or of the cache; an old run folder is kept under another name
    max_errors: str | int | float  # errors after which a run stops: a number, or a share such as "5%"; default 100
    max_queries: int | None  # texts that the model may be asked about: in all (evaluate), for each example (attack)
    log: str | Sequence[str]  # also log settings, scores and report: "mlflow", "wandb:project", "jsonl:runs.jsonl"


class EvaluateKeywords(RunKeywords, total=False):
    """Settings of `evaluate`."""

    protocol: Literal["robtest", "zeroe"]  # zeroe: its ten perturbations at low, mid and high, one case each
    as_published: bool  # as the protocol's paper has it; what is set beside it stays
    rounding: Literal["down", "up"] | None  # of the words or characters that a degree stands for; default down
    selection: str | None  # zeroe: how words are chosen, as for `perturb`
    dimensions: str | Dimension | Perturbation | Sequence[str | Dimension | Perturbation]  # default: RobTest's
    tag: Literal["general", "malicious"] | None  # only dimensions of changes that anyone makes, or that evaders make
    access: str | Sequence[str]  # what the attacker sees: "rule" (nothing, default), "score", "gradient"
    degrees: float | Sequence[float]  # how far cases may be from their originals; default 0.05 to 0.6
    cases: int | None  # per example and degree; default 10
    width: float | None  # adaptive: add cases only until intervals are narrower than this
    beta: float  # how much high degrees weigh in the final score; default 0.5
    # file of shares of valid cases that your raters found (`judge_import`), which weigh the degrees
    validity: str | None
    metric: str | Metric | None  # computes the scores; default: by the task


class AttackKeywords(RunKeywords, total=False):
    """Settings of `attack`. Parts take the place of the recipe's."""

    as_published: bool  # the recipe as its paper has it, as far as that is possible
    goal: str | Goal | None  # what counts as success
    perturbations: str | Perturbation | Proposals | Sequence[str | Perturbation | Proposals]  # propose the edits
    search: str | Search | None  # chooses among the edits
    constraint: str | Constraint | Sequence[str | Constraint]  # added, or in place of the recipe's of that name
    without: str | Sequence[str]  # names of constraints of the recipe to leave out
    vectors: str | None  # file of word vectors or of lists of neighbours
    max_time: float | None  # seconds for the run; examples not finished by then count as failed
    attacked: int | None  # sample until there are so many that the goal applies to; examples: look at no more than that
    attacker: Literal["aware", "unaware"]  # of the shield: searches against the shielded model, or the model alone
    valid: float  # successes that moved more than this in meaning are not valid; default 0.2


class AugmentKeywords(TypedDict, total=False):
    """Keywords of `augment`; those without a comment are as for `evaluate`."""

    dimensions: str | Sequence[str]
    tag: str | None
    mlm: str | None
    encoder: str | None
    as_published: bool  # perturbations as their papers have them
    mixture: Any  # "leave-one-out(keyboard)", ["keyboard", ("natural", 0.3), "clean"], ..., in place of dimensions and degree
    degree: float  # how far copies may be from their originals; default 0.1
    copies: int | None  # of an example; default 1
    share: float | None  # of the examples that get copies; default 1
    ratio: str | None  # clean to perturbed examples, such as "2:1", in place of copies and share
    exact: bool  # shares, ratios and the parts of dimensions are exact, not only on average; a mixture's always are
    each: bool  # make so many copies by each dimension, not by one of them
    only_perturbed: bool  # leave the clean examples out
    trace: bool  # add columns with dimension, reached degree and original example
    seed: int
    protect: str | Sequence[str]
    text: str | Sequence[str]
    id: str | None
    side: str
    format: str | None
    delimiter: str | None
    no_header: bool
    encoding: str | None
    split: str | None  # default: train
    skip_errors: bool  # examples that a dimension raises on get no copies, with a warning


class HardenKeywords(TypedDict, total=False):
    """Settings of `harden`; those without a comment are as for `evaluate`."""

    train: Any  # what to learn from, in place of data
    dev: Any  # what chooses the epoch; default: a part of what is learnt from
    test: Any  # what is reported on; default: a part of data
    goal: str | None  # of attacks, in place of the recipe's; tags: "tags"
    vectors: str | None  # file of word vectors or of lists of neighbours, for recipes that need one
    attack: str | None  # also measure how often this recipe succeeds, before and after
    attacked: int  # how many examples of the test part it attacks; default 100
    dimensions: str | list[str]  # what is measured; default: what was trained on, and some perturbations that were not
    degrees: float | list[float]  # default 0.1, 0.3, 0.5
    cases: int  # per example and degree; default 3
    metric: str | None
    epochs: int | None  # default: chosen by the trainer
    rate: float | None  # the highest learning rate; default: by the width of the network
    seconds: float | None  # of each training; it stops at the best epoch so far
    device: str  # auto (default), cpu, cuda, ...
    train_examples: int | None  # a sample of the training part; default: all
    text: str | list[str]
    label: str | list[str]
    id: str | None
    task: Task | None
    format: str | None
    delimiter: str | None
    no_header: bool
    encoding: str | None
    labels: str | list[str]
    map: dict[str, str]
    none: str | None
    options: dict[str, Any]
    examples: int | None
    mlm: str | None
    encoder: str | None
    side: Literal["first", "second", "both"] | None
    protect: str | list[str]
    seed: int
    engine: Literal["local", "ray"]
    address: str | None
    workers: int | None
    max_errors: str | int | float
    log: str | list[str]
