"""Block programs as Python functions, in the script language of TensorIR.

    from tenon.script import tir as T

    n = 128

    @T.prim_func
    def add_one(A: T.Buffer((n,), "float32"), B: T.Buffer((n,), "float32")):
        for i in range(n):
            with T.block("B"):
                vi = T.axis.spatial(n, i)
                B[vi] = A[vi] + T.float32(1)

`add_one` is then a tir.PrimFunc. The function is read and never run, so it may use:

- names of the enclosing Python scope (`n`): numbers, strings, data types, expressions, lists;
- `if`, `assert` and `for` over lists on Python values, which are decided while the function is read;
- Python functions and `@macro`s, whose bodies are inserted where they are called;
- parameters of Python types (`n: int`), which make it a template: `add_one.specialize(n=128)`.
"""

import inspect
import re
import sys

from .. import _tenon
from . import words
from .expand import Macro, ScriptError, expand, python_parameters
from .source import names_of, source_of

__all__ = [
    "Template",
    "from_source",
    "ir_module",
    "macro",
    "prim_func",
    "print_script",
    "text_of",
    "tir",
]


def text_of_expr(value):
    """Returns the text of an expression and its variables, or None for a value of another type."""
    if isinstance(value, _tenon.DataType):
        return repr(str(value)), []
    if not isinstance(value, _tenon.Expr):
        return None
    # The variables get distinct names in the text.
    variables, renamed = [], {}
    for variable in _tenon.tir.free_vars(value):
        name = f"v{len(variables)}"
        renamed[variable] = _tenon.Var(name, variable.dtype)
        variables.append((variable, name, variable.name, str(variable.dtype)))
    return print_script(_tenon.tir.substitute(value, renamed)), variables


def read(listing):
    """Parses a listing. Errors name the user's file and line."""
    try:
        return _tenon.s_tir.parse_script(listing.text())
    except _tenon.Error as error:
        found = re.search(r"script, line (\d+), column \d+: (.*)", str(error), re.DOTALL)
        if not found:
            raise
        file, line = listing.origins[min(int(found[1]), len(listing.origins)) - 1]
        text = listing.lines[int(found[1]) - 1].strip() if int(found[1]) else ""
        raise _tenon.TypeError(f"{file}:{line}: {found[2]}, in `{text}`") from None


def parse_function(source, names, values):
    """Returns the name and the tir.PrimFunc of a function."""
    try:
        listing = expand(source, names, values, text_of_expr)
    except ScriptError as error:
        raise _tenon.TypeError(str(error)) from None
    return read(listing).functions[source.tree.name]


class Template:
    """A function with parameters that are Python values, not yet given."""

    def __init__(self, source, names, parameters, has_self, defaults):
        self.source = source
        self.names = names
        self.parameters = parameters
        self.has_self = has_self
        self.defaults = defaults
        self.__name__ = source.tree.name

    def specialize(self, **values):
        """Returns the tir.PrimFunc for these values of the parameters."""
        for name, value in values.items():
            if name not in self.parameters:
                raise TypeError(f"`{self.__name__}` has no parameter `{name}` of a Python type")
            kind = self.parameters[name]
            if not isinstance(value, kind) and not (kind is float and isinstance(value, int)):
                raise TypeError(
                    f"`{self.__name__}`: expected `{name}`, a {kind.__name__}, got {value!r}"
                )
        return parse_function(self.source, self.names, self.complete(values))

    def complete(self, values):
        """Returns the values of all parameters. TypeError if one is missing."""
        values = {**self.defaults, **values}
        missing = [name for name in self.parameters if name not in values]
        if missing:
            raise TypeError(f"`{self.__name__}` needs a value for `{missing[0]}`")
        return values

    __call__ = specialize

    def of(self, instance, values):
        """Returns the tir.PrimFunc of a method, for an instance of its class."""
        source = self.source
        values = {name: value for name, value in values.items() if name in self.parameters}
        values = self.complete(values)
        if self.has_self:
            values[source.tree.args.args[0].arg] = instance
        return parse_function(source, self.names, values)


