"""Classes of TVM's nodes, and TVM's attributes of Tenon's classes.

Tenon has one class of expressions and one of statements, and TVM has one class per kind of node. A class
here denotes a kind: `isinstance(e, tvm.tir.Add)` tests the kind of `e`, and `tvm.tir.Add(a, b)` builds an
expression. The attributes that TVM's nodes have, such as `e.a` and `loop.body`, are added to Tenon's
classes when this module is imported. `add` does not replace attributes."""

from ... import _tenon
from ..._tenon import _compat as facts


NODES = (_tenon.Expr, _tenon.Stmt, _tenon.tir.Block, _tenon.te.Operation)


class Kind(type):
    """The metaclass of classes that denote kinds of nodes. `kinds` are the kinds of the instances; with
    `instance`, the instances are the values for which it returns true."""

    def __new__(mcs, name, bases, namespace, kinds=None, instance=None):
        cls = super().__new__(mcs, name, bases, namespace)
        cls.kinds = (name,) if kinds is None else kinds
        cls.instance = instance
        return cls

    def __init__(cls, name, bases, namespace, **options):
        super().__init__(name, bases, namespace)

    def __instancecheck__(cls, value):
        if cls.instance is not None:
            return bool(cls.instance(value))
        if not isinstance(value, NODES):
            return False
        return kind_of(value) in cls.kinds

    def __subclasscheck__(cls, other):
        is_narrower = isinstance(other, Kind) and set(other.kinds) <= set(cls.kinds)
        return is_narrower or cls in other.__mro__

    def __call__(cls, *args, **kwargs):
        make = cls.__dict__.get("make")
        if make is None:
            raise NotImplementedError(
                f"`{cls.__name__}` cannot be constructed in tenon.compat.tvm; use the functions of "
                "tvm.tir, or tvm.script"
            )
        return make.__func__(*args, **kwargs)


def kind_class(name, **options):
    """Returns a class that cannot be constructed, with the options of Kind."""
    return Kind(name, (), {}, **options)


# ---- kinds and fields with TVM's names ------------------------------------------------------------

COMPARISONS = {"Eq": "EQ", "Ne": "NE", "Lt": "LT", "Le": "LE", "Gt": "GT", "Ge": "GE"}
DIVISIONS = {"TruncDiv": "Div", "TruncMod": "Mod"}
KINDS = {
    "Assert": "AssertStmt",
    "Attr": "AttrStmt",
    "If": "IfThenElse",
    "Let": "LetStmt",
    "LetExpr": "Let",
    "Load": "BufferLoad",
    "Realize": "BufferRealize",
    "Seq": "SeqStmt",
    "Store": "BufferStore",
}
# Tenon's names of fields, by TVM's name.
FIELDS = {
    "attr_key": "key",
    "bounds": "region",
    "buffer_var": "data",
    "false_value": "if_false",
    "iter_values": "values",
    "iter_vars": "iters",
    "loop_var": "var",
    "name_hint": "name",
    "node": "subject",
    "producer": "tensor",
    "seq": "stmts",
    "true_value": "if_true",
}
# The fields of these kinds have Tenon's names in TVM too.
SAME = {"VarNode", "LetExpr", "Let", "BufferRegion"}
FOR_KINDS = ("serial", "parallel", "vectorized", "unrolled", "thread_binding")


def kind_of(x):
    """Returns TVM's name of the kind of an expression, statement, block or operation."""
    if isinstance(x, _tenon.te.Operation):
        return facts.kind(x)
    if isinstance(x, _tenon.tir.Block):
        return "Block"
    node = x.node
    name = type(node).__name__
    if name == "Binary":
        return COMPARISONS.get(node.op) or DIVISIONS.get(node.op, node.op)
    if name == "VarNode":
        return "SizeVar" if node.is_size else "Var"
    return KINDS.get(name, name)


def field(x, name):
    """Returns a field by TVM's name. Raises AttributeError if the node does not have the field."""
    node = x if isinstance(x, _tenon.tir.Block) else x.node
    kind = type(node).__name__
    if kind == "For" and name == "kind":
        return FOR_KINDS.index(node.kind)
    if kind == "For" and name == "thread_binding":
        return node.thread
    if name == "annotations":
        return facts.annotations(x)
    if kind == "Call":
        # An operator that a user defines is an external function of its name.
        is_function = node.is_extern and not node.name.startswith("tir.")
        if name == "op" and is_function:
            return Op(f"tir.call_{'pure_' * node.is_pure}extern")
        if name == "op":
            return Op(f"tir.{node.name.removeprefix('tir.')}")
        if name == "args" and is_function:
            return [facts.make_string(node.name), *node.args]
    if kind == "Assert" and name == "message":
        return facts.make_string(node.message)
    if kind in ("Store", "Realize") and name == "producer":
        return Producer(node.buffer)
    own_name = name if kind in SAME else FIELDS.get(name, name)
    for each in (own_name, name):
        if hasattr(type(node), each):
            return getattr(node, each)
    raise AttributeError(f"a {kind_of(x)} of tvm.tir has no attribute `{name}`")


# ---- attributes of Tenon's classes ----------------------------------------------------------------


class Named:
    """A value that is known by its name: two values of one class with the same name are equal."""

    def __init__(self, name):
        self.name = name

    @classmethod
    def get(cls, name):
        return cls(name)

    def __eq__(self, other):
        return type(other) is type(self) and self.name == other.name

    def __hash__(self):
        return hash(self.name)


class Op(Named):
    """The intrinsic or external function that a call names."""

    def same_as(self, other):
        return self == other

    def __repr__(self):
        return f"Op({self.name})"


def node_attribute(self, name):
    if name.startswith("__"):
        raise AttributeError(name)
    return None if name == "span" else field(self, name)


