"""Simplification, proofs and intervals of index expressions."""

from ._tenon.arith import *
