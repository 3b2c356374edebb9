"""Random misuse, in a process of its own, which a crash would end."""

import pathlib
import subprocess
import sys

import os

import tenon


def test_misuse_raises_python_exceptions(tmp_path):
    program = pathlib.Path(__file__).with_name("misuse.py")
    folder = os.path.dirname(os.path.dirname(tenon.__file__))
    done = subprocess.run([sys.executable, "-X", "faulthandler", program, "1000", "7"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=500,
                          env={**os.environ, "PYTHONPATH": folder})
    log = tmp_path / "misuse.log"
    assert done.returncode == 0, done.stderr[-2000:] + (log.read_text() if log.exists() else "")
