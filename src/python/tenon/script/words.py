"""The words of the script language: `T.grid`, `T.Buffer`, `T.float32`, ...

Scripts are read as text. These objects only make the annotations of a function executable, such as
`A: T.Buffer((128, 128), "float32")`, and mark a name as one of the script language."""

import types


class Word:
    """A name of the script language. It can be called and indexed, and is then still a word."""

    def __init__(self, path):
        self.path = path

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Word(f"{self.path}.{name}")

    def __call__(self, *args, **kwargs):
        return self

    def __getitem__(self, index):
        return self

    def __repr__(self):
        return f"T.{self.path}"


class Language(types.ModuleType):
    """A module whose attributes are words. Calling it decorates a function, as the name of the
    language did in TVM 0.8."""

    def __init__(self, name, decorators):
        super().__init__(name, __doc__)
        self.__dict__.update(decorators)
        self.__path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Word(name)

    def __call__(self, function):
        return self.__dict__["prim_func"](function, depth=2)
