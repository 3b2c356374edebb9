"""Helpers of tests, as `tvm.testing`."""

import os
import sys

from ..modules import refuse_others


def assert_allclose(actual, desired, rtol=1e-7, atol=1e-7):
    import numpy

    actual, desired = numpy.asanyarray(actual), numpy.asanyarray(desired)
    numpy.testing.assert_allclose(actual.shape, desired.shape)
    numpy.testing.assert_allclose(actual, desired, rtol=rtol, atol=atol, verbose=True)


def assert_prim_expr_equal(lhs, rhs):
    """Checks that two expressions provably have the same value."""
    from ..arith import Analyzer

    assert Analyzer().can_prove_equal(lhs, rhs), f"{lhs} != {rhs}"


def device_enabled(target):
    """Whether programs for the target can run here."""
    from ..nd import device

    name = str(target).split()[0]
    if name in ("llvm", "cpu", "c"):
        return True
    if name not in ("cuda", "opencl"):
        return False
    return device(name).exists()


def enabled_targets():
    from ..nd import device

    return [(name, device(name)) for name in ("llvm", "cuda") if device_enabled(name)]


def requires_cuda(*args):
    """Skips a test where there is no CUDA device; without a test, returns the marks that do."""
    import pytest

    mark = pytest.mark.skipif(not device_enabled("cuda"), reason="needs a CUDA device")
    return mark(args[0]) if args else [mark]


requires_gpu = requires_tensorcore = requires_cudnn = requires_cublas = requires_nvptx = requires_cuda


def unchanged(*args):
    """Returns the test, or no marks."""
    return args[0] if args else []


requires_llvm = requires_x86 = uses_gpu = skip_if_wheel_test = slow = unchanged


def is_ampere_or_newer():
    return False


def known_failing_targets(*names):
    return lambda function: function


exclude_targets = known_failing_targets


def parametrize_targets(*targets):
    import pytest

    from ..nd import device

    pairs = [(name, device(name)) for name in targets if device_enabled(name)]
    return pytest.mark.parametrize("target,dev", pairs)


def parameter(*values, ids=None, by_dict=None):
    """Returns a fixture with these values; its name is the variable that it is assigned to."""
    import pytest

    if by_dict is not None:
        ids, values = list(by_dict), list(by_dict.values())

    @pytest.fixture(params=list(values), ids=ids)
    def as_fixture(request):
        return request.param

    return as_fixture


def parameters(*value_sets, ids=None):
    """Returns one fixture per position of the value sets; they vary together."""
    import pytest

    def nth(n):
        @pytest.fixture(params=range(len(value_sets)), ids=ids)
        def as_fixture(request):
            return value_sets[request.param][n]

        return as_fixture

    return [nth(n) for n in range(len(value_sets[0]))]


def fixture(function=None, *, cache_return_value=False):
    import pytest

    if function is None:
        return lambda given: fixture(given, cache_return_value=cache_return_value)
    return pytest.fixture(function)


def main():
    """Runs the tests of the calling file."""
    import pytest

    test_file = sys._getframe(1).f_globals["__file__"]
    sys.exit(pytest.main([os.path.abspath(test_file)] + sys.argv[1:]))


def object_use_count(obj):
    return sys.getrefcount(obj) - 1


def assert_structural_equal(lhs, rhs):
    from ..ir import assert_structural_equal as compare

    compare(lhs, rhs)


from .tir import check_error  # noqa: E402,F401

__getattr__ = refuse_others(__name__)
