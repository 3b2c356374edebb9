"""The operator library; its schedules are in `topi.cpu` and `topi.gpu`."""

from ._tenon.topi import *
