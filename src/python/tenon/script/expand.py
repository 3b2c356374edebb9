"""Substitution of Python values in scripts.

A script is a Python function that is read and never run. `expand` returns its statements in the
script language alone:

- A name of the enclosing Python scope becomes its value: a number, a string, an expression.
- `if`, `assert`, `for` over a list and assignments are evaluated when they use only Python values.
- A call of a Python function becomes the function's body (a macro). Names that the body defines are
  renamed where they would collide, and its other names mean what they mean where it is written.

Every statement keeps the file and the line that it comes from.
"""

import ast
import builtins
import copy
import functools
import inspect
import math

from .. import _tenon
from .source import MISSING, Names, lambda_of, names_of, source_of, unwrapped
from .words import Language, Word

LANGUAGE = "T"
# The names that the script language gives a meaning.
RESERVED = (LANGUAGE, "inf", "nan")

# Calls whose assignment declares a buffer, variable or thread; other assignments bind a value.
DECLARATIONS = {
    "alloc_buffer",
    "allocate",
    "allocate_const",
    "alloc_local",
    "alloc_shared",
    "buffer_decl",
    "comm_reducer",
    "decl_buffer",
    "env_thread",
    "launch_thread",
    "match_buffer",
    "var",
}
BUFFERS = {"Buffer", "alloc_buffer", "buffer_decl", "decl_buffer", "match_buffer"}
# Calls that take an element as a region or address.
REGIONS = {"access_ptr", "address_of", "match_buffer", "reads", "tvm_access_ptr", "writes"}
OPERATORS = {
    ast.Pow: "pow",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
    ast.LShift: "shift_left",
    ast.RShift: "shift_right",
}
# The parameters of `buffer.access_ptr`, in TVM's order, and the numbers of its modes.
ACCESS_PTR = inspect.signature(
    lambda access_mask=ast.Constant("rw"),
    ptr_type=ast.Constant("handle"),
    content_lanes=ast.Constant(1),
    offset=ast.Constant(0),
    extent=None: None
)
ACCESS_MASKS = {"r": 1, "w": 2, "rw": 3, "wr": 3, 1: 1, 2: 2, 3: 3}
MAX_DEPTH = 200


class ScriptError(Exception):
    """A mistake in a script, with the user's file and line."""

    def __init__(self, file, line, text):
        super().__init__(f"{file}:{line}: {text}")


class Macro:
    """A Python function whose body is inserted where a script calls it."""

    def __init__(self, function, hygienic, frame):
        functools.update_wrapper(self, function)
        self.function = function
        self.hygienic = hygienic
        self.names = names_of(function, frame)

    def __call__(self, *args, **kwargs):
        raise TypeError(f"`{self.function.__name__}` is a macro: it is called in scripts only")

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)


def word(path):
    """Returns the tree of a word of the script language."""
    tree = ast.Name(LANGUAGE, ast.Load())
    for part in path.split("."):
        tree = ast.Attribute(tree, part, ast.Load())
    return tree


def word_of(tree):
    """Returns the path of a tree that `word` made, or None for another tree."""
    path = []
    while isinstance(tree, ast.Attribute):
        path.append(tree.attr)
        tree = tree.value
    if not path or not isinstance(tree, ast.Name) or tree.id != LANGUAGE:
        return None
    return ".".join(reversed(path))


def call(path, *args):
    return ast.Call(word(path), list(args), [])


def operation(operator):
    """Returns the function that joins two trees. It drops a 0 on the right and a 0 that is added to."""

    def join(a, b):
        if operator in (ast.Add, ast.Sub) and is_constant(b, 0):
            return a
        return b if operator is ast.Add and is_constant(a, 0) else ast.BinOp(a, operator(), b)

    return join


def assignment_of(node):
    """Returns `name = name + value` for `name += value`."""
    old = ast.Name(node.target.id, ast.Load())
    made = ast.Assign([node.target], ast.BinOp(old, node.op, node.value))
    return ast.fix_missing_locations(ast.copy_location(made, node))


def is_constant(tree, value):
    return isinstance(tree, ast.Constant) and tree.value == value


def stored_names(statements):
    """Returns the names that statements define, in order. Names of comprehensions are not defined
    outside of them."""
    nodes = [node for statement in statements for node in ast.walk(statement)]
    targets = [node.target for node in nodes if isinstance(node, ast.comprehension)]
    inside = {name for target in targets for name in ast.walk(target)}
    return list({
        node.id: None
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in inside
    })


def free_names(node):
    """Returns the names of an expression without those that its lambdas and comprehensions define."""
    if isinstance(node, ast.Name):
        return {node.id}
    outside, inside, defined = [], list(ast.iter_child_nodes(node)), set()
    if isinstance(node, ast.Lambda):
        outside, inside = [node.args], [node.body]
        defined = {arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg)}
    elif hasattr(node, "generators"):
        first = node.generators[0]
        outside = [first.iter]
        inside = [*(child for child in inside if child is not first), *first.ifs]
        defined = {name for each in node.generators for name in free_names(each.target)}
    free_outside, free_inside = (
        set().union(*map(free_names, nodes)) for nodes in (outside, inside)
    )
    return free_outside | (free_inside - defined)


def is_stable(tree):
    """Whether a tree has the same value wherever its names do: it does not read memory and does not
    call a function. A region of a buffer and a pointer to an element are stable."""
    if isinstance(tree, ast.Subscript):
        index = tree.slice
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        return any(isinstance(part, ast.Slice) for part in parts)
    if isinstance(tree, ast.Call):
        path = word_of(tree.func)
        if path == "address_of":
            return True
        if path is None or path.startswith("call_"):
            return False
    return all(is_stable(child) for child in ast.iter_child_nodes(tree))


def mentions(trees, name):
    return any(
        isinstance(node, ast.Name) and node.id == name
        for tree in trees
        if tree is not None
        for node in ast.walk(tree)
    )


def let(value, target, variable):
    """Returns a definition whose scope is the remainder of its list, see `Scope.nested`, which ends
    the meaning of the Python name `variable`."""
    made = ast.With([ast.withitem(call("LetStmt", value), target)], [])
    made.variable = variable
    return made


