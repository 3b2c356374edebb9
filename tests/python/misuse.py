"""Calls everything in the module with random arguments, most of them wrong.

    misuse.py [CALLS] [SEED]

Most calls have arguments of the types that the function declares, half of them with one replaced, so that
they reach the compiler. The others have any arguments. Every call must return or raise an exception that says
what was wrong; an exception of the interpreter (SystemError), of the compiler (InternalError) or without
a message is a fault. Schedules, builders and arrays are used again after errors. The last call is in the
file misuse.log of the current folder. Files that calls write go to a temporary folder.
"""

import faulthandler
import gc
import os
import pathlib
import random
import re
import sys
import tempfile
import warnings

import numpy as np

import tenon
import tenon.compat.tvm
import tenon.script
from tenon import arith, runtime, s_tir, te, tir, topi, tune

# Functions that change the process or the file system, or whose time a legal argument sets.
EXCLUDED = {"set_package_folder", "set_num_threads", "time_evaluator", "TimeEvaluator", "report"}
# Functions that tune or train: their first argument is always wrong.
SLOW = {"tune_tir", "tune_tasks", "boosted_trees"}

class FailingIndex:
    def __index__(self):
        raise ValueError("no index")

    def __float__(self):
        raise ValueError("no float")


class FailingDlpack:
    def __dlpack__(self, **options):
        raise BufferError("no capsule")


class LyingDlpack:
    def __dlpack__(self, **options):
        return "not a capsule"


class FailingLength:
    def __len__(self):
        raise ValueError("no length")

    def __getitem__(self, n):
        raise ValueError("no item")


class Consumed:
    """An array whose DLPack capsule has been taken before."""

    def __init__(self):
        self.capsule = np.zeros(4, "float32").__dlpack__()
        np.from_dlpack(self)

    def __dlpack__(self, **options):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


def released():
    """Returns a view whose memory has been given back."""
    view = memoryview(bytearray(16))
    view.release()
    return view


def fail(*args):
    raise ArithmeticError("a callback that raises")


def lie(*args):
    return object()


def recurse(*args):
    return recurse(*args)


SCRIPT = """
@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32")):
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
"""


