"""The pytest plugin that TVM's conftest.py names.

A test file of TVM defines many scripts. While pytest imports it, a script that cannot be read becomes an
object that raises the error where it is used, so that it fails its own tests and not the whole file."""

from .. import script

script.defer_errors()
