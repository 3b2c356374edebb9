"""Transformations made of primitives."""


def tile_with_tensor_intrin(sch, block, intrin_name):
    raise NotImplementedError(
        "`tvm.tir.schedule.transform.tile_with_tensor_intrin`; use split, reorder and tensorize"
    )
