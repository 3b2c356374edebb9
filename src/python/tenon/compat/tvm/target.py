"""Targets, as `tvm.target`."""

from .modules import refuse_others

KINDS = {"cpu": "llvm", "c": "c", "llvm": "llvm", "cuda": "cuda", "nvptx": "cuda"}
# Options of TVM that select schedules of its operator library.
IGNORED = ("keys", "libs", "model", "device", "host", "link-params", "runtime")


class TargetKind:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return self.name


class Target:
    """A device or compiler and its options."""

    _stack = []

    def __new__(cls, target, host=None):
        return target if isinstance(target, Target) else super().__new__(cls)

    def __init__(self, target, host=None):
        if isinstance(target, Target):
            return
        if isinstance(target, dict):
            options = [f"-{k}={v}" for k, v in target.items() if k != "kind"]
            target = " ".join([target["kind"], *options])
        self.text = str(target)
        words = self.text.split()
        self.kind = TargetKind(KINDS.get(words[0], words[0]))
        self.host = host
        self.attrs = dict(
            word.lstrip("-").split("=", 1) for word in words[1:] if "=" in word
        )
        self.keys = ["gpu"] if self.kind.name in ("cuda", "opencl") else ["cpu"]

    def __enter__(self):
        Target._stack.append(self)
        return self

    def __exit__(self, *error):
        Target._stack.pop()

    @staticmethod
    def current(allow_none=True):
        if Target._stack:
            return Target._stack[-1]
        if allow_none:
            return None
        raise ValueError("Target is not in the context")

    @property
    def max_num_threads(self):
        return int(self.attrs.get("max_num_threads", 1024))

    @property
    def thread_warp_size(self):
        return 32

    @property
    def mcpu(self):
        return self.attrs.get("mcpu", "")

    @property
    def model(self):
        return self.attrs.get("model", "unknown")

    def export(self):
        """Returns the kind and the options as a dictionary."""
        return {"kind": self.text.split()[0], "keys": self.keys, **self.attrs}

    def tenon_text(self):
        """Returns the text of Tenon's target."""
        options = self.text.split()[1:]
        return " ".join(
            [self.kind.name, *(o for o in options if not o.lstrip("-").startswith(IGNORED))]
        )

    def __str__(self):
        return self.text

    __repr__ = __str__

    def __eq__(self, other):
        return isinstance(other, Target) and self.text == other.text

    def __hash__(self):
        return hash(self.text)


def cuda(model="unknown", arch=None, options=None):
    return Target(f"cuda -arch={arch}" if arch else "cuda")


def create(target):
    return Target(target)


def arm_cpu(model="unknown", options=None):
    return Target("llvm")


__getattr__ = refuse_others(__name__)
