"""Random misuse, in a process of its own, which a crash would end."""

import pathlib
import subprocess
import sys


def test_misuse_raises_python_exceptions(tmp_path):
    program = pathlib.Path(__file__).with_name("misuse.py")
    done = subprocess.run([sys.executable, "-X", "faulthandler", program, "1000", "7"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=500)
    log = tmp_path / "misuse.log"
    assert done.returncode == 0, done.stderr[-2000:] + (log.read_text() if log.exists() else "")
