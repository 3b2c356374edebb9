"""Tensor intrinsics of x86."""

from . import VNNI_DOT_16x4_INTRIN  # noqa: F401

dot_product_16x4_u8i8i32_desc = None
