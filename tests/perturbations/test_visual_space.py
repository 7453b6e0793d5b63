"""build/glyphs: the VAE-GAN as published, its judge, and the page that shows the numbers."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import scuff

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def glyphs() -> Iterator[SimpleNamespace]:
    """The modules of build/glyphs that run without fonts."""
    pytest.importorskip("torch")
    sys.path.insert(0, str(ROOT / "build/glyphs"))
    import compare
    import judge
    import networks
    import paper

    yield SimpleNamespace(compare=compare, judge=judge, networks=networks, paper=paper)
    sys.path.remove(str(ROOT / "build/glyphs"))
    for name in ("compare", "judge", "networks", "paper", "table"):
        del sys.modules[name]


@pytest.mark.slow
def test_the_published_encoder_pools_and_sees_no_pixel_loss(glyphs: SimpleNamespace) -> None:
    """Larsen's Algorithm 1, the gradients of each network against those of its loss, written out."""
    import torch
    import torch.nn.functional as F

    torch.manual_seed(0)
    made = (glyphs.networks.Encoder(True), glyphs.networks.Decoder(True), glyphs.networks.Discriminator())
    assert sum(isinstance(part, torch.nn.MaxPool2d) for part in made[0].modules()) == 3
    assert not any(isinstance(part, torch.nn.MaxPool2d) for part in glyphs.networks.Encoder().modules())
    for part in made:
        part.double()
    x, noise, gamma = torch.rand(3, 1, 24, 24).double(), torch.randn(2, 3, 256).double(), 0.01
    parts = copy.deepcopy(made)
    glyphs.paper.set_gradients(x, noise, *made, gamma)

    encoder, decoder, judge = parts
    mean, spread = encoder(x)
    z = mean + torch.exp(spread / 2) * noise[0]
    pictures = torch.cat([x, decoder(torch.cat([z, noise[1]]))])
    features, verdict = judge(pictures)
    prior = torch.distributions.kl_divergence(
        torch.distributions.Normal(mean, torch.exp(spread / 2)), torch.distributions.Normal(0.0, 1.0)
    )
    llike = sum(0.5 * ((features[3 + n] - features[n].detach()) ** 2).sum() for n in range(3)) / 3
    real = -F.logsigmoid(verdict[:3]).mean()
    fake = [-F.logsigmoid(-verdict[3:6]).mean(), -F.logsigmoid(-verdict[6:]).mean()]
    gan = real + sum(fake)
    losses = (prior.sum() / 3 + llike, gamma * llike - gan, gan)
    for part, mine, loss in zip(parts, made, losses, strict=True):
        expected = torch.autograd.grad(loss, list(part.parameters()), retain_graph=True)
        for gradient, parameter in zip(expected, mine.parameters(), strict=True):
            assert torch.allclose(gradient, parameter.grad, rtol=1e-6, atol=1e-9)


@pytest.mark.slow
def test_training_as_published_learns(glyphs: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(glyphs.paper, "BATCH", 8)
    images = torch.zeros(8, 24, 24)
    images[torch.arange(8), :, torch.arange(8)] = 1  # a bar that stands somewhere else in each
    settings = {"pooled": False, "gamma": 0.1, "seed": 0, "name": "trial"}
    *_, history = glyphs.paper.train(images, epochs=5, **settings)
    assert history[-1]["llike"] < history[0]["llike"] and history[-1]["pixels"] < history[0]["pixels"]
    with pytest.raises(RuntimeError, match="trial diverged in epoch 1"):
        glyphs.paper.train(images * float("nan"), epochs=1, **settings)


def test_the_judge_counts_confusables(glyphs: SimpleNamespace, tmp_path: Path) -> None:
    listed = tmp_path / "confusables.txt"
    listed.write_text("0430 ;\t0061 ;\tMA\t# а\n03B1 ;\t0061 ;\tMA\n043E ;\t006F ;\tMA\n", encoding="utf-8")
    alike = glyphs.judge.confusables(listed)
    assert alike[ord("a")] == {0x430, 0x3B1}
    codes = np.array([ord("a"), ord("o"), 0x430, 0x43E], np.uint16)
    near = np.array([[0x430, ord("o")], [0x430, ord("a")], [ord("a"), 0], [ord("a"), 0]], np.uint16)
    found = glyphs.judge.judge(codes, near, alike)
    assert found["all"] == 0.5 and found["ASCII letters"] == 0.5 and found["characters"] == 4
    assert found["bad"] == 0.5, "o for a and a for o, of four neighbours"
    shares = glyphs.judge.shares(codes, near, alike)
    assert shares == {ord("a"): 1, ord("o"): 0, 0x430: 1, 0x43E: 0}
    middle, low, high = glyphs.judge.difference(shares, dict.fromkeys(shares, 0.0), alike)
    assert middle == 0.5 and low <= 0.5 <= high


def test_the_conclusion_follows_from_the_intervals(glyphs: SimpleNamespace) -> None:
    names = {"mixed-0": 0.5, "paper-0": 0.4, "paper-1": 0.41, "ices": 0.4}
    spaces = [{"name": name, "title": name, "judged": {"all": value, "bad": 0.0}} for name, value in names.items()]
    row = {"first": "as published, seed 0", "second": "raw pixels", "difference": [0.0, -0.01, 0.01]}
    better = {
        "first": "shipped recipe, trained again",
        "second": "as published, seed 0",
        "difference": [0.1, 0.08, 0.12],
    }
    said = " ".join(glyphs.judge.conclusion({"spaces": spaces, "differences": [row, better]}))
    assert "40.0 % and 41.0 % of the partners, raw pixels 40.0 %: it is not shown to differ from raw pixels" in said
    assert "50.0 %, is better than the published one." in said
    worse = [{**row, "difference": [-0.1, -0.2, -0.01]}, {**better, "difference": [-0.1, -0.2, 0.1]}]
    said = " ".join(glyphs.judge.conclusion({"spaces": spaces, "differences": worse}))
    assert "it is worse than raw pixels" in said and "not shown to differ from the published one" in said
    assert glyphs.judge.conclusion({"spaces": spaces[3:], "differences": []}) == []


def test_what_is_judged_is_what_is_shipped(glyphs: SimpleNamespace) -> None:
    for space, (codes, near) in glyphs.compare.shipped().items():
        offered = set(map(chr, near[np.searchsorted(codes, ord("e"))].tolist())) - {"\0"}
        drawn = {scuff.perturb("e", f"visual(space={space!r})", 1, seed=seed) for seed in range(80)}
        assert len(drawn) > 10 and drawn <= offered
    unit = np.eye(25, dtype=np.float32)[:22] + 0.5 * np.eye(25, dtype=np.float32)[1:23]
    assert glyphs.compare.nearest(np.arange(22, dtype=np.uint16), unit)[5, :2].tolist() == [4, 6]


def test_the_page_has_the_numbers_that_were_kept(glyphs: SimpleNamespace) -> None:
    kept = ROOT / "docs/results/visual.json"
    page = (ROOT / "docs/visual.md").read_text(encoding="utf-8")
    assert page.count(glyphs.judge.BEGIN) == 1 and glyphs.judge.END in page.split(glyphs.judge.BEGIN)[1]
    if kept.exists():
        assert glyphs.judge.written(json.loads(kept.read_text(encoding="utf-8"))) in page
