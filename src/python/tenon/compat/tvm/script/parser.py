"""The parser of scripts, as `tvm.script.parser`."""

from . import from_source  # noqa: F401
