"""Transformations made of primitives."""

from ...modules import missing_function

tile_with_tensor_intrin = missing_function("tvm.tir.schedule.transform.tile_with_tensor_intrin")