class Buffer:
    """The declared shape, type, strides and offset of a buffer of the script, as trees."""

    def __init__(self, shape, dtype, strides, elem_offset):
        self.shape = shape
        self.dtype = dtype
        self.strides = strides
        self.elem_offset = elem_offset

    def span(self):
        """Returns the number of elements of memory from the first element to the last one."""
        shape = copy.deepcopy(self.shape)
        if not self.strides:
            return functools.reduce(operation(ast.Mult), shape) if shape else ast.Constant(1)
        one = ast.Constant(1)
        distances = [
            ast.BinOp(ast.BinOp(extent, ast.Sub(), one), ast.Mult(), stride)
            for extent, stride in zip(shape, copy.deepcopy(self.strides))
        ]
        return functools.reduce(operation(ast.Add), distances, one)


class Program:
    """The state that the scopes of one expanded function share."""

    def __init__(self, text_of_expr):
        self.taken = set(RESERVED)
        self.text_of_expr = text_of_expr
        self.buffers = {}
        self.depth = 0
        # The variables of Python that the function uses: (variable, name in the script, type).
        self.sizes = []

    def fresh(self, name):
        result, number = name, 0
        while result in self.taken:
            number += 1
            result = f"{name}_{number}"
        self.taken.add(result)
        return result


class Scope:
    """The names of one function body: those of the script and those of Python."""

    def __init__(self, program, names, file, outer=None):
        self.program = program
        self.names = names
        self.file = file
        self.outer = outer
        self.static = {}
        self.trees = {}
        self.renamed = {}
        self.loops = []
        # The number of open loops, branches and blocks.
        self.depth = 0
        self.has_returned = False

    # ---- names ----

    def resolve(self, name):
        """Returns the value of a Python name and None, or MISSING and the tree of a script name."""
        if name in self.static:
            return self.static[name], None
        if name in self.trees:  # with None if the name has no single value, see `lose`
            return MISSING, copy.deepcopy(self.trees[name])
        if name in self.renamed:
            return MISSING, ast.Name(self.renamed[name], ast.Load())
        value = self.names.find(name)
        if value is not MISSING:
            return value, None
        if self.outer is not None:
            return self.outer.resolve(name)
        return MISSING, ast.Name(name, ast.Load())

    def refuse(self, node, text):
        raise ScriptError(self.file, getattr(node, "lineno", 0), text)

    def static_value(self, node):
        """Returns the value of an expression whose names all have Python values, or MISSING for
        another expression. Without names, scripts compute what they have operators for."""
        values = {}
        for name in free_names(node):
            value, _ = self.resolve(name)
            if value is MISSING or isinstance(value, (Language, Word)):
                return MISSING
            values[name] = value
        nodes = list(ast.walk(node))
        if any(isinstance(inner, ast.Call) and self.is_macro(inner.func) for inner in nodes):
            return MISSING
        if not values and not any(isinstance(inner, (ast.Div, ast.Pow)) for inner in nodes):
            return MISSING
        for inner in nodes:
            if isinstance(inner, ast.Attribute) and isinstance(self.word_value(inner), Word):
                return MISSING
        value = self.evaluate(node, values)
        return MISSING if isinstance(value, Word) else value

    def is_macro(self, func):
        names = [n.id for n in ast.walk(func) if isinstance(n, ast.Name)]
        if not names or any(self.resolve(name)[0] is MISSING for name in names):
            return False
        value = self.word_value(func)
        while isinstance(value, functools.partial):
            value = value.func
        return isinstance(value, Macro)

    def word_value(self, node):
        """Returns the value of a dotted name, or MISSING if a part of it has no Python value."""
        if isinstance(node, ast.Name):
            return self.resolve(node.id)[0]
        if isinstance(node, ast.Attribute):
            owner = self.word_value(node.value)
            if owner is not MISSING:
                return getattr(owner, node.attr, MISSING)
        return MISSING

    def callee(self, node):
        """Returns the Python value of a call's function, or MISSING if it does not have one."""
        value = self.word_value(node.func)
        return self.static_value(node.func) if value is MISSING else value

    def evaluate(self, node, values):
        expression = ast.Expression(copy.deepcopy(node))
        ast.fix_missing_locations(expression)
        try:
            return eval(compile(expression, self.file, "eval"), {**vars(builtins), **values})
        except Exception as error:
            if hasattr(error, "add_note"):
                error.add_note(f"{self.file}:{node.lineno}: in the script, `{ast.unparse(node)}`")
            raise

    # ---- values as trees ----

    def tree_of(self, value, node):
        if value is None or isinstance(value, (bool, str)):
            return ast.Constant(value)
        if isinstance(value, (int, float)) and type(value) in (int, float):
            return self.tree_of_number(value)
        if isinstance(value, (tuple, list)):
            kind = ast.Tuple if isinstance(value, tuple) else ast.List
            return kind([self.tree_of(item, node) for item in value], ast.Load())
        if isinstance(value, dict):
            return ast.Dict(
                [self.tree_of(key, node) for key in value],
                [self.tree_of(item, node) for item in value.values()],
            )
        if isinstance(value, range):
            return ast.Call(ast.Name("range", ast.Load()), self.range_bounds(value, node), [])
        tree = self.tree_of_numpy(value)
        if tree is None:
            tree = self.tree_of_expr(value)
        if tree is None:
            self.refuse(
                node,
                f"`{ast.unparse(node)}` is a {type(value).__name__}; a script takes numbers, "
                "strings, data types, expressions, and lists of these",
            )
        return tree

    @staticmethod
    def tree_of_number(value):
        if isinstance(value, float) and not math.isfinite(value):
            number = ast.Name("nan" if math.isnan(value) else "inf", ast.Load())
            return ast.UnaryOp(ast.USub(), number) if value < 0 else number
        if value < 0:
            return ast.UnaryOp(ast.USub(), ast.Constant(-value))
        return ast.Constant(value)

    def range_bounds(self, value, node):
        if value.step != 1:
            self.refuse(node, "a range with a step is not a loop of scripts; use list(range(...))")
        bounds = [value.stop] if value.start == 0 else [value.start, value.stop]
        return [ast.Constant(bound) for bound in bounds]

    def tree_of_numpy(self, value):
        module = type(value).__module__
        if isinstance(value, type) and value.__module__ == "numpy":
            return ast.Constant(value.__name__.rstrip("_"))
        if module.partition(".")[0] != "numpy":
            return None
        if hasattr(value, "name") and type(value).__name__.endswith("DType"):
            return ast.Constant(value.name)
        if getattr(value, "shape", None) == ():
            # NumPy's arithmetic returns int64 and float64 by default, so these types are dropped.
            number = self.tree_of_number(value.item())
            is_default = value.dtype.kind in "iu" or value.dtype == "float64"
            return number if is_default else call(str(value.dtype), number)
        if hasattr(value, "tolist"):
            return self.tree_of(value.tolist(), ast.Constant(None))
        return None

    def tree_of_expr(self, value):
        made = self.program.text_of_expr(value)
        if made is None:
            return None
        text, variables = made
        if not variables:
            return ast.parse(text, mode="eval").body
        # Variables of Python have names of their own in the script.
        scope = Scope(self.program, Names([]), self.file)
        for variable, name, own_name, dtype in variables:
            scope.renamed[name] = self.size_name(variable, own_name, dtype)
        return scope.expr(ast.parse(text, mode="eval").body)

    def size_name(self, variable, name, dtype):
        for known, known_name, _ in self.program.sizes:
            if known.same_as(variable):
                return known_name
        fresh = self.program.fresh(name.replace(".", "_"))
        self.program.sizes.append((variable, fresh, dtype))
        return fresh

    # ---- expressions ----

    def expr(self, node):
        """Returns an expression of the script language."""
        if isinstance(node, ast.Constant):
            return node
        value = self.static_value(node)
        if value is not MISSING:
            return ast.copy_location(self.tree_of(value, node), node)
        method = getattr(self, f"expr_{type(node).__name__.lower()}", None)
        if method is None:
            self.refuse(node, f"`{ast.unparse(node)}` is not an expression of scripts")
        return ast.copy_location(method(node), node)

    def exprs(self, nodes):
        """Returns a list of expressions, with starred lists spliced in."""
        result = []
        for node in nodes:
            if not isinstance(node, ast.Starred):
                result.append(self.expr(node))
                continue
            items = self.expr(node.value)
            if not isinstance(items, (ast.Tuple, ast.List)):
                self.refuse(node, f"`{ast.unparse(node.value)}` is not a list")
            result += items.elts
        return result

    def expr_name(self, node):
        value, tree = self.resolve(node.id)
        if isinstance(value, Word):
            return word(value.path)
        if isinstance(value, Language):
            return ast.Name(LANGUAGE, ast.Load())
        if tree is None:
            self.refuse(
                node,
                f"`{node.id}` is assigned in a loop, branch or block, and a variable of a script "
                "has one value; use a buffer",
            )
        return tree

    def expr_attribute(self, node):
        value = self.word_value(node)
        if isinstance(value, Word):
            return word(value.path)
        owner = self.expr(node.value)
        buffer = self.buffer(owner)
        if buffer and node.attr == "shape":
            return ast.Tuple(copy.deepcopy(buffer.shape), ast.Load())
        if buffer and node.attr == "strides":
            return ast.Tuple(copy.deepcopy(buffer.strides), ast.Load())
        if buffer and node.attr == "dtype":
            return copy.deepcopy(buffer.dtype)
        return ast.Attribute(owner, node.attr, ast.Load())

    def buffer(self, tree):
        """Returns the declaration of the buffer that a tree names, or None for another tree."""
        return self.program.buffers.get(tree.id) if isinstance(tree, ast.Name) else None

    def expr_tuple(self, node):
        return ast.Tuple(self.exprs(node.elts), ast.Load())

    def expr_list(self, node):
        return ast.List(self.exprs(node.elts), ast.Load())

    def expr_dict(self, node):
        return ast.Dict([self.expr(key) for key in node.keys], self.exprs(node.values))

    def expr_binop(self, node):
        return self.binary(node.op, self.expr(node.left), self.expr(node.right))

    @staticmethod
    def binary(operator, left, right):
        named = OPERATORS.get(type(operator))
        return call(named, left, right) if named else ast.BinOp(left, operator, right)

    def expr_unaryop(self, node):
        operand = self.expr(node.operand)
        if isinstance(node.op, ast.UAdd):
            return operand
        if isinstance(node.op, ast.Invert):
            return call("bitwise_not", operand)
        return ast.UnaryOp(node.op, operand)

    def truth(self, node):
        """Returns whether a condition on Python values holds, or MISSING for another condition."""
        if isinstance(node, ast.Constant):
            return bool(node.value)
        if isinstance(node, ast.BoolOp):
            # Operands are evaluated from left to right until one decides the result.
            decides = isinstance(node.op, ast.Or)
            for operand in node.values:
                value = self.truth(operand)
                if value is MISSING or value == decides:
                    return value
            return not decides
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            value = self.truth(node.operand)
            return MISSING if value is MISSING else not value
        value = self.static_value(node)
        if value is MISSING:
            return MISSING
        if self.program.text_of_expr(value) is not None:
            return MISSING
        return bool(value)

    def expr_boolop(self, node):
        decides = isinstance(node.op, ast.Or)
        kept = []
        for operand in node.values:
            value = self.truth(operand)
            if value is MISSING:
                kept.append(self.expr(operand))
            elif value == decides:
                kept.append(ast.Constant(decides))
                break
        if not kept:
            return ast.Constant(not decides)
        return kept[0] if len(kept) == 1 else ast.BoolOp(node.op, kept)

    def expr_compare(self, node):
        operands = self.exprs([node.left, *node.comparators])
        pairs = [
            ast.Compare(operands[n], [op], [operands[n + 1]]) for n, op in enumerate(node.ops)
        ]
        return pairs[0] if len(pairs) == 1 else ast.BoolOp(ast.And(), pairs)

    def expr_ifexp(self, node):
        value = self.truth(node.test)
        if value is not MISSING:
            return self.expr(node.body if value else node.orelse)
        return call("if_then_else", *self.exprs([node.test, node.body, node.orelse]))

    def expr_subscript(self, node):
        owner = self.expr(node.value)
        if isinstance(owner, (ast.Tuple, ast.List)):
            return self.element(node, owner)
        buffer = self.buffer(owner)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        made = []
        for index in indices:
            if isinstance(index, ast.Slice):
                made.append(self.slice(index, buffer, len(made)))
            else:
                made += self.exprs([index])
        if isinstance(node.slice, ast.Tuple):
            return ast.Subscript(owner, ast.Tuple(made, ast.Load()), ast.Load())
        return ast.Subscript(owner, made[0], ast.Load())

    def element(self, node, items):
        index = node.slice
        if isinstance(index, ast.Slice):
            parts = [index.lower, index.upper, index.step]
            values = [None if part is None else self.constant(part) for part in parts]
            return type(items)(items.elts[slice(*values)], ast.Load())
        number = self.constant(index)
        if not -len(items.elts) <= number < len(items.elts):
            self.refuse(node, f"`{ast.unparse(node)}`: the list has {len(items.elts)} elements")
        return items.elts[number]

    def constant(self, node):
        tree = self.expr(node)
        try:
            value = ast.literal_eval(tree)
        except ValueError:
            value = None
        if not isinstance(value, int):
            self.refuse(node, f"`{ast.unparse(node)}` is not a constant integer")
        return value

    def slice(self, node, buffer, dimension):
        lower = ast.Constant(0) if node.lower is None else self.expr(node.lower)
        upper = node.upper
        if upper is not None:
            upper = self.expr(upper)
        elif buffer and dimension < len(buffer.shape):
            upper = copy.deepcopy(buffer.shape[dimension])
        step = None if node.step is None else self.expr(node.step)
        return ast.Slice(lower, upper, step)

    # ---- calls ----

    def arguments(self, node):
        """Returns the positional and keyword arguments of a call as trees."""
        keywords = []
        for keyword in node.keywords:
            if keyword.arg is not None:
                keywords.append(ast.keyword(keyword.arg, self.expr(keyword.value)))
                continue
            values = self.dictionary(keyword.value)
            keywords += [ast.keyword(k, self.tree_of(v, node)) for k, v in values.items()]
        return self.exprs(node.args), keywords

    def dictionary(self, node):
        value = self.static_value(node)
        if not isinstance(value, dict):
            self.refuse(node, f"`{ast.unparse(node)}` is not a dictionary of Python")
        return value

    def expr_call(self, node):
        callee = self.callee(node)
        if isinstance(callee, Word):
            args, keywords = self.arguments(node)
            if callee.path in BUFFERS:
                # The shape may be given by name.
                shape = [k.value for k in keywords if k.arg == "shape"]
                args += shape
                keywords = [k for k in keywords if k.arg != "shape"]
            if callee.path in ("min_value", "max_value") and args and isinstance(args[0], ast.Constant):
                return self.tree_of(getattr(_tenon, callee.path)(args[0].value), node)
            return ast.Call(word(callee.path), args, keywords)
        if callee is MISSING:
            args, keywords = self.arguments(node)
            func = self.expr(node.func)
            if isinstance(func, ast.Attribute) and func.attr == "access_ptr":
                return self.access_ptr(node, func.value, args, keywords)
            return ast.Call(func, args, keywords)
        if callee in (min, max) and node.args:
            name = callee.__name__
            return functools.reduce(lambda a, b: call(name, a, b), self.exprs(node.args))
        if callee is abs:
            return call("abs", *self.exprs(node.args))
        if callee is len and len(node.args) == 1:
            items = self.expr(node.args[0])
            if isinstance(items, (ast.Tuple, ast.List)):
                return ast.Constant(len(items.elts))
        if callee in (list, tuple) and len(node.args) == 1:
            items = self.expr(node.args[0])
            if isinstance(items, (ast.Tuple, ast.List)):
                return items
        scope, body = self.enter(node, callee)
        statements = scope.prefix(body, of_expression=True)
        if not statements or not isinstance(statements[-1], ast.Return):
            self.refuse(node, f"`{ast.unparse(node.func)}` returns no expression")
        if len(statements) > 1:
            self.refuse(
                node,
                f"`{ast.unparse(node.func)}` has statements before its result; a macro of "
                "statements is called on a line of its own",
            )
        result = scope.expr(statements[-1].value)
        self.leave()
        return result

    def access_ptr(self, node, owner, args, keywords):
        """Returns the intrinsic for `buffer.access_ptr(mode, offset)` or for TVM's form of the call."""
        buffer = self.buffer(owner)
        if buffer is None:
            self.refuse(node, f"`{ast.unparse(owner)}` is not a buffer with a declared shape")
        what = f"access_ptr of buffer `{owner.id}`"
        if len(args) == 2 and not isinstance(getattr(args[1], "value", None), str):
            args = [args[0], ast.Constant("handle"), ast.Constant(1), args[1]]
        try:
            given = ACCESS_PTR.bind(*args, **{keyword.arg: keyword.value for keyword in keywords})
        except TypeError as error:
            self.refuse(node, f"{what}: {error}")
        given.apply_defaults()
        mode, ptr_type, content_lanes, offset, extent = given.args
        mask = ACCESS_MASKS.get(getattr(mode, "value", None))
        if mask is None:
            self.refuse(
                node, f'{what}: the mode is "r", "w" or "rw", got `{ast.unparse(mode)}`'
            )
        if not is_constant(ptr_type, "handle") or not is_constant(content_lanes, 1):
            self.refuse(
                node, f'{what}: the pointer is of type "handle" and to elements of one lane'
            )
        if extent is None:
            extent = operation(ast.Sub)(buffer.span(), offset)
        typed = ast.Call(word("type_annotation"), [], [ast.keyword("dtype", buffer.dtype)])
        data = ast.Attribute(owner, "data", ast.Load())
        place = operation(ast.Add)(buffer.elem_offset, offset)
        handle = ast.keyword("dtype", ast.Constant("handle"))
        return ast.Call(
            word("tvm_access_ptr"), [typed, data, place, extent, ast.Constant(mask)], [handle]
        )

    def prefix(self, body, of_expression=False):
        """Evaluates assignments and conditions on Python values at the beginning of a body and
        returns the other statements. With `of_expression`, for a function that returns an
        expression, expressions are substituted for the names that they are assigned to."""
        for n, statement in enumerate(body):
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue
            if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
                statement = assignment_of(statement)
            if isinstance(statement, ast.Assign) and self.assign_static(statement):
                continue
            if of_expression and isinstance(statement, ast.Assign) and self.assign_tree(statement):
                continue
            if isinstance(statement, ast.If):
                value = self.truth(statement.test)
                if value is not MISSING:
                    chosen = statement.body if value else statement.orelse
                    return self.prefix([*chosen, *body[n + 1 :]], of_expression)
            if isinstance(statement, ast.Return):
                return [statement]
            return body[n:]
        return []

    def enter(self, node, callee):
        """Returns the scope of a called Python function, with its parameters, and its body."""
        before, keywords_before = [], {}
        while isinstance(callee, functools.partial):
            before = [*callee.args, *before]
            keywords_before = {**callee.keywords, **keywords_before}
            callee = callee.func
        macro = callee if isinstance(callee, Macro) else None
        function, bound = (macro.function, []) if macro else unwrapped(callee)
        if function is None and callable(callee) and not isinstance(callee, type):
            function, bound = unwrapped(callee.__call__)
        if function is None:
            self.refuse(node, f"`{ast.unparse(node.func)}` is not a function that scripts can call")
        if function.__name__ == "<lambda>":
            source = lambda_of(function)
            body = [ast.Return(source.tree.body)]
            ast.copy_location(body[0], source.tree)
        else:
            source = source_of(function)
            body = source.tree.body
        self.program.depth += 1
        if self.program.depth > MAX_DEPTH:
            self.refuse(node, f"`{function.__name__}` calls itself without an end")
        hygienic = macro is None or macro.hygienic
        names = macro.names if macro else names_of(function)
        scope = Scope(
            self.program,
            names if hygienic else Names([]),
            source.file,
            None if hygienic else self,
        )
        scope.loops = self.loops
        given, by_name = self.bind_arguments(node, bound + before, keywords_before)
        scope.take_parameters(node, source.tree.args, function, given, by_name)
        for name in stored_names(body):
            scope.renamed[name] = self.program.fresh(name) if hygienic else name
        return scope, body

    def leave(self):
        self.program.depth -= 1

    def bind_arguments(self, node, before, keywords_before):
        """Returns the arguments of a call: a list of the positional ones and a dictionary of the
        others. Each is a pair (value, None) or (MISSING, tree)."""
        given = [(value, None) for value in before]
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                given += [(MISSING, tree) for tree in self.exprs([arg])]
            else:
                given.append(self.argument(arg))
        by_name = {name: (value, None) for name, value in keywords_before.items()}
        for keyword in node.keywords:
            if keyword.arg is None:
                for name, value in self.dictionary(keyword.value).items():
                    by_name[name] = (value, None)
            else:
                by_name[keyword.arg] = self.argument(keyword.value)
        return given, by_name

    def argument(self, node):
        """Returns an argument as a pair (value, None) or (MISSING, tree)."""
        value = self.static_value(node)
        if value is not MISSING:
            return value, None
        if isinstance(node, ast.Constant):
            return node.value, None
        if isinstance(node, ast.Lambda):
            self.refuse(node, "a lambda is not an argument of a macro; use a function with a name")
        return MISSING, self.expr(node)

    def take_parameters(self, node, parameters, function, given, by_name):
        """Gives the arguments of a call to the parameters of the function of this scope."""
        names = [arg.arg for arg in [*parameters.posonlyargs, *parameters.args]]
        only_by_name = [arg.arg for arg in parameters.kwonlyargs]
        defaults = function.__defaults__ or ()
        values = dict(zip(names[len(names) - len(defaults) :], defaults))
        values.update(function.__kwdefaults__ or {})
        taken = {name: (value, None) for name, value in values.items()}
        rest = given[len(names) :]
        if rest and not parameters.vararg:
            self.refuse(
                node, f"`{function.__name__}` takes {len(names)} arguments, got {len(given)}"
            )
        taken.update(zip(names, given))
        for name, item in by_name.items():
            if name not in names and name not in only_by_name:
                self.refuse(node, f"`{function.__name__}` has no parameter `{name}`")
            taken[name] = item
        if parameters.vararg:
            items = [
                tree if value is MISSING else self.tree_of(value, node) for value, tree in rest
            ]
            taken[parameters.vararg.arg] = (MISSING, ast.Tuple(items, ast.Load()))
        for name in [*names, *only_by_name]:
            if name not in taken:
                self.refuse(node, f"`{function.__name__}` needs a value for `{name}`")
        for name, (value, tree) in taken.items():
            if value is MISSING:
                self.trees[name] = tree
            else:
                self.static[name] = value

    # ---- statements ----

    def statements(self, nodes):
        """Returns statements in order. A `with` without a body defines a variable, see `nested`."""
        result = []
        for node in nodes:
            if isinstance(node, ast.Return):
                if node.value is not None and not self.is_none(node.value):
                    self.refuse(node, "the function returns an expression where statements are")
                if self.depth > 0:
                    self.refuse(node, "a script returns at its end, not in a loop, branch or block")
                self.has_returned = True
            if self.has_returned:
                break
            result += self.statement(node)
        return result

    def nested(self, statements):
        """Gives each variable of a list the remainder of the list as its scope."""
        result = []
        for statement in reversed(statements):
            if isinstance(statement, ast.With) and not statement.body:
                statement.body = result[::-1] or [self.placed(ast.Pass(), statement)]
                self.lose([statement.variable])
                result = []
            result.append(statement)
        return result[::-1]

    def bodies(self, node, *lists):
        """Returns the statements of the lists inside a loop, branch or block. Names that it assigns
        have no value after it."""
        made = []
        self.depth += 1
        for nodes in lists:
            static, trees, renamed = dict(self.static), dict(self.trees), dict(self.renamed)
            made.append(self.nested(self.statements(nodes)))
            self.static, self.trees, self.renamed = static, trees, renamed
        self.depth -= 1
        self.lose(stored_names([node]))
        return made

    def body(self, node):
        """Returns the statements inside `node`, at least a `pass`."""
        return self.bodies(node, node.body)[0] or [self.placed(ast.Pass(), node)]

    def lose(self, names):
        """Refuses uses of the names before they are assigned again. In Python they would have the
        value of an iteration or branch, which is only known when the script runs."""
        for name in names:
            self.static.pop(name, None)
            self.trees[name] = None

    @staticmethod
    def is_none(node):
        return isinstance(node, ast.Constant) and node.value is None

    def placed(self, statement, node):
        ast.copy_location(statement, node)
        statement.file = self.file
        return statement

    def statement(self, node):
        method = getattr(self, f"statement_{type(node).__name__.lower()}", None)
        if method is None:
            text = ast.unparse(node).partition("\n")[0]
            self.refuse(node, f"`{text}` is not a statement of scripts")
        made = method(node)
        for statement in made:
            if not hasattr(statement, "file"):
                self.placed(statement, node)
        return made

    def statement_pass(self, node):
        return [ast.Pass()]

    def statement_expr(self, node):
        if isinstance(node.value, ast.Constant):
            return []
        if isinstance(node.value, ast.Call):
            callee = self.callee(node.value)
            if callee is not MISSING and not isinstance(callee, (Word, type)):
                if isinstance(callee, (Macro, functools.partial)) or unwrapped(callee)[0]:
                    return self.insert(node.value, callee)
                if self.static_value(node.value) is not MISSING:
                    return []
        return [ast.Expr(self.expr(node.value))]

    def insert(self, node, callee):
        """Returns the statements of a macro, or the evaluation of its expression."""
        scope, body = self.enter(node, callee)
        remaining = scope.prefix(body)
        if remaining and isinstance(remaining[0], ast.Return) and remaining[0].value is not None:
            if not self.is_none(remaining[0].value):
                value = scope.expr(remaining[0].value)
                self.leave()
                return [ast.Expr(value)]
        definitions = [self.placed(each, node) for each in scope.keep_parameters(remaining)]
        made = scope.nested(definitions + scope.statements(remaining))
        self.leave()
        return made

    def keep_parameters(self, body):
        """Returns definitions of variables for the arguments that the body reads after it may have
        changed memory. Arguments of blocks stay as they are: a block lists what it reads."""
        if any(isinstance(node, ast.With) for statement in body for node in ast.walk(statement)):
            return []
        is_simple = body and isinstance(body[0], (ast.Assign, ast.AugAssign, ast.Expr))
        later = [node for each in body[bool(is_simple) :] for node in ast.walk(each)]
        pointers = {
            name.id
            for node in later
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in REGIONS
            for name in ast.walk(node)
            if isinstance(name, ast.Name)
        }
        made = []
        for name in {node.id: None for node in later if isinstance(node, ast.Name)}:
            if name not in pointers and self.trees.get(name) is not None:
                self.trees[name], definitions = self.kept(self.trees[name], name)
                made += definitions
        return made

    def target(self, node, others=()):
        """Returns the target of an assignment. A name that is assigned loses its Python value. It is
        renamed if the value of another name, or one of the trees `others`, mentions it."""
        if isinstance(node, ast.Name):
            self.static.pop(node.id, None)
            self.trees.pop(node.id, None)
            name = self.renamed.get(node.id, node.id)
            if mentions(others, name) or self.is_mentioned(name):
                name = self.renamed[node.id] = self.program.fresh(node.id)
            self.program.taken.add(name)
            return ast.Name(name, ast.Store())
        if isinstance(node, (ast.Tuple, ast.List)):
            return ast.Tuple([self.target(item) for item in node.elts], ast.Store())
        if isinstance(node, ast.Subscript) and self.static_value(node.value) is MISSING:
            made = self.expr_subscript(node)
            if isinstance(made, ast.Subscript):
                return ast.Subscript(made.value, made.slice, ast.Store())
        return self.refuse(node, f"`{ast.unparse(node)}` cannot be assigned in a script")

    def is_mentioned(self, name):
        """Whether the value of a name of this function or of one around it mentions a script name."""
        return mentions(self.trees.values(), name) or (
            self.outer is not None and self.outer.is_mentioned(name)
        )

    def assign_static(self, node):
        """Assigns a Python value to names. Returns False for another assignment."""
        if any(not self.is_name_pattern(target) for target in node.targets):
            return False
        value = self.static_value(node.value)
        if value is MISSING:
            try:
                value = ast.literal_eval(node.value)
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                return False
        for target in node.targets:
            self.assign_pattern(target, value)
        return True

    def assign_tree(self, node):
        """Substitutes an expression of the script for a name. Returns False for another assignment."""
        if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            return False
        value = self.expr(node.value)
        if self.is_declaration(value):
            return False
        self.static.pop(node.targets[0].id, None)
        self.trees[node.targets[0].id] = value
        return True

    def is_name_pattern(self, target):
        if isinstance(target, (ast.Tuple, ast.List)):
            return all(self.is_name_pattern(item) for item in target.elts)
        return isinstance(target, ast.Name)

    def assign_pattern(self, target, value):
        if isinstance(target, ast.Name):
            self.trees.pop(target.id, None)
            self.static[target.id] = value
            return
        items = list(value)
        if len(items) != len(target.elts):
            self.refuse(target, f"{len(target.elts)} names for {len(items)} values")
        for item, item_value in zip(target.elts, items):
            self.assign_pattern(item, item_value)

    def statement_assign(self, node):
        if len(node.targets) != 1:
            self.refuse(node, "an assignment of a script has one target")
        if self.assign_static(node):
            return []
        value = self.expr(node.value)
        target = node.targets[0]
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
            if len(target.elts) != len(value.elts):
                self.refuse(node, f"{len(target.elts)} names for {len(value.elts)} values")
            return self.assign_items(node, target.elts, value.elts)
        if isinstance(target, ast.Name) and isinstance(value, (ast.Tuple, ast.List)):
            tree, made = self.kept(value, target.id)
            self.assign_substituted(target.id, tree)
            return made
        return [self.definition(target, value)]

    def assign_items(self, node, targets, values):
        """Assigns several values at once: each is evaluated before the first name changes."""
        made, substituted = [], []
        for n, (target, value) in enumerate(zip(targets, values)):
            if not isinstance(target, ast.Name):
                self.refuse(
                    node, f"`{ast.unparse(target)}` is one of several targets, which are names"
                )
            if isinstance(value, (ast.Tuple, ast.List)):
                tree, definitions = self.kept(value, target.id)
                made += definitions
                substituted.append((target.id, tree))
            elif is_stable(value) and not self.is_declaration(value):
                substituted.append((target.id, value))
            else:
                made.append(self.definition(target, value, values[:n] + values[n + 1 :]))
        for name, tree in substituted:
            self.assign_substituted(name, tree)
        return made

    def assign_substituted(self, name, tree):
        self.static.pop(name, None)
        self.trees[name] = tree

    def definition(self, target, value, others=()):
        """Returns the declaration or the `let` that gives the value to the target."""
        made = self.target(target, others)
        if isinstance(target, ast.Name) and not self.is_declaration(value):
            return let(value, made, target.id)
        self.declare(made, value)
        return ast.Assign([made], value)

    def kept(self, tree, name):
        """Returns a tree with the value that `tree` has now, and the definitions of the variables that
        hold its parts. Their scope ends the meaning of `name`."""
        if isinstance(tree, (ast.Tuple, ast.List)):
            items, made = [], []
            for item in tree.elts:
                kept, definitions = self.kept(item, name)
                items.append(kept)
                made += definitions
            return type(tree)(items, ast.Load()), made
        if is_stable(tree):
            return tree, []
        variable = self.program.fresh(name)
        return ast.Name(variable, ast.Load()), [
            let(tree, ast.Name(variable, ast.Store()), name)
        ]

    @staticmethod
    def is_declaration(value):
        path = word_of(value.func) if isinstance(value, ast.Call) else None
        if path is None:
            return False
        has_arguments = bool(value.args or value.keywords)
        return path in DECLARATIONS or path.startswith("axis.") or not has_arguments

    def declare(self, target, value):
        """Records the shape and type of a declared buffer."""
        path = word_of(value.func) if isinstance(value, ast.Call) else None
        if not isinstance(target, ast.Name) or path not in BUFFERS:
            return
        args = value.args[1:] if path == "match_buffer" else value.args
        by_name = {keyword.arg: keyword.value for keyword in value.keywords}
        shape = args[0] if args else by_name.get("shape")
        dtype = args[1] if len(args) > 1 else by_name.get("dtype", ast.Constant("float32"))
        if shape is not None:
            items = shape.elts if isinstance(shape, (ast.Tuple, ast.List)) else [shape]
            strides = by_name.get("strides")
            strides = strides.elts if isinstance(strides, (ast.Tuple, ast.List)) else []
            elem_offset = ast.Constant(0)
            if by_name.keys() & {"elem_offset", "offset_factor"}:
                elem_offset = ast.Attribute(ast.Name(target.id, ast.Load()), "elem_offset", ast.Load())
            self.program.buffers[target.id] = Buffer(items, dtype, strides, elem_offset)

    def declare_parameter(self, name, tree):
        """Records the shape and type of a parameter `name: T.Buffer(shape, dtype)`. Returns the type
        as a call, also if it is written in brackets, or None for another type."""
        if isinstance(tree, ast.Subscript) and word_of(tree.value) == "Buffer":
            parts = tree.slice.elts if isinstance(tree.slice, ast.Tuple) else [tree.slice]
            tree = ast.Call(tree.value, list(parts), [])
        if not isinstance(tree, ast.Call) or word_of(tree.func) != "Buffer":
            return None
        self.declare(ast.Name(name, ast.Load()), tree)
        return tree

    def statement_annassign(self, node):
        if node.value is None:
            self.refuse(node, f"`{ast.unparse(node)}` has no value")
        value = self.expr(node.value)
        annotation = self.expr(node.annotation)
        target = self.target(node.target)
        return [ast.AnnAssign(target, annotation, value, 1)]

    def statement_augassign(self, node):
        if isinstance(node.target, ast.Name):
            return self.statement_assign(assignment_of(node))
        target, value = self.target(node.target), self.expr(node.value)
        if isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
            return [ast.AugAssign(target, node.op, value)]
        old = ast.Subscript(target.value, target.slice, ast.Load())
        return [ast.Assign([target], self.binary(node.op, old, value))]

    def statement_assert(self, node):
        value = self.truth(node.test)
        if value is MISSING:
            message = node.msg and self.expr(node.msg)
            return [ast.Assert(self.expr(node.test), message)]
        if not value:
            text = "" if node.msg is None else self.static_value(node.msg)
            if text is MISSING:
                text = ast.literal_eval(node.msg) if isinstance(node.msg, ast.Constant) else ""
            raise AssertionError(f"{self.file}:{node.lineno}: {text or ast.unparse(node.test)}")
        return []

    def statement_if(self, node):
        value = self.truth(node.test)
        if value is not MISSING:
            return self.statements(node.body if value else node.orelse)
        test = self.expr(node.test)
        body, orelse = self.bodies(node, node.body, node.orelse)
        return [ast.If(test, body or [self.placed(ast.Pass(), node)], orelse)]

    def statement_while(self, node):
        if node.orelse:
            self.refuse(node, "a loop of a script has no else")
        self.lose(stored_names(node.body))
        test = self.expr(node.test)
        return [ast.While(test, self.body(node), [])]

    def statement_for(self, node):
        if node.orelse:
            self.refuse(node, "a loop of a script has no else")
        callee = self.word_value(node.iter.func) if isinstance(node.iter, ast.Call) else MISSING
        if callee is range:
            args = self.exprs(node.iter.args)
            iterated = ast.Call(ast.Name("range", ast.Load()), args, [])
        else:
            value = self.static_value(node.iter)
            if value is not MISSING:
                return self.unroll(node, [(item, None) for item in value])
            iterated = self.expr(node.iter)
            if isinstance(iterated, (ast.Tuple, ast.List)):
                return self.unroll(node, [self.argument(item) for item in iterated.elts])
        self.lose(stored_names(node.body))
        target = self.target(node.target)
        names = target.elts if isinstance(target, ast.Tuple) else [target]
        self.loops = [*self.loops, *names]
        body = self.body(node)
        self.loops = self.loops[: len(self.loops) - len(names)]
        return [ast.For(target, iterated, body, [])]

    def unroll(self, node, items):
        """Returns the body once for each element of a list."""
        result, kept = [], []
        for value, tree in items:
            if value is MISSING:
                if not isinstance(node.target, ast.Name):
                    self.refuse(node, "an element of this list has no parts")
                tree, definitions = self.kept(tree, node.target.id)
                result += definitions
            kept.append((value, tree))
        for value, tree in kept:
            if value is not MISSING:
                self.assign_pattern(node.target, value)
            else:
                self.assign_substituted(node.target.id, tree)
            result += self.nested(self.statements(node.body))
        return result

    def statement_with(self, node):
        if len(node.items) != 1:
            self.refuse(node, "a `with` of a script has one item")
        item = node.items[0]
        context = self.expr(item.context_expr)
        path = word_of(context.func) if isinstance(context, ast.Call) else None
        if path == "block" and (
            item.optional_vars is not None
            or (context.args and isinstance(context.args[0], (ast.List, ast.Tuple)))
        ):
            return self.block_with_list(node, context, item.optional_vars)
        target = None if item.optional_vars is None else self.target(item.optional_vars)
        outer_loops = self.loops
        if path == "block":
            self.loops = []
        body = self.body(node)
        self.loops = outer_loops
        return [ast.With([ast.withitem(context, target)], body)]

    # ---- the blocks of TVM 0.8's first scripts: with T.block([n, m], "B") as [vi, vj] ----

    def block_with_list(self, node, context, variables):
        domains = []
        args = list(context.args)
        if args and isinstance(args[0], (ast.List, ast.Tuple)):
            domains = args.pop(0).elts
        if variables is None:
            names = []
        elif isinstance(variables, (ast.List, ast.Tuple)):
            names = variables.elts
        else:
            names = [variables]
        if len(names) != len(domains):
            self.refuse(node, f"the block has {len(domains)} domains and {len(names)} iterators")
        values, body = self.bound_values(node, names)
        lines = []
        for name, domain, value in zip(names, domains, values):
            kind, extent = self.domain(domain)
            lines.append(
                self.placed(ast.Assign([self.target(name)], call(kind, extent, value)), node)
            )
        outer_loops, self.loops = self.loops, []
        lines += self.bodies(node, body)[0]
        self.loops = outer_loops
        head = ast.withitem(ast.Call(context.func, args, context.keywords), None)
        return [ast.With([head], lines or [self.placed(ast.Pass(), node)])]

    def bound_values(self, node, names):
        """Returns the values of a block's iterators, from `bind` lines or else from the loops
        around the block, and the body without those lines."""
        bound, body = {}, []
        for statement in node.body:
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Call):
                callee = self.word_value(value.func)
                if isinstance(callee, Word) and callee.path == "bind" and len(value.args) == 2:
                    bound[value.args[0].id] = self.expr(value.args[1])
                    continue
            body.append(statement)
        if not bound and len(names) > len(self.loops):
            self.refuse(node, f"{len(names)} iterators in {len(self.loops)} loops")
        loops = [ast.Name(loop.id, ast.Load()) for loop in self.loops[: len(names)]]
        values = []
        for n, name in enumerate(names):
            if bound and name.id not in bound:
                self.refuse(node, f"the iterator `{name.id}` is not bound")
            values.append(bound[name.id] if bound else loops[n])
        return values, body

    def domain(self, tree):
        path = word_of(tree.func) if isinstance(tree, ast.Call) else None
        kinds = {"reduce_axis": "reduce", "scan_axis": "scan", "opaque_axis": "opaque"}
        if path in kinds or path == "range":
            kind = f"axis.{kinds.get(path, 'spatial')}"
            if len(tree.args) == 1 or is_constant(tree.args[0], 0):
                return kind, tree.args[-1]
            return kind, ast.Tuple(tree.args, ast.Load())
        return "axis.spatial", tree


