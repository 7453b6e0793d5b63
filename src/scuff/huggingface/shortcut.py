"""A shortcut through an exported classifier: its last layer is computed for the first piece of each text alone.

BERT and its kin read the class off the first piece. What the last layer says of the others is thrown away, and all of it but
their keys and values need not be computed: of six layers that is a seventh of the work. The graph of the network tells: a tensor
of which everybody takes the first entry along an axis is computed with that one entry. Where others need all of it, it is cut.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]
Shapes = dict[str, tuple[int, ...]]
Run = Callable[[Path, Arrays], list[npt.NDArray[Any]]]  # a file and its inputs to all of its outputs
Demand = tuple[int, int]  # the place of an input, and the axis along which only its first entry is needed

TRIAL, PROOF = (3, 11), (5, 7)  # rows and pieces of two batches: one shows the shapes, one that the logits are the same
CLOSE = 1e-4  # of their size, as which logits are the same
LARGEST = 1 << 30  # bytes of a file that is looked at: the trial holds all tensors in memory

# operations on single entries
SINGLE = {
    "Add", "And", "Cast", "Clip", "Div", "Elu", "Equal", "Erf", "Exp", "Gelu", "HardSigmoid", "Identity", "IsNaN", "LeakyRelu",
    "Log", "Mish", "Mul", "Neg", "Not", "Or", "Pow", "Relu", "Selu", "Sigmoid", "Softplus", "Sqrt", "Sub", "Tanh", "Where",
}  # fmt: skip
# operations with which sizes of tensors are computed
SIZES = {"Cast", "Concat", "Gather", "Identity", "Mul", "Slice", "Squeeze", "Unsqueeze"}


def shorten(file: Path, inputs: Arrays, run: Run) -> bool:
    """Rewrites an ONNX file in place, if there is a shortcut. Returns whether there was one.

    inputs: the arrays that the network takes, with any number of rows and pieces. run: runs a file, with any number of outputs.
    """
    import onnx

    if file.stat().st_size > LARGEST:
        return False
    short, new = onnx.load(str(file)), file.with_name("short.onnx")
    trial, proof = (_sized(inputs, *size) for size in (TRIAL, PROOF))
    try:
        if not _Graph(short.graph, tensor_shapes(file, trial, run)).narrow():
            return False
        onnx.save(short, str(new))
        if not _same(run(file, proof)[0], run(new, proof)[0]):
            return False
        new.replace(file)
        return True
    except OSError:
        raise
    except Exception:  # of a backend's own classes: what it cannot run is no shortcut
        return False
    finally:
        new.unlink(missing_ok=True)


class _Graph:
    """The nodes of a network, which `narrow` changes. shapes: of all tensors, in a batch of TRIAL's size."""

    def __init__(self, graph: Any, shapes: Shapes) -> None:
        self.graph, self.shapes = graph, shapes
        self.users: defaultdict[str, list[tuple[Any, int]]] = defaultdict(list)
        for node in graph.node:
            for place, name in enumerate(node.input):
                self.users[name].append((node, place))
        self.constant = constants(graph)
        self.narrowed: dict[str, int] = {}  # tensors that are computed with one entry, and along which axis
        self.last = {one.name for one in graph.output}

    def narrow(self) -> bool:
        """Computes as little as possible. Returns whether that is less than before."""
        for node in reversed(self.graph.node):  # those who use a tensor come before the one that makes it
            for name in node.output:
                axes = {self._needed(user, place) for user, place in self.users[name] if user.op_type != "Shape"}
                axis = axes.pop() if len(axes) == 1 and name not in self.last else None
                if axis is not None and self._demands(node, axis) is not None and self._sizes_agree(name):
                    self.narrowed[name] = axis
        if not any(self._weighs(node) for node in self.graph.node):
            return False
        nodes = [new for node in self.graph.node for new in self._rewritten(node)]
        del self.graph.node[:], self.graph.value_info[:]
        self.graph.node.extend(nodes)
        return True

    def _weighs(self, node: Any) -> bool:
        """Whether a multiplication by weights became smaller."""
        return node.op_type == "MatMul" and node.input[1] in self.constant and node.output[0] in self.narrowed

    def _needed(self, user: Any, place: int) -> int | None:
        """The axis along which a user needs the first entry of one of its inputs alone; None if it needs more."""
        if user.op_type == "Gather" and place == 0:
            index, axis = self.constant.get(user.input[1]), _option(user, "axis", 0)
            return axis if index is not None and index.size == 1 and not index.any() and axis > 0 else None
        if user.output[0] not in self.narrowed:
            return None
        return dict(self._demands(user, self.narrowed[user.output[0]]) or ()).get(place)

    def _demands(self, node: Any, axis: int) -> list[Demand] | None:
        """What a node needs to compute the first entry of its output along an axis; None if that saves nothing."""
        kind, out = node.op_type, self.shapes[node.output[0]]
        if out[axis] != TRIAL[1]:
            return None
        first = self.shapes.get(node.input[0], ())
        if kind in SINGLE:
            places = enumerate(len(self.shapes[name]) - len(out) + axis for name in node.input)
            return [(at, own) for at, own in places if own >= 0 and self.shapes[node.input[at]][own] > 1]
        if kind == "MatMul" and axis == len(out) - 2 and len(first) >= 2:
            return [(0, len(first) - 2)]
        if kind in ("Softmax", "LayerNormalization") and axis < _option(node, "axis", -1) % len(out):
            return [(0, axis)]
        if kind == "Transpose":
            return [(0, _option(node, "perm", [])[axis])]
        if kind == "Reshape":
            own = _kept(first, out, axis)
            return None if own is None else [(0, own)]
        return None

    def _sizes_agree(self, name: str) -> bool:
        """Whether the size of a tensor, if anybody asks for it, only decides the shapes of others that are narrowed, too."""
        found = [user for user, _ in self.users[name] if user.op_type == "Shape"]
        while found:
            for user, place in self.users[found.pop().output[0]]:
                if user.op_type in SIZES:
                    found.append(user)
                elif user.op_type != "Reshape" or place != 1 or user.output[0] not in self.narrowed:
                    return False
        return True

    def _rewritten(self, node: Any) -> Iterator[Any]:
        """The node with its inputs cut, behind the nodes that cut them."""
        from onnx import helper

        axis = self.narrowed.get(node.output[0]) if node.output else None
        if axis is None:
            yield node
            return
        for place, own in self._demands(node, axis) or ():
            if node.input[place] not in self.narrowed:
                cut = f"{node.input[place]}:first:{node.output[0]}"
                for name, value in ((f"{cut}:0", 0), (f"{cut}:1", 1), (f"{cut}:axis", own)):
                    yield _number(name, value)
                yield helper.make_node("Slice", [node.input[place], f"{cut}:0", f"{cut}:1", f"{cut}:axis"], [cut])
                node.input[place] = cut
        if node.op_type == "Reshape":
            yield from self._resized(node, axis)
        yield node

    def _resized(self, node: Any, axis: int) -> Iterator[Any]:
        """Nodes that put 1 in place of an entry of the shape that a node writes."""
        from onnx import helper

        sizes = f"{node.output[0]}:sizes"
        for name, value in ((f"{sizes}:at", axis), (f"{sizes}:one", 1)):
            yield _number(name, value)
        yield helper.make_node("ScatterElements", [node.input[1], f"{sizes}:at", f"{sizes}:one"], [sizes], axis=0)
        node.input[1] = sizes


