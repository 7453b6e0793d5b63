"""`Translator`: a network with its vocabularies, which translates, tells its gradients, and is kept in a folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch

from ..huggingface.loading import BadModel, first_line, place
from ..specs import check_count
from ..text.ragged import Floats, Ints
from .decoding import search
from .folder import MODEL_TYPE, is_translator
from .lstm import Lstm
from .network import Batch, Network, Sizes, adversarial_loss, exact, padded
from .transformer import Transformer
from .vocabulary import LEARNERS, PAD, SPECIAL, UNKNOWN, Row, Words, of_state

NETWORKS: dict[str, type[Network]] = {"lstm": Lstm, "transformer": Transformer}

# the paper's, and a Transformer that does not overfit 29,000 sentences
PAPER = {"lstm": Sizes(300, 500, 2), "transformer": Sizes(512, 1024, 6)}
SIZES = {"lstm": PAPER["lstm"], "transformer": Sizes(256, 512, 4)}

Made = TypeVar("Made")

LONGEST = 512  # source pieces that are read
BATCH_TOKENS = {"cpu": 2048, "cuda": 65536}


@dataclass(eq=False)
class Translator:
    """A trained translator. `load` opens one from its folder, `scuff.training.translation` trains one."""

    network: Network
    source: Words
    target: Words
    architecture: str
    sizes: Sizes

    @classmethod
    def build(
        cls, architecture: str, sizes: Sizes, source: Words, target: Words, *, device: str | Any = "cpu"
    ) -> Translator:
        """One with random weights."""
        network = NETWORKS[architecture](sizes, len(source), len(target))
        return cls(network.to(device), source, target, architecture, sizes)

    @property
    def device(self) -> Any:
        return self.network.device

    def rows(self, texts: Sequence[str]) -> list[Row]:
        """The pieces that are read of each text, END left out."""
        return [Row(*(part[:LONGEST] for part in row)) for row in self.source.rows(texts)]

    def translate(self, texts: Sequence[str], *, beam: int = 1, batch_tokens: int | None = None) -> list[str]:
        """A translation of each text, which does not depend on the others: where a batch could decide, the text goes alone."""
        if beam < 1:
            raise ValueError(f"expected 1 or more for beam, got {beam}")
        rows, out = self.rows(texts), [""] * len(texts)
        alone: list[int] = []
        with self.network.steady(), exact(), torch.no_grad():
            for which in self._batches(rows, batch_tokens, beam):
                pieces, places, tied = (
                    part.cpu().numpy() for part in search(self.network, self._batch(rows, which), beam)
                )
                for at, row in enumerate(which.tolist()):
                    out[row] = self._text(texts[row], rows[row], pieces[at], places[at])
                alone += which[tied].tolist() if len(which) > 1 else []
            for row in alone:
                found = search(self.network, self._batch(rows, np.array([row])), beam)
                pieces, places = (part.cpu().numpy()[0] for part in found[:2])
                out[row] = self._text(texts[row], rows[row], pieces, places)
        return out

    def slopes(
        self, texts: Sequence[str], references: Sequence[str], *, batch_tokens: int | None = None
    ) -> list[Floats]:
        """The gradient of eq. (4) by the embedding of each piece of `rows(texts)`: float32[pieces, size]."""
        rows, wanted = self.rows(texts), self.target.rows(references)
        out: list[Any] = [None] * len(rows)
        with self.network.steady(), exact(), torch.enable_grad():
            for which in self._batches(rows, batch_tokens, 1):
                batch = self._batch(rows, which)
                target = torch.from_numpy(padded([wanted[row].ids for row in which], begin=True)).to(self.device)
                embedded = self.network.embed(batch.ids).detach().requires_grad_()
                loss = adversarial_loss(self.network(embedded, batch, target[:, :-1]), target[:, 1:]).sum()
                found = torch.autograd.grad(loss, embedded)[0].cpu().numpy()
                for at, row in enumerate(which.tolist()):
                    out[row] = found[at, : len(rows[row].ids)]
        return out

    def vectors(self) -> Any:
        """The source embeddings as slopes are by: float32[pieces, size]."""
        return self.network.vectors().float().cpu().numpy()

    def save(self, folder: str | Path) -> None:
        """Writes config.json, both vocabularies and the weights into a folder, which is made if there is none."""
        from safetensors.torch import save_file

        out = Path(folder)
        out.mkdir(parents=True, exist_ok=True)
        config = {"model_type": MODEL_TYPE, "architecture": self.architecture, "sizes": asdict(self.sizes)}
        (out / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
        for name, vocabulary in (("source", self.source), ("target", self.target)):
            text = json.dumps(vocabulary.state(), ensure_ascii=False)
            (out / f"vocab_{name}.json").write_text(text + "\n", encoding="utf-8")
        save_file(self._weights(), out / "model.safetensors")

    def _weights(self) -> dict[str, Any]:
        """The weights by name, each once."""
        return {name: value.detach().cpu().contiguous().clone() for name, value in self.network.named_parameters()}

    def _batches(self, rows: Sequence[Row], batch_tokens: int | None, beam: int) -> Iterator[Ints]:
        """Row numbers of each batch, the longest rows first."""
        tokens = batch_tokens or BATCH_TOKENS["cuda" if self.device.type == "cuda" else "cpu"]
        length = np.array([len(row.ids) + 1 for row in rows], np.int64)
        order, at = np.argsort(-length, kind="stable"), 0
        while at < len(order):
            end = at + max(1, tokens // int(length[order[at]] * beam))
            yield order[at:end]
            at = end

    def _batch(self, rows: Sequence[Row], which: Ints) -> Batch:
        ids = torch.from_numpy(padded([rows[row].ids for row in which]))
        return Batch(ids.to(self.device), (ids != PAD).sum(1))

    def _text(self, text: str, row: Row, pieces: Ints, places: Ints) -> str:
        """The text of pieces; <unk> becomes the source piece that it attends to most."""
        end = int((pieces != PAD).sum())
        words = [self.target.pieces[piece] for piece in pieces[:end].tolist()]
        for at in np.flatnonzero(pieces[:end] == UNKNOWN).tolist():
            place = int(places[at])
            words[at] = self.target.marked(text[row.start[place] : row.stop[place]]) if place >= 0 else ""
        return self.target.text(word for word in words if word)


def learn_vocabulary(
    texts: Sequence[str], pieces: str, *, joined: bool, size: int | None = None, least: int = 2
) -> Words:
    """A vocabulary of words or by BPE. size: words, the special ones too (40,000 as in the paper), or operations (8,000)."""
    usual = {"words": 40_000, "bpe": 8_000}
    if size is not None:
        check_count(size, len(SPECIAL) + 1 if pieces == "words" else 1, "vocabulary")
    return LEARNERS[pieces].learn(texts, joined, size=size or usual[pieces], least=least)


def _config(content: dict[str, Any]) -> dict[str, Any]:
    Sizes(**content["sizes"])
    if content["architecture"] not in NETWORKS:
        raise ValueError(f"the architecture {content['architecture']!r}")
    return content


def _read(path: Path, build: Callable[[Any], Made]) -> Made:
    """What a file of a translator holds. Raises BadModel, which says what it should hold, for anything else."""
    try:
        return build(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        got = error.strerror or type(error).__name__
    except KeyError as error:
        got = f"none called {error.args[0]!r}" if error.args else "others"
    except (ValueError, TypeError, AttributeError) as error:
        got = first_line(error)
    holds = (
        "architecture and sizes" if path.name == "config.json" else "a vocabulary: kind, joined, and pieces or model"
    )
    raise BadModel(f"expected a whole translator in {path.parent}, {path.name} with {holds}, got {got}")


def load(folder: str | Path, *, device: str = "auto") -> Translator:
    """Opens a translator from its folder. Raises BadModel if the folder holds none, or a damaged one."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    path, where = Path(folder).expanduser(), place(device)
    if not is_translator(path):
        raise BadModel(f"expected the folder of a translator, with its config.json, got {folder}")
    try:
        config = _read(path / "config.json", _config)
        source, target = (_read(path / f"vocab_{name}.json", of_state) for name in ("source", "target"))
        translator = Translator.build(config["architecture"], Sizes(**config["sizes"]), source, target)
        weights = load_file(path / "model.safetensors")
        missing, unknown = translator.network.load_state_dict(weights, strict=False)
    except BadModel:
        raise
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise BadModel(f"expected a whole translator in {folder}, got {first_line(error)}") from None
    tied = {name for name in missing if name == "output.weight"}  # stored once, with the embeddings
    if unknown or set(missing) - tied:
        named = ", ".join([*unknown, *missing][:3])
        raise BadModel(f"expected the weights of a {config['architecture']} in {folder}, got others: {named}")
    translator.network.to(where).eval()
    return translator
