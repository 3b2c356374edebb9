"""Errors, as `tvm.error`. Tenon's errors are TVM's."""

from ... import _tenon

TVMError = _tenon.Error
OpError = _tenon.Error
InternalError = _tenon.InternalError
DiagnosticError = _tenon.Error


class OpNotImplemented(NotImplementedError):
    pass


class RPCError(Exception):
    pass