def _kept(before: tuple[int, ...], after: tuple[int, ...], axis: int) -> int | None:
    """The axis of a tensor that another shape leaves as it is and calls `axis`; None if there is none."""
    for own, size in enumerate(before):
        if size == after[axis] and np.prod(before[:own]) == np.prod(after[:axis]):
            return own
    return None


def _number(name: str, value: int) -> Any:
    """A node that makes int64[1]."""
    from onnx import helper, numpy_helper

    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.array([value], np.int64)))


def _option(node: Any, name: str, default: Any) -> Any:
    from onnx import helper

    return next((helper.get_attribute_value(one) for one in node.attribute if one.name == name), default)


def _sized(inputs: Arrays, rows: int, pieces: int) -> Arrays:
    """A batch of another size, of the same values and some beside them; the last row has padding."""
    out = {name: np.resize(array, (rows, pieces)) for name, array in inputs.items()}
    if "input_ids" in out:
        out["input_ids"] = (
            out["input_ids"] + np.arange(rows * pieces, dtype=out["input_ids"].dtype).reshape(rows, -1) % 50
        )
    if "attention_mask" in out:
        out["attention_mask"] = np.ones_like(out["attention_mask"])
        out["attention_mask"][-1, pieces // 2 :] = 0
    return out


def tensor_shapes(file: Path, inputs: Arrays, run: Run) -> Shapes:
    """The shapes of all tensors of a network for a batch."""
    import onnx

    model = onnx.load(str(file))
    names = [name for node in model.graph.node if node.op_type != "Constant" for name in node.output if name]
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    wide = file.with_name("wide.onnx")
    onnx.save(model, str(wide))
    try:
        found = {name: np.shape(array) for name, array in zip(names, run(wide, inputs), strict=True)}
    finally:
        wide.unlink()
    given = {name: array.shape for name, array in inputs.items()}
    return given | {name: value.shape for name, value in constants(model.graph).items()} | found


def constants(graph: Any) -> Arrays:
    """The weights and other constants of a network."""
    from onnx import numpy_helper

    own = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    made = (node for node in graph.node if node.op_type == "Constant")
    return own | {node.output[0]: numpy_helper.to_array(node.attribute[0].t) for node in made}


def _same(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    return one.shape == other.shape and bool(np.abs(one - other).max() <= CLOSE * max(1.0, float(np.abs(one).max())))
