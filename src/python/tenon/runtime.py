"""Arrays and compiled functions."""

from ._tenon.runtime import *