EXPR_VALUE = _tenon.Expr.value


def expr_value(self):
    """The number or text of a constant; the operand of a cast or broadcast."""
    if kind_of(self) in ("Cast", "Broadcast", "Let"):
        return self.node.value
    return EXPR_VALUE.__get__(self)


class Producer:
    """The tensor that a loop program stores or realizes, known by its buffer's name."""

    def __init__(self, buffer):
        self.buffer = buffer
        self.name = buffer.name
        self.shape = buffer.shape
        self.dtype = buffer.dtype

    @property
    def op(self):
        return self

    @property
    def value_index(self):
        _, separator, number = self.name.rpartition(".v")
        return int(number) if separator and number.isdigit() else 0

    def __eq__(self, other):
        return self.name.partition(".v")[0] == other.name.partition(".v")[0]

    def __hash__(self):
        return hash(self.name)


def sequence_item(self, index):
    return field(self, "seq")[index]


def sequence_length(self):
    return len(field(self, "seq"))


def axis_attribute(self, name):
    if name == "iter_type":
        return ITER_TYPES[self.kind]
    if name == "thread_tag":
        return self.thread or ""
    raise AttributeError(name)


ITER_TYPES = {
    "DataPar": 0,
    "ThreadIndex": 1,
    "CommReduce": 2,
    "Ordered": 3,
    "Opaque": 4,
    "Unrolled": 5,
    "Vectorized": 6,
    "Parallelized": 7,
    "Tensorized": 8,
}


def operation_attribute(self, name):
    if name == "input_tensors":
        return self.inputs
    fields = facts.fields(self)
    if name in fields:
        return fields[name]
    raise AttributeError(f"a {facts.kind(self)} of tvm.te has no attribute `{name}`")


OPERATION_BODY = _tenon.te.Operation.body


def operation_body(self):
    """The expressions of a compute, or the statement of an extern operation."""
    if facts.kind(self) == "ExternOp":
        return facts.fields(self)["body"]
    return OPERATION_BODY.__get__(self)


def text_with_types(self):
    """The text of TVM 0.9, which names the type of a variable where it first occurs."""
    return str(_tenon.Stmt(_tenon.tir.Evaluate(self))).strip()


def tensor_attribute(self, name):
    if name == "axis":
        return self.op.axis
    raise AttributeError(name)


class StageOf:
    """The stage that another stage is attached to. It equals the stage that has the axis as a loop."""

    def __init__(self, axis):
        self.axis = axis

    def __eq__(self, other):
        return any(self.axis.same_as(axis) for axis in other.all_iter_vars)


class AxisMarks:
    """The marks of one axis in a schedule."""

    def __init__(self, marks):
        self.iter_type = ITER_TYPES.get(marks["kind"] or "DataPar", 0)
        self.bind_thread = marks.get("bind_thread")
        self.tensor_intrin = marks.get("tensor_intrin")
        self.pragma_keys = marks["pragma_keys"]
        self.pragma_values = marks["pragma_values"]


class MarksByAxis:
    def __init__(self, pairs):
        self.pairs = pairs

    def __getitem__(self, axis):
        for known, marks in self.pairs:
            if known.same_as(axis):
                return AxisMarks(marks)
        raise KeyError(axis)

    def __contains__(self, axis):
        return any(known.same_as(axis) for known, _ in self.pairs)


class Relation:
    def __init__(self, kind, parents, children):
        self.kind = kind
        self.parents = parents
        self.children = children


ATTACH_TYPES = {"root": 1, "inline": 2, "at": 4, "scan_update": 5}


def stage_attribute(self, name):
    fields = facts.stage_fields(self)
    if name == "attach_type":
        return ATTACH_TYPES[fields["attach"]]
    if name == "attach_stage":
        return StageOf(fields["attach_ivar"]) if "attach_ivar" in fields else None
    if name == "iter_var_attrs":
        return MarksByAxis(fields["iter_var_attrs"])
    if name == "relations":
        return [Relation(*relation) for relation in fields["relations"]]
    if name in fields:
        return fields[name]
    raise AttributeError(f"a stage of tvm.te has no attribute `{name}`")


def add(cls, **attributes):
    """Adds attributes to a class of Tenon, except those that the class has."""
    for name, value in attributes.items():
        if not hasattr(cls, name):
            setattr(cls, name, value)


def is_same_block(a, b):
    """Whether two blocks are one block: they have one name and share their body."""
    return isinstance(b, _tenon.tir.Block) and a.name == b.name and a.body.same_as(b.body)


for node_class in (_tenon.Expr, _tenon.Stmt, _tenon.tir.Block):
    add(node_class, __getattr__=node_attribute)
_tenon.tir.Block.__eq__ = _tenon.tir.Block.same_as = is_same_block
_tenon.tir.Block.__hash__ = lambda self: hash(self.name)
_tenon.Expr.value = property(expr_value)
_tenon.Expr.__str__ = _tenon.Expr.__repr__ = text_with_types
_tenon.te.Operation.body = property(operation_body)
_tenon.Stmt.__getitem__ = sequence_item
_tenon.Stmt.__len__ = sequence_length
_tenon.Stmt.__bool__ = lambda self: True
add(_tenon.IterVar, __getattr__=axis_attribute)
add(_tenon.te.Operation, __getattr__=operation_attribute)
add(_tenon.te.Tensor, __getattr__=tensor_attribute)
add(_tenon.te.Stage, __getattr__=stage_attribute)


def numpy_type(self):
    """The NumPy type. NumPy accepts an object with an attribute `dtype` as a data type."""
    import numpy

    return numpy.dtype(str(self))


add(_tenon.DataType, dtype=property(numpy_type))
# TVM's errors are RuntimeErrors.
_tenon.Error.__bases__ = (RuntimeError,)