# ---- text ---------------------------------------------------------------------------------------


class Listing:
    """Lines of script text, each with the file and line that it comes from."""

    def __init__(self):
        self.lines = []
        self.origins = []

    def add(self, depth, text, file, line):
        for part in text.split("\n"):
            self.lines.append("    " * depth + part)
            self.origins.append((file, line))

    def text(self):
        return "\n".join(self.lines) + "\n"


def print_statements(listing, nodes, depth):
    for node in nodes:
        place = (node.file, node.lineno)
        if isinstance(node, ast.For):
            head = f"for {names_text(node.target)} in {ast.unparse(node.iter)}:"
        elif isinstance(node, ast.With):
            item = node.items[0]
            name = "" if item.optional_vars is None else f" as {ast.unparse(item.optional_vars)}"
            head = f"with {ast.unparse(item.context_expr)}{name}:"
        elif isinstance(node, ast.While):
            head = f"while {ast.unparse(node.test)}:"
        elif isinstance(node, ast.If):
            head = f"if {ast.unparse(node.test)}:"
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            head = f"{names_text(node.targets[0])} = {ast.unparse(node.value)}"
        else:
            head = ast.unparse(ast.fix_missing_locations(node))
        listing.add(depth, head, *place)
        print_statements(listing, getattr(node, "body", []), depth + 1)
        if getattr(node, "orelse", None):
            listing.add(depth, "else:", *place)
            print_statements(listing, node.orelse, depth + 1)


