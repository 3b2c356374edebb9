"""Tensor intrinsics of processors, as `tvm.tir.tensor_intrin`. Only their names are here."""

AMDGPU_SDOT4_INTRIN = "sdot4"
ARM_DOT_4x4_i8_NEON_INTRIN = "dot_4x4_i8i8s32_neon"
ARM_DOT_4x4_i8_SDOT_INTRIN = "dot_4x4_i8i8s32_sdot"
DP4A_INTRIN = "dp4a"
VNNI_DOT_16x4_INTRIN = "dot_16x4_vnni"
