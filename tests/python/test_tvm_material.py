"""TVM 0.9's tutorials and tests of tensor expressions, where the variable TENON_TVM_SOURCE names a checkout
of TVM at the tag v0.9.0."""

import os
from pathlib import Path

import pytest
import tvm_material

SOURCE = os.environ.get("TENON_TVM_SOURCE", "")
pytestmark = pytest.mark.skipif(
    not SOURCE, reason="TENON_TVM_SOURCE does not name a checkout of TVM 0.9"
)


@pytest.mark.parametrize("name", tvm_material.TUTORIALS)
def test_a_tutorial_runs(name):
    assert tvm_material.run_tutorial(Path(SOURCE), name) == ""


def test_the_failing_tests_of_tensor_expressions_are_the_listed_ones():
    outcomes = tvm_material.run_tests(Path(SOURCE), "test_te_*.py")
    failed = {name for name, outcome in outcomes.items() if outcome in ("FAILED", "ERROR")}
    assert failed == set(tvm_material.known_failures())
    assert sum(outcome == "PASSED" for outcome in outcomes.values()) >= 122


def test_346_tests_of_block_programs_pass():
    outcomes = tvm_material.run_tests(Path(SOURCE), "test_tir_schedule_*.py")
    outcomes |= tvm_material.run_tests(Path(SOURCE), "test_tvmscript_*.py")
    assert sum(outcome == "PASSED" for outcome in outcomes.values()) >= 346
