"""Temporary folders, as `tvm.contrib.utils`."""

import os
import shutil
import tempfile


class TempDirectory:
    """A folder that is removed with this object."""

    def __init__(self, custom_path=None, keep_for_debug=None):
        self.temp_dir = custom_path or tempfile.mkdtemp()
        os.makedirs(self.temp_dir, exist_ok=True)
        self._removes = custom_path is None

    @property
    def path(self):
        return self.temp_dir

    def remove(self):
        if self._removes and self.temp_dir:
            shutil.rmtree(self.temp_dir, ignore_errors=True)
            self.temp_dir = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()

    def __truediv__(self, name):
        return self.relpath(name)

    def __del__(self):
        self.remove()

    def relpath(self, name):
        return os.path.join(self.temp_dir, name)

    def listdir(self):
        return os.listdir(self.temp_dir)


def tempdir(custom_path=None, keep_for_debug=None):
    return TempDirectory(custom_path, keep_for_debug)
