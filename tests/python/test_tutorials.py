"""Every tutorial runs."""

import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).parents[2] / "tutorials" / "python"


@pytest.mark.parametrize("name", [path.stem for path in sorted(FOLDER.glob("*.py"))])
def test_the_tutorial_runs(name, tmp_path):
    arguments = {"matmul_ladder": ["64"], "tuning": ["4"]}.get(name, [])
    done = subprocess.run([sys.executable, FOLDER / f"{name}.py", *arguments], cwd=tmp_path, text=True,
                          capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout and not done.stderr
