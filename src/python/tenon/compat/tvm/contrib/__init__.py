"""Tools, as `tvm.contrib`."""

from .._modules import refuse_others
from . import utils  # noqa: F401

__getattr__ = refuse_others(__name__)
