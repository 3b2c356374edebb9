"""Modules of device code, and their interpretation on machines without the device.

A program for a device that this machine does not have runs in Tenon's interpreter, on host memory. Its
results are those of the device; its times are not."""

import sys
import time

from .... import _tenon
from .. import nd

warned = set()


def warn_once(kind):
    if kind not in warned:
        warned.add(kind)
        print(
            f"tenon.compat.tvm: there is no {kind} device; programs for it run in Tenon's "
            "interpreter, which is slow",
            file=sys.stderr,
        )


class SourceModule:
    """The device part of a module."""

    def __init__(self, text, kind):
        self._text = text
        self.type_key = kind

    def get_source(self, fmt=""):
        return self._text

    def save(self, path, fmt=""):
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._text)


class Timing:
    def __init__(self, seconds):
        self.results = tuple(seconds)
        self.mean = sum(seconds) / len(seconds)
        self.min, self.max = min(seconds), max(seconds)
        self.median = sorted(seconds)[len(seconds) // 2]

    def __repr__(self):
        return f"Timing(mean={self.mean * 1e3} ms)"


class InterpretedFunction:
    """A function that the interpreter runs."""

    def __init__(self, name, function):
        self.name = name
        self.function = function

    def __call__(self, *args):
        given, copies = [], []
        for arg in args:
            if isinstance(arg, _tenon.runtime.NDArray):
                array = arg.numpy()
                given.append((array.ctypes.data, str(arg.dtype), list(arg.shape)))
                copies.append((arg, array))
            else:
                given.append(float(arg) if isinstance(arg, float) else int(arg))
        _tenon._compat.interpret(self.function, given)
        for arg, array in copies:
            arg.copy_from(array)

    def time_evaluator(self, dev=None, number=1, repeat=1, min_repeat_ms=0, **others):
        def evaluate(*args):
            seconds = []
            for _ in range(repeat):
                start = time.perf_counter()
                self(*args)
                seconds.append(time.perf_counter() - start)
            return Timing(seconds)

        return evaluate


class DeviceModule:
    """A module with functions for a device. `made` is the compiled module, or the error of its
    compilation. `functions` are lowered functions for the interpreter, or None if the device exists."""

    def __init__(self, kind, made, functions, entry_name):
        self.kind = kind
        self.made = made
        self.functions = functions
        self.entry_name = entry_name
        self.type_key = kind

    @property
    def imported_modules(self):
        return [SourceModule(self.get_source(self.kind), self.kind)]

    def get_source(self, fmt=""):
        if isinstance(self.made, Exception):
            raise self.made
        return self.made.get_source(fmt or self.kind)

    def __getitem__(self, name):
        if self.functions is None:
            return self.made[name]
        return InterpretedFunction(name, self.functions[name])

    def get_function(self, name, query_imports=False):
        return self[name]

    @property
    def entry_func(self):
        return self[self.entry_name]

    def __call__(self, *args):
        return self[self.entry_name](*args)

    def time_evaluator(self, func_name, dev=None, number=10, repeat=1, min_repeat_ms=0, **others):
        return self[func_name].time_evaluator(
            dev, number=number, repeat=repeat, min_repeat_ms=min_repeat_ms
        )

    def save(self, path, fmt=""):
        self.made.save(str(path))


def device_module(kind, compile_it, lower_it, name):
    """Compiles a program for a device, and lowers it for the interpreter if there is no device."""
    if nd.real_device(kind) is not None:
        return DeviceModule(kind, compile_it(), None, name)
    warn_once(kind)
    try:
        made = compile_it()
    except _tenon.Error as error:
        made = error
    return DeviceModule(kind, made, dict(lower_it().functions), name)