def template_of(function, frame):
    """Returns the Template of a function."""
    source, names = source_of(function), names_of(function, frame)
    arguments = source.tree.args.args
    has_self = bool(arguments) and arguments[0].arg == "self" and arguments[0].annotation is None
    parameters = python_parameters(source, names)
    given = function.__defaults__ or ()
    defaults = dict(zip([arg.arg for arg in arguments[len(arguments) - len(given) :]], given))
    return Template(source, names, parameters, has_self, defaults)


def prim_func(function=None, *, depth=1, **options):
    """Decorates a function: returns its tir.PrimFunc, or a Template if it has parameters of Python
    types or a `self`."""
    if function is None:
        return lambda given: prim_func(given, depth=2, **options)
    if not inspect.isfunction(function):
        raise TypeError(f"expected a function to decorate, got a {type(function).__name__}")
    template = template_of(function, sys._getframe(depth))
    if template.parameters or template.has_self:
        return template
    return parse_function(template.source, template.names, {})


class ModuleTemplate:
    """A module of functions with parameters that are Python values, or with a `self`."""

    def __init__(self, cls, functions):
        self.cls = cls
        self.functions = functions
        self.__name__ = cls.__name__

    def made(self, instance, values):
        known = set()
        for function in self.functions.values():
            if isinstance(function, Template):
                known |= set(function.parameters)
        for name in values:
            if name not in known:
                raise TypeError(f"`{self.__name__}` has no parameter `{name}` of a Python type")
        functions = {
            name: f.of(instance, values) if isinstance(f, Template) else f
            for name, f in self.functions.items()
        }
        return _tenon.IRModule(functions)

    def specialize(self, **values):
        """Returns the tir.IRModule for these values of the functions' parameters."""
        return self.made(None, values)

    def __call__(self, *args, **kwargs):
        """Returns the tir.IRModule for an instance of the class, which is the functions' `self`."""
        if not any(isinstance(f, Template) and f.has_self for f in self.functions.values()):
            return self.specialize(*args, **kwargs)
        return self.made(self.cls(*args, **kwargs), {})


def ir_module(cls, depth=1):
    """Decorates a class: returns the tir.IRModule of its functions, or a template of one."""
    if not inspect.isclass(cls):
        raise TypeError(f"expected a class to decorate, got a {type(cls).__name__}")
    functions = {}
    for name, value in vars(cls).items():
        if isinstance(value, (_tenon.PrimFunc, Template)):
            functions[name] = value
        elif inspect.isfunction(value) and not name.startswith("__"):
            functions[name] = template_of(value, sys._getframe(depth))
    if any(isinstance(function, Template) for function in functions.values()):
        return ModuleTemplate(cls, functions)
    return _tenon.IRModule(functions)


def macro(function=None, *, hygienic=True):
    """Decorates a function whose body scripts insert where they call it.

    Names that the body defines are renamed where they would collide. Its other names mean what they
    mean where the function is written; without `hygienic`, what they mean where it is called."""
    if function is None:
        return lambda given: Macro(given, hygienic, sys._getframe(1))
    return Macro(function, hygienic, sys._getframe(1))


def from_source(text):
    """Returns the tir.IRModule that a text describes, or the tir.PrimFunc if it is one function."""
    module = _tenon.s_tir.parse_script(text)
    is_class = re.search(r"^class\b", text, re.MULTILINE)
    return module if is_class else next(iter(module.functions.values()))


def print_script(program, modern=False):
    """Returns the text of a module, function, statement or expression."""
    if isinstance(program, (_tenon.IRModule, _tenon.PrimFunc)):
        return _tenon.s_tir.print_script(program, "modern" if modern else "v09")
    return _tenon.s_tir.print_script(program)


def text_of(function, **values):
    """Returns the script text that `prim_func` would parse for a Python function."""
    template = template_of(function, sys._getframe(1))
    return expand(template.source, template.names, values, text_of_expr).text()


tir = words.Language("tenon.script.tir", {"prim_func": prim_func, "macro": macro})
sys.modules["tenon.script.tir"] = tir
