"""The programs of the pages that users come from, run unchanged under tenon.compat.tvm."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import seed_pages

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "data"
pytestmark = pytest.mark.skipif(
    not seed_pages.are_here(), reason=f"the pages are not in {seed_pages.SEEDS}"
)


def run(program, folder):
    """Runs a program as `python -m tenon.compat.tvm program.py` and returns what it prints."""
    path = folder / f"{program.name}.py"
    path.write_text(program.text(), encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-m", "tenon.compat.tvm", str(path)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout


def normalized(text):
    """Returns the lines of a text without blank lines and trailing spaces."""
    return [line.rstrip() for line in text.split("\n") if line.strip()]


def texts_between_dashes(text):
    return [normalized(part) for part in re.split(r"^-{5,}.*$", text, flags=re.MULTILINE)]


def section(name, title):
    """Returns a section of a golden file of block programs."""
    text = (GOLDEN / "blocks" / name).read_text(encoding="utf-8")
    found = re.search(rf"^===== {re.escape(title)}[^\n]*\n(.*?)(?=^=====|\Z)", text, re.M | re.S)
    return normalized(found[1].replace("<EOF>", ""))


if seed_pages.are_here():
    PRIMITIVES = seed_pages.primitives()
else:
    PRIMITIVES = []


def test_the_page_of_primitives_has_21_programs():
    assert len(PRIMITIVES) == 21


@pytest.mark.parametrize("program", PRIMITIVES, ids=lambda program: program.name)
def test_a_primitive_prints_its_golden_text(program, tmp_path):
    (golden,) = (GOLDEN / "primitives").glob(f"{program.name}_*.txt")
    # The page shows an operation in one result that its program does not print.
    text = re.sub(r"^compute\(A.shared.*\n", "", golden.read_text(encoding="utf-8"), flags=re.M)
    expected = texts_between_dashes(text)
    assert texts_between_dashes(run(program, tmp_path)) == expected


@pytest.mark.parametrize("program", seed_pages.LESSON, ids=lambda program: program.name)
def test_a_program_of_the_lesson_runs(program, tmp_path):
    run(program, tmp_path)


def test_the_loop_structures_of_the_lesson_are_golden(tmp_path):
    (program,) = [p for p in seed_pages.LESSON if p.name == "loop_structures"]
    printed = normalized(run(program, tmp_path))
    golden = normalized((GOLDEN / "ladder" / "seed003_lower.txt").read_text(encoding="utf-8"))
    assert printed == golden[: len(printed)]


@pytest.mark.parametrize("program", seed_pages.FORUM, ids=lambda program: program.name)
def test_a_program_of_the_forum_runs(program, tmp_path):
    run(program, tmp_path)


def write_display(folder):
    """Writes a package IPython whose display.Code prints the text."""
    (folder / "IPython").mkdir()
    (folder / "IPython" / "__init__.py").write_text("from . import display\n")
    (folder / "IPython" / "display.py").write_text(
        'def Code(text, language):\n    print("=====")\n    print(text)\n'
    )


def test_the_scripts_of_mm_relu_are_golden(tmp_path):
    write_display(tmp_path)
    printed = run(seed_pages.MM_RELU, tmp_path).split("=====")
    assert normalized(printed[1]) == section("seed000.txt", "split j [None,4]")
    merged = normalized(printed[2].partition("Time cost")[0])
    assert merged == section("seed000.txt", "reverse_compute_at WITHOUT reorder")


def trace_of_the_page(first):
    """Returns the trace that the notebook shows, from a line on."""
    lines = seed_pages.lines_of("notebook")[first - 1 :]
    end = next(n for n, line in enumerate(lines) if n > 1 and not line.startswith("  "))
    return normalized("\n".join(lines[:end]))


def test_the_traces_of_the_notebook_are_golden(tmp_path):
    printed = run(seed_pages.NOTEBOOK, tmp_path)
    lines = normalized(printed)
    first = lines.index("# from tvm import tir")
    expected = trace_of_the_page(126)
    assert lines[first : first + len(expected)] == expected
    # The factors are drawn at random; everything else of the sampled traces is known.
    attempts = re.findall(r"=====Attempt \d.*?ms====\n(.*?)(?=\n=====|\Z)", printed, re.S)
    assert len(attempts) == 5
    sampled = re.compile(r"decision=\[\d+, \d+\]")
    expected = sampled.sub("decision=[]", "\n".join(trace_of_the_page(198)))
    for attempt in attempts:
        lines = normalized(attempt)[: expected.count("\n") + 1]
        assert sampled.sub("decision=[]", "\n".join(lines)) == expected
