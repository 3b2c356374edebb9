"""Tags of operations, as `tvm.topi.tag`."""

ELEMWISE = "elemwise"
BROADCAST = "broadcast"
INJECTIVE = "injective"
COMM_REDUCE = "comm_reduce"
COMM_REDUCE_IDX = "comm_reduce_idx"


def is_broadcast(tag):
    return tag in (ELEMWISE, BROADCAST)


def is_injective(tag):
    return tag in (ELEMWISE, BROADCAST, INJECTIVE)
