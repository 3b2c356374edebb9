"""Tools, as `tvm.contrib`."""

from ..modules import refuse_others
from . import cblas, cc, clang, tedd, utils  # noqa: F401

__getattr__ = refuse_others(__name__)