def good_values():
    A = te.placeholder((8, 8), "A")
    B = te.placeholder((8, 8), "B")
    k = te.reduce_axis((0, 8), "k")
    C = te.compute((8, 8), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    D = te.compute((8, 8), lambda i, j: C[i, j] + 1, name="D")
    s = te.create_schedule(D)
    mod = tenon.build(te.create_schedule(D), [A, B, D])
    func = te.create_prim_func([A, B, C])
    sch = s_tir.Schedule(func)
    block = sch.get_block("C")
    copied = sch.cache_write(block, 0, "local")
    scheduled = s_tir.Schedule(tenon.script.from_source(SCRIPT))
    buffer = tir.decl_buffer((8, 8), "float32", "buf")
    i = te.var("i")
    lowered = tenon.lower(te.create_schedule(D), [A, B, D])
    nodes = []
    for program in (func, lowered["main"]):
        tir.post_order_visit(program.body, lambda tree: nodes.extend([tree, tree.node]))
    return [
        A, B, C, D, s, s[C], s[D], s[C].op, s[C].axis, *s[C].op.axis, *s[D].op.axis, s[C].reduce_axis[0],
        k, i, i + 1, A[i, 0], i < 3, mod, mod["main"], func, tir.IRModule({"main": func}), lowered, sch, block, copied,
        *sch.get_loops(block), sch.trace, scheduled, scheduled.get_block("B"),
        *scheduled.get_loops(scheduled.get_block("B")), *sch.sample_perfect_tile(sch.get_loops(block)[0]),
        buffer, tir.IRBuilder(), tenon.Range(0, 8), tenon.Target("llvm"), tenon.cpu(), tenon.Float(32),
        te.thread_axis("threadIdx.x"), runtime.NDArray.zeros((8, 8)), np.zeros((8, 8), "float32"),
        arith.Analyzer(), arith.Interval(0, 7), tir.Evaluate(0), tir.make_nop(), te.infer_bound(s),
        A[0:4, 0:4],
        te.comm_reducer(lambda a, b: a + b, lambda dtype: 0, "total"), buffer.access_ptr("r"),
        tenon.compile(te.create_schedule(D), [A, B, D]), tenon.explain(te.create_schedule(D), [A, B, D]),
        tune.MeasureOptions(), tune.SearchOptions(), *tune.default_rules("llvm"),
        *tune.default_postprocessors("llvm"),
        *random.Random(0).sample(nodes, 20), runtime.array(np.ones((8, 8), "float32")),
        lambda *args: args[0] if args else 0, [A, B, D], (0, 8), [k], [A], {A: buffer},
    ]


def bad_values():
    read_only = np.zeros((8, 8), "float32")
    read_only.flags.writeable = False
    deep = []
    for _ in range(200):
        deep = [deep]
    return [
        None, True, 0, 1, -1, 3, 8, 2**31, 2**63, 2**64, -2**63, 2**200, 0.5, float("nan"), float("inf"), "",
        "A", "float32", "llvm", "no such thing", "\0", "\ud800", "x" * 10000, b"bytes", [], (), {}, [None], [[]],
        deep, (1, 2, 3), {"a": 1}, object(), FailingIndex(), FailingDlpack(), LyingDlpack(), FailingLength(),
        Consumed(), released(), fail, lie, recurse, len, int, type, 1j, np.int64(3), np.float32(2),
        np.bool_(True), np.zeros(0), np.zeros((2, 2), "complex64"), np.array("text"), np.zeros(3, [("x", "f4")]),
        read_only, np.zeros((8, 8), "float32")[::2], np.zeros((8, 8), ">f4"), np.broadcast_to(np.float32(1), (8, 8)),
        range(3), iter([]), slice(None), Ellipsis, NotImplemented, set(), memoryview(b"abc"), te.Tensor,
        tenon.Expr, {"opt_level": -1}, "int99", "float32x0", SCRIPT, SCRIPT[:-30], "llvm -mcpu=none", "1 + ",
    ]


# ---- Arguments of the declared types ---------------------------------------------------------------------


def split(text, separator):
    """Splits at separators outside of brackets."""
    parts, depth, start, at = [], 0, 0, 0
    while at < len(text):
        depth += (text[at] in "[(") - (text[at] in "])")
        if depth == 0 and text.startswith(separator, at):
            parts.append(text[start:at])
            start = at = at + len(separator)
        else:
            at += 1
    return parts + [text[start:]]


class Parameter:
    def __init__(self, text, owner):
        self.stars = len(text) - len(text.lstrip("*"))
        head, _, default = text.partition(" = ")
        self.name, _, annotation = head.lstrip("*").partition(": ")
        self.annotation = annotation or (owner if self.name == "self" else "object")
        self.is_optional = bool(default) or self.stars > 0


def parameters_of(function, owner):
    """Returns the parameters of each overload, as nanobind declares them."""
    result = []
    for signature in getattr(function, "__nb_signature__", ()):
        inside = re.search(r"\((.*)\)(?: -> |$)", signature[0], re.DOTALL)
        listed = split(inside[1], ", ") if inside else []
        result.append([Parameter(text, owner) for text in listed if text not in ("", "/", "*")])
    return result


def full_name(cls):
    return f"{cls.__module__}.{cls.__qualname__}"


class Values:
    """Values by the names of their classes."""

    TEXTS = ["A", "C", "main", "float32", "int8", "llvm", "local", "shared", "global", "threadIdx.x", "read",
             "write", "unroll_explicit", "i + 1", SCRIPT, "", "buffer_dim_align", "asm"]
    OPTIONS = ["name", "axis", "factor", "shape", "dtype", "x", "binds", "passes", "opt_level", "simple_mode",
               "on_step", "argument_alignment", "profile", "link", "where", "init", "scalars", "no_such"]

    def __init__(self, choose):
        self.choose = choose
        self.good, self.bad, self.of_class = [], bad_values(), {}
        for value in good_values():
            self.add(value)

    def add(self, value):
        self.good.append(value)
        for cls in type(value).__mro__:
            for name in (full_name(cls), cls.__name__):
                self.of_class.setdefault(name, []).append(value)

    def any(self):
        return self.choose.choice(self.good if self.choose.random() < 0.5 else self.bad)

    def of(self, annotation):
        """Returns a value of a declared type."""
        choose = self.choose
        kind = choose.choice(split(annotation, " | ")).strip()
        full, _, inside = kind.partition("[")
        name = full.rpartition(".")[2]
        items = split(inside[:-1], ", ") if inside else ["object"]
        if name in ("Sequence", "list", "Iterable"):
            return [self.of(items[0]) for _ in range(choose.choice([0, 1, 1, 2, 2, 3]))]
        if name == "tuple":
            return tuple(self.of(item) for item in items)
        if name in ("Mapping", "dict"):
            return {self.of(items[0]): self.of(items[-1]) for _ in range(choose.choice([0, 1, 2]))}
        if name == "Callable":
            return choose.choice([fail, lie, len, lambda *args: args[0] if args else 0, lambda *args: args,
                                  lambda i, j: i + j, lambda a, b: a * b])
        if name == "bool":
            return choose.random() < 0.5
        if name == "int":
            return choose.choice([0, 0, 1, 1, 2, 4, 8, -1, 100])
        if name == "float":
            return choose.choice([0.0, 0.5, 1.0, -1.0])
        if name == "str":
            return choose.choice(self.TEXTS)
        if name == "None":
            return None
        return choose.choice(self.of_class.get(full) or self.of_class.get(name) or self.good)

    def typed_call(self, parameters):
        """Returns arguments of the declared types, mostly with one of them replaced."""
        choose = self.choose
        args, keywords = [], {}
        wrong = choose.randrange(len(parameters)) if parameters and choose.random() < 0.5 else None
        for n, parameter in enumerate(parameters):
            value = self.any() if n == wrong else self.of(parameter.annotation)
            if parameter.stars == 1:
                args += [self.any() for _ in range(choose.choice([0, 1, 2, 3]))]
            elif parameter.stars == 2:
                keywords.update({choose.choice(self.OPTIONS): self.any()} if choose.random() < 0.5 else {})
            elif not keywords and len(args) == n and choose.random() < 0.7:
                args.append(value)
            elif not parameter.is_optional or choose.random() < 0.5:
                keywords[parameter.name] = value
        if choose.random() < 0.1 and args:
            args.pop()
        return args, keywords

    def any_call(self):
        choose = self.choose
        args = [self.any() for _ in range(choose.choice([0, 1, 1, 2, 2, 3, 3, 4, 5, 9]))]
        with_keyword = choose.random() < 0.1
        return args, {choose.choice(self.OPTIONS): choose.choice(self.bad)} if with_keyword else {}


# ---- Functions -------------------------------------------------------------------------------------------


def functions_of_class(cls):
    """Yields the functions of a class as they are defined, with those of its properties."""
    for name, member in vars(cls).items():
        if name in EXCLUDED or name in ("__class__", "__del__", "__init_subclass__"):
            continue
        if isinstance(member, property):
            for verb, function in (("get", member.fget), ("set", member.fset)):
                if function:
                    yield f"{name} ({verb})", function
        elif isinstance(member, (classmethod, staticmethod)):
            yield name, getattr(cls, name)
        elif callable(member):
            yield name, member


def functions():
    """Returns the names and functions of all public modules and classes, and the parameters."""
    layer = tenon.compat.tvm
    modules = [tenon, te, tir, arith, runtime, s_tir, topi, topi.cpu, topi.gpu, tune, tenon.script, layer,
               layer.te, layer.tir, layer.nd, layer.topi, layer.arith, layer.runtime, layer.target]
    found, seen = [], set()

    def add(name, function, owner="object"):
        if id(function) not in seen:
            seen.add(id(function))
            found.append((name, function, parameters_of(function, owner)))

    for module in modules:
        for name in sorted(dir(module)):
            value = getattr(module, name)
            if name.startswith("_") or name in EXCLUDED or not callable(value):
                continue
            if not getattr(value, "__module__", "tenon").startswith("tenon"):
                continue
            if not isinstance(value, type):
                add(f"{module.__name__}.{name}", value)
            elif id(value) not in seen:
                seen.add(id(value))
                made = parameters_of(vars(value).get("__init__"), full_name(value))
                found.append((f"{module.__name__}.{name}", value, [each[1:] for each in made]))
                for member, function in functions_of_class(value):
                    add(f"{value.__name__}.{member}", function, full_name(value))
    return found


ALLOWED = (tenon.Error, TypeError, ValueError, LookupError, ArithmeticError, AttributeError, BufferError,
           MemoryError, NotImplementedError, RecursionError, OSError, ImportError, SyntaxError, StopIteration)


def main(last_call, calls=10_000, seed=0):
    choose = random.Random(seed)
    warnings.simplefilter("ignore")
    found = functions()
    typed = [each for each in found if each[2]]
    print(f"misuse: {len(found)} functions, {len(typed)} of them with declared types")
    raised = returned = faults = 0
    for n in range(calls):
        if n % 500 == 0:
            values = Values(choose)
            gc.collect()
        name, function, overloads = choose.choice(typed if choose.random() < 0.6 else found)
        if overloads and choose.random() < 0.8:
            args, keywords = values.typed_call(choose.choice(overloads))
        else:
            args, keywords = values.any_call()
        if name.rpartition(".")[2] in SLOW and args:
            args[0] = choose.choice(values.bad)
        with open(last_call, "w") as log:
            log.write(f"call {n} of seed {seed}: {name} with "
                      f"{[type(a).__name__ for a in args]} {list(keywords)}\n")
        faulthandler.dump_traceback_later(300, exit=True)
        try:
            result = function(*args, **keywords)
            returned += 1
            if choose.random() < 0.1:
                values.add(result)
            repr(result)
        except Exception as error:
            raised += 1
            is_fault = isinstance(error, tenon.InternalError) or not isinstance(error, ALLOWED)
            if is_fault or not str(error):
                faults += 1
                print(f"misuse: call {n} of seed {seed}: {name} raised {error!r}", file=sys.stderr)
    faulthandler.cancel_dump_traceback_later()
    print(f"misuse: {calls} calls, {raised} raised, {returned} returned, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        status = main(pathlib.Path(here, "misuse.log"), *map(int, sys.argv[1:]))
        os.chdir(here)
    sys.exit(status)
