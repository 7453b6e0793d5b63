"""Hardening: the pre-flight stops what cannot work, the proof is of the same cases, and what was interrupted goes on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scuff
from scuff.data.dataset import Dataset
from scuff.evaluation.comparison import compare_runs
from scuff.reports.proof import proof_words
from scuff.resources import MissingResource
from scuff.runs.folder import BadRun, Folder
from scuff.runs.proof import Change, change_of
from scuff.shields.names import parse as parse_shield
from scuff.training.backends import surely_lower
from scuff.training.feeds import Clean
from scuff.training.harden import Doors, Hardening
from scuff.training.harden_settings import HardenSettings
from scuff.training.stages import MendedFeed
from scuff.victims.toy import Toy

TOY = "toy:sentiment"
FAST: dict[str, Any] = {
    "examples": 60, "cases": 1, "degrees": [0.5], "dimensions": ["keyboard", "disemvowel"], "encoder": "chrf",
    "train_examples": 600, "epochs": 4,
}  # fmt: skip
WORDS = (
    ("good", "pos"),
    ("bad", "neg"),
    ("great", "pos"),
    ("poor", "neg"),
    ("fine", "pos"),
    ("weak", "neg"),
    ("lovely", "pos"),
)
NOUNS = ("film", "plot", "cast", "song", "end", "book", "show", "star")
ROWS = [(f"the {noun} was {word}", label) for noun in NOUNS for word, label in WORDS]
TAGGED = [{"tokens": ["the", "dog", f"ran{at}"], "tags": ["DET", "NOUN", "VERB"]} for at in range(60)]


@pytest.fixture(scope="module")
def hardened(tmp_path_factory: pytest.TempPathFactory) -> scuff.HardenResult:
    out = tmp_path_factory.mktemp("hardened") / "out"
    return scuff.harden(TOY, TOY, out, methods="augment(keyboard, visual)", **FAST)


def test_the_folder_has_model_runs_page_card_and_proof(hardened: scuff.HardenResult) -> None:
    out = Path(hardened.folder)
    assert {each.name for each in out.iterdir()} == {
        "before", "after", "model", "work", "harden.json", "proof.json", "comparison.html", "settings.yaml"
    }  # fmt: skip
    proof = json.loads((out / "proof.json").read_text())
    assert proof == json.loads(json.dumps(hardened.proof)) and proof["words"] == hardened.words
    assert proof["comparison"] == compare_runs(Folder(out / "before"), Folder(out / "after"), ["keyboard"])
    assert proof["perturbations"] == ["keyboard", "visual"]
    card = (out / "model" / "README.md").read_text()
    assert all(line.split(":")[0] in card.replace("\n", " ").replace("  ", " ") for line in proof["words"][1:])
    assert "Trained on keyboard, visual." in card
    page = (out / "comparison.html").read_text()
    assert proof["words"][0] in page and "never seen" in page and "before/report.html" in page


def test_the_saved_model_is_the_one_that_was_measured(hardened: scuff.HardenResult) -> None:
    again = scuff.evaluate(
        hardened.model, TOY, **{key: FAST[key] for key in ("examples", "cases", "degrees", "dimensions")}
    )
    assert again.summary["overall"] == hardened.after.summary["overall"]
    assert hardened.before.summary["overall"] != hardened.after.summary["overall"]
    assert hardened.clean["after"] == again.clean and hardened.seen and hardened.unseen
    assert hardened.proof["comparison"]["dimensions"]["keyboard"]["seen"]
    assert not hardened.proof["comparison"]["dimensions"]["disemvowel"]["seen"]


def test_it_warns_if_training_made_it_worse(tmp_path: Path) -> None:
    said: list[str] = []
    wrong = [(text, "neg" if label == "pos" else "pos") for text, label in ROWS]  # what it learns is not what it knew
    rows = [(text, {"pos": "positive", "neg": "negative"}[label]) for text, label in ROWS]
    turned = [(text, {"pos": "positive", "neg": "negative"}[label]) for text, label in wrong]
    scuff.harden(
        TOY, None, tmp_path / "out", train=turned, dev=[(f"really, {text}", label) for text, label in rows],
        test=[(f"well, {text}", label) for text, label in rows], dimensions=["keyboard"], degrees=[0.5], cases=1, say=said.append,
    )  # fmt: skip
    assert any(line.startswith("WARNING the trained model is worse on the dev part") for line in said)


def test_it_goes_on_where_it_was_interrupted_to_the_same_bytes(hardened: scuff.HardenResult, tmp_path: Path) -> None:
    for word in ("before", "train", "after"):  # what is said when a step begins

        def stop(message: str, word: str = word) -> None:
            if message.startswith(word):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            scuff.harden(TOY, TOY, tmp_path / "out", methods="augment(keyboard, visual)", say=stop, **FAST)
    scuff.harden(TOY, TOY, tmp_path / "out", methods="augment(keyboard, visual)", **FAST)
    for name in ("proof.json", "model/weights.npz", "before/summary.json"):
        mine, whole = ((Path(folder) / name).read_bytes() for folder in (tmp_path / "out", hardened.folder))
        assert mine.replace(str(tmp_path).encode(), b"") == whole.replace(
            str(Path(hardened.folder).parent).encode(), b""
        )


def test_a_folder_of_other_work_is_left_alone(hardened: scuff.HardenResult, tmp_path: Path) -> None:
    with pytest.raises(BadRun, match="got another dev, seed, train: choose another folder"):
        scuff.harden(TOY, TOY, hardened.folder, methods="augment(keyboard, visual)", **{**FAST, "seed": 1})
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(BadRun, match="expected a new folder or a hardening to go on with"):
        scuff.harden(TOY, TOY, tmp_path, **FAST)
    assert [each.name for each in tmp_path.iterdir()] == ["mine.txt"]


def test_shields_need_no_training_and_take_any_model(tmp_path: Path) -> None:
    def predict(texts: list[str]) -> list[str]:
        return ["pos" if any(word in text for word in ("good", "great", "fine", "lovely")) else "neg" for text in texts]

    found = scuff.harden(
        predict,
        ROWS,
        tmp_path / "out",
        methods="shield(normalise)",
        dimensions=["visual"],
        degrees=[0.5],
        cases=2,
        labels=None,
    )
    assert found.model is predict and found.shield == "normalise" and not found.proof["trained"]
    change = found.proof["comparison"]["all"]["average"]
    assert (
        (change["interval"][0] or 0) > 0 and "more robust" in found.words[0] and not (tmp_path / "out/model").exists()
    )
    assert "scuff.shield(texts, 'normalise')" in (tmp_path / "out/README.md").read_text()
    assert list(found.proof["data"]) == ["test"] and found.proof["data"]["test"]["examples"] == len(ROWS)


def test_a_shield_and_training_together_train_on_mended_texts() -> None:
    data = Dataset("d", "single", (("g\u200bood", "bad"),), ("x", "y"), ("0", "1"))
    feed = MendedFeed(Clean(data), parse_shield("normalise"))
    assert feed.epoch(0).columns == (("good", "bad"),) and feed.data.columns == feed.epoch(1).columns
    assert feed.identity == f"{Clean(data).identity}|shield:normalise"


def test_a_scikit_learn_pipeline_is_refitted(tmp_path: Path) -> None:
    text = pytest.importorskip("sklearn.feature_extraction.text")
    linear = pytest.importorskip("sklearn.linear_model")
    make_pipeline = pytest.importorskip("sklearn.pipeline").make_pipeline
    texts, labels = zip(*ROWS, strict=True)
    model = make_pipeline(text.TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3)), linear.LogisticRegression())
    model.fit(texts, labels)
    before = model.predict_proba(["the film was godo"])
    found = scuff.harden(
        model,
        ROWS,
        tmp_path / "out",
        methods="augment(inner-shuffle)",
        dimensions=["inner-shuffle"],
        degrees=[0.5],
        cases=1,
    )
    assert found.model is not model and np.array_equal(model.predict_proba(["the film was godo"]), before)
    assert not np.array_equal(found.model.predict_proba(["the film was godo"]), before)
    assert found.after.clean == pytest.approx(found.clean["after"])


@pytest.mark.parametrize(
    ("model", "data", "settings", "said"),
    [
        (
            "my-tagger",
            TAGGED,
            {"methods": "augment(segment)"},
            "expected perturbations that keep each token for mixture",
        ),
        (TOY, [(text, "pos") for text, _ in ROWS], {}, "expected two or more labels to train on, got pos"),
        (TOY, [(text, None) for text, _ in ROWS], {}, "expected labelled examples, got {'no label': 56}"),
        (len, ROWS, {}, "got a builtin_function_or_method: what works with it is shield"),
        ("model.py:predict", ROWS, {}, "got the function model.py:predict: what works with it is shield"),
        ("https://example.org/x", ROWS, {}, "got an endpoint: what works with it is shield"),
        (TOY, TOY, {"methods": "plm"}, "expected augment, attack, shield for an embedded model, got plm"),
        (TOY, TOY, {"methods": "agument"}, "did you mean augment?"),
        (TOY, TOY, {"methods": "attack(depwordbug)"}, "did you mean deepwordbug"),
        (TOY, TOY, {"methods": "shield(nrmalise)"}, "did you mean normalise"),
        (TOY, TOY, {"dimensions": ["keyboard@score"]}, "expected dimensions whose cases no model chooses"),
        (TOY, TOY, {"attack": "depwordbug"}, "did you mean deepwordbug"),
        (
            TOY,
            TOY,
            {
                "attack": "deepwordbug",
                "goal": "tags",
                "encoder": "chrf",
                "methods": "shield(normalise)",
                "dimensions": ["keyboard"],
            },
            "expected data with a tag per token for the goal tags",
        ),
        (TOY, "toy:tone", {}, "expected data for toy:sentiment"),
        (TOY, None, {}, "expected DATA, or --train FILE with --test FILE, got neither"),
        (
            "none.py:f",
            ROWS,
            {"methods": "shield(normalise)", "dimensions": ["keyboard"]},
            "none.py: expected a Python file, got nothing of that name",
        ),
        (
            "nofolder",
            ROWS,
            {"methods": "shield(normalise)"},
            "expected the folder of a model or an id as owner/name, got nofolder",
        ),
        ("./nofolder", ROWS, {"methods": "shield(normalise)"}, "got ./nofolder"),
        (TOY, TOY, {"epochs": 0}, "expected a whole number from 1 for harden.epochs"),
        (TOY, TOY, {"exmples": 3}, "did you mean examples"),
    ],
)
def test_the_preflight_stops_what_cannot_work(
    model: Any, data: Any, settings: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        scuff.harden(model, data, tmp_path / "out", **settings)
    assert said in str(caught.value) and "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_hugging_face_model_by_all_methods(tmp_path: Path) -> None:
    """Pretraining, augmentation, attacks and a shield, one after the other, on a tiny real model."""
    pytest.importorskip("transformers")
    from scuff.training.schedule import Schedule
    from scuff.training.trainer import fine_tune
    from training.toys import save_start, sentences

    start, data = save_start(tmp_path / "encoder"), sentences(300, 1)
    quick = Schedule(rate=1e-2, epochs=6, batch_tokens=512, smoothing=0.0)
    fine_tune(start, sentences(300, 0), sentences(60, 2), tmp_path / "clean", schedule=quick, device="cpu")
    model = str(tmp_path / "clean")
    found = scuff.harden(
        model, data, tmp_path / "out", methods="plm(keyboard, epochs=1),augment(keyboard),attack(deepwordbug),shield(normalise)",
        dimensions=["keyboard", "visual"], degrees=[0.5], cases=1, epochs=2, rate=1e-2, device="cpu", encoder="chrf",
        attack="deepwordbug", attacked=20, options={"max_length": 40, "revision": None},
    )  # fmt: skip
    for name in ("before", "after", "attack-before", "attack-after"):  # computed alike, so that they can be compared
        asked = json.loads((tmp_path / "out" / name / "run.json").read_text())["config"]["options"]
        assert asked == {"max_length": 40, **({"revision": None} if name.endswith("before") else {})}
    assert 'options: {"max_length": 40}' in (tmp_path / "out/settings.yaml").read_text()
    assert found.model == str(tmp_path / "out" / "model") and list(found.proof["training"]) == [
        "plm",
        "fine-tune",
        "attack",
    ]
    assert found.attack and found.proof["shield"] == "normalise"
    card = (tmp_path / "out/model/README.md").read_text()
    told = " ".join(card.split())
    assert card.startswith("---\nlibrary_name: transformers\npipeline_tag: text-classification\n")
    assert "adversarial examples by deepwordbug" in told and "use it with the shield" in told
    again = scuff.evaluate(found.model, data, dimensions=["keyboard"], degrees=[0.5], cases=1, examples=20)
    assert again.clean > 0.7


@pytest.mark.slow
@pytest.mark.parametrize(("name", "goal"), [("tagged", "tags"), ("pairs", None), ("label_sets", None)])
def test_tags_pairs_and_label_sets(name: str, goal: str | None, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from scuff.training.trainer import fine_tune
    from training import toys

    make, quick = getattr(toys, name), {"rate": 1e-2, "epochs": 5, "batch_tokens": 512}
    fine_tune(
        toys.save_start(tmp_path / "encoder"),
        make(300, 0),
        make(60, 2),
        tmp_path / "clean",
        schedule=quick,
        device="cpu",
    )
    found = scuff.harden(
        str(tmp_path / "clean"), make(200, 1), tmp_path / "out", methods="augment,shield(normalise)", degrees=[0.3], cases=1,
        dimensions=["visual", "truncate"], epochs=2, rate=1e-2, device="cpu", attack="deepwordbug", attacked=5, goal=goal,
        encoder="chrf", side="both" if name == "pairs" else None,
    )  # fmt: skip
    assert found.clean["after"] is not None and found.clean["after"] > 0.9
    assert found.seen and found.unseen and (found.seen["difference"] or 0) >= 0
    assert (found.proof["comparison"]["clean_auc"] is not None) == (name == "label_sets")


@pytest.mark.parametrize(("examples", "words"), [(30, "without a clear change"), (500, "at no measurable price")])
def test_no_difference_in_few_examples_is_no_proof(examples: int, words: str, hardened: scuff.HardenResult) -> None:
    same = (np.float64(0.8), np.linspace(0.7, 0.9, 100))
    change = change_of(same, same, examples)
    assert change["difference"] == 0 and change["interval"] == [-3 / examples, 3 / examples]
    proof = {**hardened.proof, "comparison": {**hardened.proof["comparison"], "clean": change}}
    assert words in proof_words(proof)[0]  # type: ignore[arg-type]


def test_the_first_sentence_names_sure_losses(hardened: scuff.HardenResult) -> None:
    unclear: Change = {"before": 0.8, "after": 0.8, "difference": 0.0, "interval": [-0.02, 0.02]}
    lost: Change = {"before": 0.8, "after": 0.7, "difference": -0.1, "interval": [-0.15, -0.05]}
    found = hardened.proof["comparison"]
    dimensions = {name: {**each, "average": unclear} for name, each in found["dimensions"].items()}
    dimensions["keyboard"]["average"] = lost
    groups = {name: {"dimensions": 1, "average": unclear, "worst": unclear, "auc": None} for name in ("seen", "unseen")}
    comparison = {
        **found, "clean": unclear, **groups, "dimensions": dimensions,
        "all": {"dimensions": 2, "average": unclear, "worst": lost, "auc": None},
    }  # fmt: skip
    assert proof_words({**hardened.proof, "comparison": comparison})[0] == (  # type: ignore[typeddict-item]
        "No clear change in robustness, without a clear change on clean texts; surely worse: the worst case, keyboard."
    )


def test_a_difference_that_may_be_chance_is_no_warning() -> None:
    before, weight = np.ones(100), np.ones(100)
    slightly, much = before.copy(), before.copy()
    slightly[:2], much[:20] = 0, 0
    assert not surely_lower(before, slightly, weight) and surely_lower(before, much, weight)
    assert not surely_lower(before, before, weight) and not surely_lower(before, before * np.nan, weight)


def test_damaged_folders_are_named_in_one_line(hardened: scuff.HardenResult, tmp_path: Path) -> None:
    model, out = tmp_path / "model", tmp_path / "out"
    shutil.copytree(hardened.model, model)
    whole = (model / "weights.npz").read_bytes()
    for damaged in (b"not weights", whole[: len(whole) // 2], b"", whole[:200] + b"\0" * 50 + whole[250:]):
        (model / "weights.npz").write_bytes(damaged)
        with pytest.raises(
            ValueError, match=r"weights\.npz: expected the weights of an embedded model, got a damaged file"
        ):
            Toy.of_folder(model).weights  # noqa: B018
    out.mkdir()
    (out / "harden.json").write_text('{"scuff": "1')
    with pytest.raises(BadRun, match=r"harden\.json: expected the settings of a hardening, got a damaged file"):
        scuff.harden(TOY, TOY, out, methods="augment(keyboard)", **FAST)


def test_the_plan_says_what_cannot_be_measured_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lacks(dimension: Any) -> None:
        if dimension.name in ("synonym", "inflection"):
            raise MissingResource("expected a package, got none: pip install 'scuff[english]'")

    monkeypatch.setattr("scuff.evaluation.plan._try", lacks)
    said: list[str] = []
    settings = HardenSettings.of(methods="augment(keyboard)")
    Hardening(TOY, TOY, tmp_path / "out", settings, Doors(scuff.evaluate, scuff.attack), said.append).tell()
    words = "left out: synonym, inflection (expected a package, got none: pip install 'scuff[english]')"
    assert said[-1].strip() == words and "synonym" not in "".join(said[:-1])
