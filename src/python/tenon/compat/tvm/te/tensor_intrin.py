"""Tensor intrinsics."""

from .... import _tenon
from ..tir.buffer import decl_buffer


class TensorIntrin:
    """A tensor intrinsic, called on regions of tensors, scalars and reduction axes."""

    def __init__(self, op, made, inputs, buffers, scalar_params, parts):
        self.op = op
        self.made = made
        self.inputs = inputs
        self.buffers = buffers
        self.scalar_params = scalar_params
        self.body, self.reduce_init, self.reduce_update = parts
        self.name = made.name

    def __call__(self, *args, reduce_axis=None):
        regions, scalars = [], []
        for arg in args:
            if isinstance(arg, _tenon.te.TensorRegion):
                regions.append(arg)
            elif isinstance(arg, _tenon.te.Tensor):
                regions.append(arg[tuple(slice(None) for _ in range(arg.ndim))])
            else:
                region = as_region(arg)
                if region is None:
                    scalars.append(arg)
                else:
                    regions.append(region)
        if reduce_axis is None:
            axes = []
        else:
            axes = list(reduce_axis) if isinstance(reduce_axis, (tuple, list)) else [reduce_axis]
        return self.made(*regions, reduce_axis=axes, scalars=scalars)

    def __eq__(self, other):
        return hasattr(other, "op") and self.op.same_as(other.op)

    def __hash__(self):
        return hash(self.op)


def as_region(arg):
    """Returns the region of a read of one element, or None for another argument."""
    if not isinstance(arg, _tenon.Expr) or not isinstance(arg.node, _tenon.tir.ProducerLoad):
        return None
    return arg.node.tensor[tuple(slice(index, index + 1) for index in arg.node.indices)]


def decl_tensor_intrin(
    op, fcompute, name="tensor_intrin", binds=None, scalar_params=None, default_buffer_params=None
):
    """Declares an intrinsic."""
    params = dict(default_buffer_params or {})
    binds = dict(binds or {})
    inputs = list(op.inputs)
    outputs = [op.output(n) for n in range(op.num_outputs)]
    buffers = []
    for tensor in [*inputs, *outputs]:
        known = [buffer for key, buffer in binds.items() if key.same_as(tensor)]
        if not known:
            known = [decl_buffer(tensor.shape, tensor.dtype, tensor.op.name, **params)]
            binds[tensor] = known[0]
        buffers.append(known[0])
    scalars = list(scalar_params or [])
    parts = [None, None, None]

    def body(ins, outs, given_scalars=None):
        ins, outs = list(ins), list(outs)
        made = fcompute(ins, outs, scalars) if scalars else fcompute(ins, outs)
        if not isinstance(made, (list, tuple)):
            made = [made]
        for n, part in enumerate(made):
            if isinstance(part, _tenon.Expr):
                part = _tenon.Stmt(_tenon.tir.Evaluate(part))
            parts[n] = part
        return tuple(parts)

    options = {"scalar_params": scalars} if scalars else {}
    made = _tenon.te.decl_tensor_intrin(op, body, binds=binds, name=name, **options)
    return TensorIntrin(op, made, inputs, buffers, scalars, parts)


TENSORIZE = _tenon.te.Stage.tensorize


def tensorize(self, var, tensor_intrin):
    """Replaces a loop and those inside it by an intrinsic of this layer or of Tenon."""
    made = tensor_intrin.made if isinstance(tensor_intrin, TensorIntrin) else tensor_intrin
    return TENSORIZE(self, var, made)


_tenon.te.Stage.tensorize = tensorize
