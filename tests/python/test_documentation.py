"""Docstrings, which are the comments of the public headers, and the pages that notebooks show."""

import pathlib
import runpy

import pytest
import tenon
from tenon import s_tir, te, tune

ROOT = pathlib.Path(__file__).parents[2]
header_docs = runpy.run_path(str(ROOT / "src" / "python" / "header_docs.py"))


def comments(text):
    return {name: header_docs["paragraphs"](lines) for name, lines in header_docs["entries"](text)}


def test_a_comment_belongs_to_the_declaration_below_it():
    text = """
namespace tenon::te {
/// How to compute.
class Stage {
 public:
  /// Fuses loops,
  /// outermost first:
  ///   s.fuse({x, y});
  IterVar fuse(const std::vector<IterVar>& axes, std::string name = "f;{") const;
  bool plain() const { return true; }
  /// The number.
  int number = 0;
};
}  // namespace tenon::te
"""
    assert comments(text) == {
        "te::Stage": "How to compute.",
        "te::Stage::fuse": "Fuses loops, outermost first:\n  s.fuse({x, y});",
        "te::Stage::number": "The number.",
    }


@pytest.mark.parametrize("function, header, name", [
    (te.Stage.fuse, "te/stage.h", "te::Stage::fuse"),
    (te.Schedule.normalize, "te/schedule.h", "te::Schedule::normalize"),
    (tenon.if_then_else, "tir/ops.h", "tir::if_then_else"),
    (s_tir.Schedule.sample_perfect_tile, "s_tir/schedule.h", "s_tir::Schedule::sample_perfect_tile"),
    (tune.estimate_flops, "tune/task_table.h", "tune::estimate_flops"),
])
def test_a_docstring_is_the_comment_of_the_header(function, header, name):
    text = (ROOT / "include" / "tenon" / header).read_text()
    assert comments(text)[name] in function.__doc__


def test_the_documentation_of_a_binding_replaces_that_of_the_header():
    assert "`nparts`" in te.Stage.split.__doc__


def add_one():
    A = te.placeholder((8,), "A")
    B = te.compute((8,), lambda i: A[i] + 1, "B")
    return A, B


def test_notebooks_show_the_loop_page():
    A, B = add_one()
    func = te.create_prim_func([A, B])
    s = te.create_schedule(B)
    for value in (s, tenon.lower(s, [A, B]), func, s_tir.Schedule(func)):
        assert value._repr_html_().startswith("<iframe"), type(value)


def test_the_page_of_a_program_that_cannot_be_compiled_has_the_error():
    A = te.placeholder((8,), "A")
    B = te.compute((9,), lambda i: A[i], "B")
    assert "this dimension has 8 elements" in te.create_schedule(B)._repr_html_()
