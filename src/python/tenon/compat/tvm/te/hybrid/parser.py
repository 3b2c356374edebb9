"""Hybrid functions as loop programs: the syntax tree of a function is executed on expressions, and a
builder records loops and stores."""

import ast
import builtins
import functools as tools
import operator

from ..... import _tenon
from .....script.source import Closure, source_of
from ...tir import op as functions
from ...tir.buffer import decl_buffer
from ...tir.expr import value
from ..tensor import Tensor
from .runtime import HYBRID_GLOBALS

LOOPS = {
    "parallel": "parallel",
    "range": "serial",
    "serial": "serial",
    "unroll": "unrolled",
    "vectorize": "vectorized",
}
# The minimum and maximum number of arguments of each call; None: any number.
ARITIES = {
    "allocate": (1, 3),
    "bind": (2, 2),
    "ceil_div": (2, 2),
    "const_range": (1, 3),
    "len": (1, 1),
    "max": (2, None),
    "max_num_threads": (0, 1),
    "min": (2, None),
    "output_tensor": (1, 3),
    "power": (2, 2),
}
MATHS = ("exp", "likely", "log", "popcount", "power", "round", "rsqrt", "sigmoid", "sqrt", "tanh")
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
}


class Array:
    """A tensor of the function: a buffer that is read and stored, or a part of one."""

    def __init__(self, buffer, reference):
        self.buffer = buffer
        self.reference = reference

    @property
    def shape(self):
        return self.buffer.shape

    @property
    def dtype(self):
        return self.buffer.dtype


class Scalar:
    """A variable that is assigned several times. It is stored in memory of one element. `place` is
    the file, line and name of its first assignment."""

    def __init__(self, reference, dtype, place):
        self.reference = reference
        self.dtype = dtype
        self.place = place


class WidenedScalar(Exception):
    """A variable was assigned a value that its type cannot hold: the function is parsed again."""


def is_constant(x):
    if isinstance(x, _tenon.Expr):
        return isinstance(x.node, (_tenon.tir.IntImm, _tenon.tir.FloatImm))
    return isinstance(x, (bool, int, float, str, tuple, list))


def reads_memory(x):
    found = []

    def visit(node):
        if isinstance(node, _tenon.Expr) and isinstance(node.node, _tenon.tir.Load):
            found.append(node)

    _tenon.tir.post_order_visit(x, visit)
    return bool(found)


def typed(x, dtype):
    """Returns a number or expression in a type."""
    if isinstance(x, (bool, int, float)):
        return _tenon.make_const(dtype, x)
    return value(x).astype(dtype)


def number(x):
    return x.value if isinstance(x, _tenon.Expr) else x


