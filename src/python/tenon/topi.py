"""The operator library. Schedules are in `topi.cpu` and `topi.gpu`, routines of the BLAS in `topi.blas`."""

from ._tenon.topi import *
