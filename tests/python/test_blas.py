"""Routines of the BLAS against NumPy."""

import numpy as np
import pytest

import tenon
from tenon import topi

TYPES = ["float32", "float64"]
N = 37


def routine(name, **options):
    return tenon.build(getattr(topi.blas, name)(**options), "llvm", name=name)[name]


def vector(dtype, n=N):
    return np.random.default_rng(n).standard_normal(n).astype(dtype)


def matrix(dtype, m=N, n=N):
    """A matrix that is well conditioned if it is square."""
    square = np.random.default_rng(m).standard_normal((m, n)) / 8 + 2 * np.eye(m, n)
    return square.astype(dtype)


def close(actual, expected, dtype):
    np.testing.assert_allclose(actual, expected, rtol=1e-4 if dtype == "float32" else 1e-12, atol=1e-5)


@pytest.mark.parametrize("dtype", TYPES)
def test_axpy_updates_a_strided_vector(dtype):
    x, y = vector(dtype, 2 * N)[::2], vector(dtype, 3 * N)[::-3]
    expected = 2.5 * x + y
    routine("axpy", dtype=dtype, unit_strides=False)(2.5, x, y)
    close(y, expected, dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name, expected", [("nrm2", np.linalg.norm), ("asum", lambda x: abs(x).sum()),
                                            ("iamax", lambda x: abs(x).argmax())])
def test_a_reduction_of_a_vector_has_a_result_of_rank_0(name, expected, dtype):
    x = vector(dtype)
    result = np.zeros((), "int32" if name == "iamax" else dtype)
    routine(name, dtype=dtype)(x, result)
    close(result, expected(x), dtype)


def test_dot_multiplies_vectors():
    x, y, result = vector("float64"), vector("float64")[::-1].copy(), np.zeros(())
    routine("dot", dtype="float64")(x, y, result)
    close(result, x @ y, "float64")


def test_rot_rotates_both_vectors():
    x, y = vector("float64"), vector("float64")[::-1].copy()
    expected = 0.6 * x + 0.8 * y, 0.6 * y - 0.8 * x
    routine("rot", dtype="float64")(x, y, 0.6, 0.8)
    close(x, expected[0], "float64")
    close(y, expected[1], "float64")


@pytest.mark.parametrize("transposed", [False, True])
def test_gemv_multiplies_by_a_matrix_or_its_transpose(transposed):
    a = matrix("float32", 19, 37)
    op = a.T if transposed else a
    x, y = vector("float32", op.shape[1]), vector("float32", op.shape[0])
    expected = 2 * op @ x + 0.5 * y
    routine("gemv", transposed=transposed)(2, a, x, 0.5, y)
    close(y, expected, "float32")


def test_ger_adds_an_outer_product():
    a, x, y = matrix("float32", 19, 37), vector("float32", 19), vector("float32", 37)
    expected = a + 2 * np.outer(x, y)
    routine("ger")(2, x, y, a)
    close(a, expected, "float32")


@pytest.mark.parametrize("lower", [False, True])
def test_symv_reads_one_triangle(lower):
    a, x, y = matrix("float64"), vector("float64"), np.full(N, np.nan)
    triangle = np.tril(a) if lower else np.triu(a)
    symmetric = triangle + triangle.T - np.diag(np.diag(a))
    routine("symv", dtype="float64", lower=lower)(3, a, x, 0, y)
    close(y, 3 * symmetric @ x, "float64")


@pytest.mark.parametrize("lower", [False, True])
def test_syr2_changes_one_triangle(lower):
    a, x = matrix("float64"), vector("float64")
    y = x[::-1].copy()
    triangle = np.tril if lower else np.triu
    expected = a + triangle(0.5 * np.outer(x, y) + 0.5 * np.outer(y, x))
    routine("syr2", dtype="float64", lower=lower)(0.5, x, y, a)
    close(a, expected, "float64")


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("unit_diagonal", [False, True])
def test_trsv_solves_for_what_trmv_multiplies(lower, transposed, unit_diagonal):
    options = {"dtype": "float64", "lower": lower, "transposed": transposed, "unit_diagonal": unit_diagonal}
    a, x = matrix("float64"), vector("float64")
    triangle = np.tril(a) if lower else np.triu(a)
    if unit_diagonal:
        np.fill_diagonal(triangle, 1)
    product = x.copy()
    routine("trmv", **options)(a, product)
    close(product, (triangle.T if transposed else triangle) @ x, "float64")
    routine("trsv", **options)(a, product)
    close(product, x, "float64")


def test_a_type_that_the_blas_lacks_is_refused():
    with pytest.raises(tenon.TypeError, match="int32"):
        topi.blas.dot(dtype="int32")