class Parser:
    def __init__(self, function, args, caller=None, widened=None):
        self.source = source_of(function)
        closure = Closure(function)
        own = {name: closure[name] for name in function.__code__.co_freevars if name in closure}
        self.names = {**vars(builtins), **function.__globals__, **own}
        self.locals = frozenset(function.__code__.co_varnames)
        self.caller = caller
        self.builder = _tenon.tir.IRBuilder() if caller is None else caller.builder
        self.inputs = [] if caller is None else caller.inputs
        # The types of the variables that are wider than their first value, by place.
        self.widened = ({} if widened is None else widened) if caller is None else caller.widened
        # The names that the innermost loop or branch must not assign, unless they are in memory.
        self.fixed = frozenset()
        self.outputs = []
        self.variables = {}
        self.returned = None
        parameters = [arg.arg for arg in self.source.tree.args.args]
        if len(parameters) != len(args):
            raise ValueError(f"the function takes {len(parameters)} arguments, got {len(args)}")
        for name, arg in zip(parameters, args):
            self.variables[name] = self.kept(name, self.argument(arg))
        self.counts = self.assignments()

    def refuse(self, node, text):
        raise ValueError(f"{self.source.file}:{node.lineno}: {text}")

    def argument(self, arg):
        if isinstance(arg, Tensor):
            return self.input(arg)
        if isinstance(arg, (list, tuple)):
            return [self.argument(item) for item in arg]
        return arg

    def kept(self, name, x):
        """Returns the value that `x` has now: an expression that reads memory becomes a variable."""
        if isinstance(x, (list, tuple)):
            return type(x)(self.kept(name, item) for item in x)
        if isinstance(x, _tenon.Expr) and reads_memory(x):
            return self.builder.let(name, x)
        return x

    def input(self, tensor):
        for known, array in self.inputs:
            if known.same_as(tensor):
                return array
        buffer = decl_buffer(tensor.shape, tensor.dtype, tensor.name)
        array = Array(buffer, self.builder.buffer_ptr(buffer))
        self.inputs.append((tensor, array))
        return array

    def assignments(self):
        """Returns the number of assignments of each name."""
        counts = {}
        for node in ast.walk(self.source.tree):
            targets = []
            if isinstance(node, ast.Assign):
                targets = node.targets
            elif isinstance(node, ast.AugAssign):
                targets = [node.target, node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    counts[target.id] = counts.get(target.id, 0) + 1
        return counts

    def run(self):
        self.statements(self.source.tree.body)
        return self.builder.get()

    # ---- statements ----

    def statements(self, nodes):
        outer = frozenset(self.variables)
        for node in nodes:
            getattr(self, f"do_{type(node).__name__.lower()}", self.do_other)(node)
        # The scope of a name is the list of statements that defines it.
        self.variables = {name: x for name, x in self.variables.items() if name in outer}

    def repeated(self, nodes, own=()):
        """Executes the statements of a loop or branch of the program, which defines the names `own`."""
        before, self.fixed = self.fixed, frozenset(self.variables).difference(own)
        self.statements(nodes)
        self.fixed = before

    def do_other(self, node):
        self.refuse(node, f"`{ast.unparse(node).partition(chr(10))[0]}` is not in hybrid functions")

    def do_expr(self, node):
        if not isinstance(node.value, ast.Constant):
            self.builder.emit(self.eval(node.value))

    def do_pass(self, node):
        pass

    def do_assert(self, node):
        condition = self.eval(node.test)
        if is_constant(condition):
            if not number(condition):
                self.refuse(node, "the assertion does not hold")
            return
        message = self.eval(node.msg) if node.msg else ""
        self.builder.emit(_tenon.tir.Assert(condition, message, _tenon.tir.make_nop()))

    def do_return(self, node):
        items = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        self.returned = [self.eval(item) for item in items]
        if self.caller is not None:
            self.returned = self.kept("returned", self.returned)

    def do_assign(self, node):
        if len(node.targets) != 1:
            self.refuse(node, "an assignment has one target")
        target = node.targets[0]
        if isinstance(target, ast.Subscript):
            return self.store(target, self.eval(node.value))
        if not isinstance(target, ast.Name):
            self.refuse(node, "a target is a name or an element")
        made = self.call_of(node.value)
        if made == "output_tensor":
            return self.declare_output(target.id, *self.arguments(node.value))
        if made == "allocate":
            return self.allocate(target.id, *self.arguments(node.value))
        self.assign(target, self.eval(node.value))

    def do_augassign(self, node):
        old = self.eval(node.target)
        if not isinstance(old, (bool, int, float, _tenon.Expr)):
            self.refuse(node, f"`{ast.unparse(node.target)}` is not a number")
        result = self.binary(node, value(old), self.eval(node.value))
        if isinstance(node.target, ast.Name):
            self.assign(node.target, result)
        else:
            self.store(node.target, result)

    def assign(self, target, result):
        name = target.id
        known = self.variables.get(name)
        if isinstance(known, Scalar):
            return self.assign_scalar(known, result)
        self.check_not_fixed(target, name)
        if self.counts.get(name, 0) > 1 and isinstance(result, (bool, int, float, _tenon.Expr)):
            place = (self.source.file, target.lineno, name)
            dtype = self.widened.get(place, value(result).dtype)
            memory = self.builder.allocate(dtype, (1,), name)
            memory[0] = typed(result, dtype)
            self.variables[name] = Scalar(memory, dtype, place)
        else:
            self.variables[name] = self.kept(name, result)

    def check_not_fixed(self, node, name):
        if name in self.fixed:
            self.refuse(
                node,
                f"`{name}` is a parameter or loop variable, which a loop or branch cannot assign; "
                "copy it to a variable first",
            )

    def assign_scalar(self, scalar, result):
        """Assigns to memory. A value that needs a wider type gives the variable that type."""
        condition = _tenon.Var("condition", "bool")
        common = _tenon.select(condition, value(result), scalar.reference[0]).dtype
        if common != scalar.dtype:
            self.widened[scalar.place] = common
            raise WidenedScalar
        scalar.reference[0] = typed(result, scalar.dtype)

    def arguments(self, node):
        self.check_arguments(node, 1, 3, ("shape", "dtype", "scope"))
        args = [self.eval(arg) for arg in node.args]
        by_name = {keyword.arg: self.eval(keyword.value) for keyword in node.keywords}
        shape = args[0] if args else by_name["shape"]
        dtype = args[1] if len(args) > 1 else by_name.get("dtype", "float32")
        scope = args[2] if len(args) > 2 else by_name.get("scope", "global")
        return tuple(shape) if isinstance(shape, (tuple, list)) else (shape,), str(dtype), scope

    def declare_output(self, name, shape, dtype, _scope):
        if self.caller is not None:
            # A called function allocates its result in the caller.
            self.allocate(name, shape, dtype, "global")
            return
        buffer = decl_buffer(shape, dtype, name)
        array = Array(buffer, self.builder.buffer_ptr(buffer))
        self.outputs.append(array)
        self.variables[name] = array

    def allocate(self, name, shape, dtype, scope):
        reference = self.builder.allocate(dtype, shape, name, scope)
        self.variables[name] = Array(decl_buffer(shape, dtype, name), reference)

    def store(self, target, stored):
        array = self.eval(target.value)
        indices = self.indices(target)
        given = value(stored).dtype
        if given.is_floating and not _tenon.DataType(array.dtype).is_floating:
            self.refuse(
                target,
                f"a value of type {given} is stored in `{ast.unparse(target.value)}` of type "
                f"{array.dtype}; convert it: {array.dtype}(...)",
            )
        array.reference[tuple(indices)] = typed(stored, array.dtype)

    def do_for(self, node):
        kind = self.call_of(node.iter)
        if kind not in LOOPS and kind not in ("bind", "const_range"):
            self.refuse(node, f"`{ast.unparse(node.iter)}` is not a loop of hybrid functions")
        if kind in LOOPS and len(node.iter.args) == 3:
            self.refuse(node, f"`{ast.unparse(node.iter)}` has a step, which only const_range takes")
        self.check_arguments(node.iter, *ARITIES.get(kind, (1, 2)))
        args = [self.eval(arg) for arg in node.iter.args]
        name = node.target.id
        self.check_not_fixed(node, name)
        if kind == "const_range":
            for n in range(*[int(number(arg)) for arg in args]):
                self.variables[name] = n
                self.statements(node.body)
        elif kind == "bind":
            axis = _tenon.te.thread_axis((0, args[1]), args[0], name)
            self.builder.scope_attr(axis, "thread_extent", value(args[1]))
            self.variables[name] = axis.var
            self.repeated(node.body, {name})
        else:
            begin, end = (0, args[0]) if len(args) == 1 else args
            if is_constant(begin) and is_constant(end):
                end = max(number(begin), number(end))
            with self.builder.for_range(begin, end, name, LOOPS[kind]) as var:
                self.variables[name] = var
                self.repeated(node.body, {name})
        # After the loop, the name would have the value of the last iteration.
        self.variables.pop(name, None)

    def do_if(self, node):
        condition = self.eval(node.test)
        if is_constant(condition):
            self.statements(node.body if number(condition) else node.orelse)
            return
        with self.builder.if_scope(condition):
            self.repeated(node.body)
        if node.orelse:
            with self.builder.else_scope():
                self.repeated(node.orelse)

    # ---- expressions ----

    def call_of(self, node):
        """Returns the name of the function that an expression calls, or None for another expression."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return node.func.id
        return None

    def eval(self, node):
        method = getattr(self, f"eval_{type(node).__name__.lower()}", None)
        if method is None:
            self.refuse(node, f"`{ast.unparse(node)}` is not in hybrid functions")
        return method(node)

    def eval_constant(self, node):
        return node.value

    def eval_name(self, node):
        if node.id in self.variables:
            found = self.variables[node.id]
            return found.reference[0] if isinstance(found, Scalar) else found
        if node.id in self.locals:
            self.refuse(
                node, f"`{node.id}` has no value here: a loop or branch assigns it, or a later statement"
            )
        if node.id in self.names:
            found = self.names[node.id]
            return self.input(found) if isinstance(found, Tensor) else found
        return self.refuse(node, f"`{node.id}` is not defined")

    def eval_tuple(self, node):
        return tuple(self.eval(item) for item in node.elts)

    def eval_list(self, node):
        return [self.eval(item) for item in node.elts]

    def eval_attribute(self, node):
        return getattr(self.eval(node.value), node.attr)

    def indices(self, node):
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return [self.eval(item) for item in items]

    def eval_subscript(self, node):
        owner = self.eval(node.value)
        indices = self.indices(node)
        if isinstance(owner, Array):
            return owner.reference[tuple(indices)]
        for index in indices:
            owner = owner[int(number(index))]
        return owner

    def eval_binop(self, node):
        return self.binary(node, self.eval(node.left), self.eval(node.right))

    def binary(self, node, left, right):
        if isinstance(node.op, ast.Pow):
            return functions.power(value(left), right)
        if type(node.op) not in OPERATORS:
            self.refuse(node, f"`{ast.unparse(node)}` is not in hybrid functions")
        return OPERATORS[type(node.op)](left, right)

    def eval_unaryop(self, node):
        operand = self.eval(node.operand)
        if isinstance(node.op, ast.Not):
            return not operand if is_constant(operand) else _tenon.logical_not(operand)
        return OPERATORS[type(node.op)](operand)

    def eval_compare(self, node):
        operands = [self.eval(each) for each in (node.left, *node.comparators)]
        if any(type(op) not in OPERATORS for op in node.ops):
            self.refuse(node, f"`{ast.unparse(node)}` is not in hybrid functions")
        pairs = [
            OPERATORS[type(op)](operands[n], operands[n + 1]) for n, op in enumerate(node.ops)
        ]
        return self.joined(pairs, functions.all, builtins.all)

    def eval_boolop(self, node):
        operands = [self.eval(each) for each in node.values]
        if isinstance(node.op, ast.And):
            return self.joined(operands, functions.all, builtins.all)
        return self.joined(operands, functions.any, builtins.any)

    @staticmethod
    def joined(operands, join, join_constants):
        if builtins.all(is_constant(each) for each in operands):
            return join_constants(number(each) for each in operands)
        return join(*[value(each) for each in operands])

    def eval_ifexp(self, node):
        condition = self.eval(node.test)
        if is_constant(condition):
            return self.eval(node.body if number(condition) else node.orelse)
        return _tenon.if_then_else(condition, self.eval(node.body), self.eval(node.orelse))

    def check_arguments(self, node, least, most, keywords=()):
        """Refuses a call with a wrong number of arguments, or with keywords other than these."""
        name = ast.unparse(node.func)
        for keyword in node.keywords:
            if keyword.arg not in keywords:
                self.refuse(node, f"`{name}` does not take the keyword `{keyword.arg}`")
        given = len(node.args) + len(node.keywords)
        if given < least or (most is not None and given > most):
            takes = f"at least {least}" if most is None else f"{least} to {most}"
            takes = str(least) if least == most else takes
            plural = "" if takes == "1" else "s"
            self.refuse(node, f"`{name}` takes {takes} argument{plural}, got {given}")

    def eval_call(self, node):
        name = self.call_of(node)
        called = getattr(self.names.get(name), "hybrid_function", None)
        if called is not None:
            count = called.__code__.co_argcount
            self.check_arguments(node, count, count)
        elif name in ARITIES or name in MATHS or name in HYBRID_GLOBALS:
            keywords = ("allow_none",) if name == "max_num_threads" else ()
            self.check_arguments(node, *ARITIES.get(name, (1, 1)), keywords)
        args = [self.eval(arg) for arg in node.args]
        if called is not None:
            callee = Parser(called, args, self)
            callee.statements(callee.source.tree.body)
            returned = callee.returned
            return returned[0] if len(returned) == 1 else returned
        if name == "len":
            first = args[0]
            return first.shape[0] if isinstance(first, Array) else len(first)
        if name in ("min", "max"):
            if builtins.all(is_constant(arg) for arg in args):
                return getattr(builtins, name)(number(arg) for arg in args)
            return tools.reduce(getattr(_tenon.te, name), args[1:], value(args[0]))
        if name == "ceil_div":
            return (args[0] + args[1] - 1) // args[1]
        if name == "max_num_threads":
            return 1024
        if name in MATHS:
            return getattr(functions, name)(*[value(arg) for arg in args])
        if name in HYBRID_GLOBALS:
            return value(args[0]).astype(name)
        return self.refuse(node, f"`{ast.unparse(node.func)}` is not in hybrid functions")
