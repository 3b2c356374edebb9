"""The source of a decorated function or class, as a syntax tree with the user's lines, and the
Python values that its names refer to."""

import ast
import builtins
import inspect
import textwrap
import types


class Missing:
    """The type of `MISSING`, the result of looking up an unknown name."""


MISSING = Missing()


class Source:
    """The syntax tree of one Python function or class and the file that contains it."""

    def __init__(self, tree, file):
        self.tree = tree
        self.file = file


def source_of(item):
    """Returns the Source of a function or class. TypeError if its text cannot be found."""
    try:
        lines, first = inspect.getsourcelines(item)
        file = inspect.getsourcefile(item)
    except (OSError, TypeError) as error:
        raise TypeError(
            f"the source of `{getattr(item, '__name__', item)}` cannot be found: a script is a "
            "function or class in a file, or in a cell of a notebook"
        ) from error
    text = textwrap.dedent("".join(lines))
    tree = ast.parse(text, file or "<script>")
    ast.increment_lineno(tree, first - 1)
    definition = tree.body[0]
    return Source(definition, file or "<script>")


def lambda_of(function):
    """Returns the Source of a lambda, with its body as the tree. TypeError if its line has several
    lambdas of the same parameters."""
    lines, first = inspect.getsourcelines(function)
    text = textwrap.dedent("".join(lines)).strip()
    # The lines of a lambda may begin or end in the middle of a statement.
    candidates = []
    begin = text.find("lambda")
    while begin >= 0:
        for end in range(len(text), begin, -1):
            try:
                tree = ast.parse(text[begin:end], mode="eval")
            except SyntaxError:
                continue
            if isinstance(tree.body, ast.Lambda):
                names = [arg.arg for arg in tree.body.args.args]
                if names == list(inspect.signature(function).parameters):
                    candidates.append(tree.body)
            break
        begin = text.find("lambda", begin + 1)
    if len(candidates) != 1:
        raise TypeError("the source of a lambda cannot be found: use a function with a name")
    ast.increment_lineno(candidates[0], first - 1)
    return Source(candidates[0], inspect.getsourcefile(function) or "<script>")


class Names:
    """The Python values of names: closure, then scopes, then globals, then builtins."""

    def __init__(self, scopes):
        self._scopes = scopes

    def find(self, name):
        for scope in self._scopes:
            if name in scope:
                return scope[name]
        return MISSING

    def extended(self, scope):
        """Returns names that are looked up in `scope` first."""
        return Names([scope, *self._scopes])


class Closure:
    """The free variables of a function that have a value now, by name."""

    def __init__(self, function):
        self._cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))

    def __contains__(self, name):
        try:
            return name in self._cells and bool((self._cells[name].cell_contents,))
        except ValueError:  # assigned after the function is defined
            return False

    def __getitem__(self, name):
        return self._cells[name].cell_contents


def names_of(function, frame=None):
    """Returns the names that are visible where `function` is defined. `frame` is the frame that
    executes the definition; annotations refer to its variables, which are not in the closure."""
    scopes = [Closure(function)]
    while frame is not None and frame.f_locals is not frame.f_globals:
        scopes.append(dict(frame.f_locals))
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            break
        # The frame of a class body does not list the variables of the enclosing function.
        frame = frame.f_back
    scopes += [function.__globals__, vars(builtins)]
    return Names(scopes)


def unwrapped(callee):
    """Returns the Python function that a callable runs and the arguments that precede those of the
    call, or (None, []) if it does not run a Python function."""
    if isinstance(callee, types.MethodType):
        function, before = unwrapped(callee.__func__)
        return function, [callee.__self__, *before]
    if isinstance(callee, types.FunctionType):
        return callee, []
    return None, []
