"""The pytest plugin that TVM's conftest.py names. The layer needs none of its hooks."""
