"""Functions of loops as operations, as `tvm.te.hybrid`."""

import functools
import inspect
import types

from ..... import _tenon
from ...modules import refuse_others
from .. import operation
from ..tensor import Tensor
from .parser import Parser, WidenedScalar
from .runtime import HYBRID_GLOBALS


def is_symbolic(arg):
    if isinstance(arg, (list, tuple)):
        return any(is_symbolic(item) for item in arg)
    return isinstance(arg, (_tenon.Expr, _tenon.IterVar, Tensor))


def declared(function, args):
    """Returns the tensors that a function computes from tensors."""
    widened = {}
    while True:
        parser = Parser(function, args, widened=widened)
        try:
            body = parser.run()
            break
        except WidenedScalar:
            continue
    order = [parser.outputs.index(array) for array in parser.returned]
    made = _tenon.te.extern_op(
        [tuple(array.shape) for array in parser.outputs],
        [tensor for tensor, _ in parser.inputs],
        lambda ins, outs: body,
        function.__name__,
        dtype=[str(array.dtype) for array in parser.outputs],
        input_buffers=[array.buffer for _, array in parser.inputs],
        output_buffers=[array.buffer for array in parser.outputs],
        tag=operation.tag_or_current(""),
    )
    made = made if isinstance(made, list) else [made]
    outputs = [made[n] for n in order]
    return outputs[0] if len(outputs) == 1 else outputs


def script(pyfunc):
    """Decorates a function. Called with tensors, it declares an operation; with arrays, it runs."""

    @functools.wraps(pyfunc)
    def call(*args):
        if any(is_symbolic(arg) for arg in args):
            return declared(pyfunc, args)
        names = {**pyfunc.__globals__, **HYBRID_GLOBALS}
        runs = types.FunctionType(
            pyfunc.__code__, names, pyfunc.__name__, pyfunc.__defaults__, pyfunc.__closure__
        )
        return runs(*args)

    call.__signature__ = inspect.signature(pyfunc)
    call.hybrid_function = pyfunc
    return call


class HybridModule:
    """A schedule that is compiled and run when it is called with NumPy arrays. Called with tensors, it
    returns the tensors of its outputs."""

    def __init__(self, sch=None, inputs=None, outputs=None, name="main"):
        self.sch, self.inputs, self.outputs, self.name = sch, inputs, outputs, name

    def __call__(self, *args):
        import numpy

        from ... import driver, nd

        if any(is_symbolic(arg) for arg in args):
            return self.outputs[0] if len(self.outputs) == 1 else list(self.outputs)
        module = driver.build(self.sch, [*self.inputs, *self.outputs])
        given = [a for a in args if not isinstance(a, list)]
        arrays = [nd.array(a) if isinstance(a, numpy.ndarray) else a for a in given]
        sizes = {}
        for tensor, array in zip(self.inputs, given):
            if isinstance(tensor, _tenon.Expr):
                sizes[tensor] = array
            else:
                sizes.update(
                    (extent, size)
                    for extent, size in zip(tensor.shape, numpy.shape(array))
                    if isinstance(extent, _tenon.Var)
                )
        results = []
        for tensor in self.outputs:
            shape = []
            for extent in tensor.shape:
                folded = _tenon.tir.substitute(extent, sizes)
                shape.append(int(_tenon.arith.Analyzer().simplify(folded)))
            results.append(nd.array(numpy.zeros(shape, str(tensor.dtype))))
        module(*arrays, *results)
        made = [result.numpy() for result in results]
        return made[0] if len(made) == 1 else made

    def save(self, path):
        raise NotImplementedError("`HybridModule.save` is not in tenon.compat.tvm; use Module.save")

    def load(self, path):
        raise NotImplementedError("`HybridModule.load` is not in tenon.compat.tvm; use Module.load")


def build(sch, inputs, outputs, name="hybrid_func"):
    return HybridModule(sch, list(inputs), list(outputs), name)


__getattr__ = refuse_others(__name__)
