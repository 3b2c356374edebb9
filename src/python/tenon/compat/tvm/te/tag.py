"""Default tags of operations."""

import functools


class TagScope:
    """The tag of the operations that are declared inside a `with`, or by a decorated function."""

    _current = None

    @classmethod
    def get_current(cls):
        return cls._current

    def __init__(self, tag):
        self.tag = tag

    def __enter__(self):
        if TagScope._current is not None:
            raise ValueError("nested op_tag is not allowed for now")
        TagScope._current = self
        return self

    def __exit__(self, *error):
        TagScope._current = None

    def __call__(self, function):
        @functools.wraps(function)
        def tagged(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return tagged


def tag_scope(tag):
    return TagScope(tag)


def tag_or_current(tag):
    """Returns the given tag, or that of the scope."""
    current = TagScope.get_current()
    return tag if tag or current is None else current.tag
