"""Analyses of block programs."""

from ...modules import missing_function, refuse_others

suggest_index_map = missing_function("tvm.tir.schedule.analysis.suggest_index_map")
get_auto_tensorize_mapping_info = missing_function(
    "tvm.tir.schedule.analysis.get_auto_tensorize_mapping_info"
)
get_tensorize_loop_mapping = missing_function(
    "tvm.tir.schedule.analysis.get_tensorize_loop_mapping"
)
TensorizeInfo = None

__getattr__ = refuse_others(__name__)