def names_text(target):
    """Returns a list of names without the parentheses that `ast.unparse` adds."""
    if isinstance(target, ast.Tuple):
        return ", ".join(ast.unparse(item) for item in target.elts)
    return ast.unparse(target)


def parameter_type(scope, parameter):
    """Returns the Python type of a parameter that is a Python value, or None for another one."""
    if parameter.annotation is None:
        return None
    value = scope.static_value(parameter.annotation)
    return value if value in (int, float, str, bool, list, tuple, dict, object) else None


def python_parameters(source, names):
    """Returns the parameters that are Python values, by name."""
    scope = Scope(Program(lambda value: None), names, source.file)
    found = {}
    for parameter in source.tree.args.args:
        kind = parameter_type(scope, parameter)
        if kind is not None:
            found[parameter.arg] = kind
    return found


def expand(source, names, values, text_of_expr):
    """Returns the Listing of a function in the script language. `values` has the values of the
    parameters that are Python values. `text_of_expr(value)` returns the text of an expression and
    its variables, each with its name and type, or None for a value of another type."""
    program = Program(text_of_expr)
    scope = Scope(program, names, source.file)
    function = source.tree
    scope.static.update(values)
    parameters = [arg for arg in function.args.args if arg.arg not in values]
    defined = [arg.arg for arg in parameters] + stored_names(function.body)
    for name in defined:
        if name not in values:
            scope.renamed[name] = f"{name}_1" if name in RESERVED else name
            program.taken.add(scope.renamed[name])
    lines = []
    matched = []
    for parameter in parameters:
        name = scope.renamed[parameter.arg]
        annotation = parameter.annotation
        text = name
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            annotation = ast.copy_location(
                ast.parse(annotation.value, mode="eval").body, parameter
            )
        if annotation is not None:
            tree = scope.expr(annotation)
            sizes = {name for _, name, _ in program.sizes}
            used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
            buffer = scope.declare_parameter(name, tree)
            text = f"{name}: {ast.unparse(tree)}"
            if buffer and sizes & used:
                # The body defines the variables of the shape, so the buffer is declared there.
                handle = program.fresh(f"var_{name}")
                text = f"{handle}: {LANGUAGE}.handle"
                match = ast.Call(
                    word("match_buffer"),
                    [ast.Name(handle, ast.Load()), *buffer.args],
                    buffer.keywords,
                )
                matched.append((f"{name} = {ast.unparse(match)}", parameter.lineno))
        lines.append((f"{text},", parameter.lineno))
    body = scope.nested(scope.statements(function.body))
    listing = Listing()
    listing.add(0, f"@{LANGUAGE}.prim_func", source.file, function.lineno)
    listing.add(0, f"def {function.name}(", source.file, function.lineno)
    for text, line in lines:
        listing.add(1, text, source.file, line)
    listing.add(0, "):", source.file, function.lineno)
    for _, name, dtype in program.sizes:
        text = f"{name} = {LANGUAGE}.var({dtype!r})"
        listing.add(1, text, source.file, function.lineno)
    for text, line in matched:
        listing.add(1, text, source.file, line)
    if not body:
        listing.add(1, "pass", source.file, function.lineno)
    print_statements(listing, body, 1)
    return listing
