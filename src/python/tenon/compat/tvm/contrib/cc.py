"""The linker, as `tvm.contrib.cc`."""

import os
import subprocess


def create_shared(output, objects, options=None, cc=None):
    """Links object files to a shared library."""
    objects = [objects] if isinstance(objects, str) else list(objects)
    command = [cc or os.environ.get("CXX", "c++"), "-shared", "-fPIC", "-o", output, *objects]
    subprocess.run([*command, *(options or [])], check=True)


create_executable = None
