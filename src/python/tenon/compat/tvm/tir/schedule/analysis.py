"""Analyses of block programs."""

from ...modules import refuse_others


def later(name):
    def call(*args, **kwargs):
        raise NotImplementedError(f"`tvm.tir.schedule.analysis.{name}` is not in tenon.compat.tvm")

    return call


suggest_index_map = later("suggest_index_map")
get_auto_tensorize_mapping_info = later("get_auto_tensorize_mapping_info")
get_tensorize_loop_mapping = later("get_tensorize_loop_mapping")
TensorizeInfo = None

__getattr__ = refuse_others(__name__)
