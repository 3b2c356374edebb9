"""Spaces of schedules."""

from ..tir.schedule import Schedule


class ScheduleFn:
    """The schedules that a function makes, which samples where there is a choice."""

    def __init__(self, sch_fn, **others):
        self.sch_fn = sch_fn

    def tenon_space(self):
        def call(made):
            result = self.sch_fn(Schedule(None, made=made))
            if result is None:
                return made
            if isinstance(result, (list, tuple)):
                return [each.made for each in result]
            return result.made

        return call


class PostOrderApply:
    """The schedules of the default rules."""

    def tenon_space(self):
        return None


def tenon_space(space):
    """Returns Tenon's space of schedules for TVM's, or None for the default rules."""
    if space is None or space == "post-order-apply":
        return None
    if not hasattr(space, "tenon_space"):
        space = ScheduleFn(space)
    return space.tenon_space()
