#!/usr/bin/env python3
"""The rows of `device_kit measure` by PyTorch: appends one line of JSON for each to a file.

    python3 torch_tables.py --results results/torch.jsonl

Times are by CUDA events around as many calls as take 10 ms, the median of seven, after a warm-up, on random
data. Rows that the file has are not measured again. Exit status: 0, 1 if a row failed, 3 without a device.
"""

import argparse
import json
import os
import statistics
import sys

import torch
import torch.nn.functional as functional

ROWS, COLUMNS = 16384, 4096
MIN_MILLISECONDS, REPEATS = 10, 7


def milliseconds(call, number):
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(number):
        call()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop)


def median_seconds(call):
    number = 1
    call()
    torch.cuda.synchronize()
    while milliseconds(call, number) < MIN_MILLISECONDS:
        number *= 2
    return statistics.median(milliseconds(call, number) for _ in range(REPEATS)) / number * 1e-3


def random(*shape, dtype=torch.float32):
    if dtype == torch.int8:
        return torch.randint(-10, 11, shape, dtype=dtype, device="cuda")
    return torch.rand(shape, device="cuda").mul_(2).sub_(1).to(dtype)


def product(n, dtype):
    a, b = random(n, n, dtype=dtype), random(n, n, dtype=dtype)
    multiply = torch._int_mm if dtype == torch.int8 else torch.matmul
    return lambda: multiply(a, b)


def convolution(channels, size):
    images, filters = random(16, channels, size, size), random(channels, channels, 3, 3)
    return lambda: functional.conv2d(images, filters, padding=1)


def add(n):
    a, b = random(n), random(n)
    out = torch.empty_like(a)
    return lambda: torch.add(a, b, out=out)


def mover(function):
    matrix = random(ROWS, COLUMNS)
    return lambda: function(matrix)


def rows():
    """Name, operations or bytes of a call, unit, and what makes the call."""
    matrix = 4 * ROWS * COLUMNS
    yield "table_add", 12 * 2**26, "GB/s", lambda: add(2**26)
    for n in (1024, 2048, 4096, 8192):
        for name in ("float32", "float16", "bfloat16", "int8"):
            if name != "int8" or n == 4096:
                yield (f"table_product_{name}_{n}", 2 * n**3, "GFLOP/s",
                       lambda n=n, dtype=getattr(torch, name): product(n, dtype))
    for channels, size in ((64, 56), (128, 28)):
        yield (f"table_conv2d_{channels}", 2 * 9 * 16 * (channels * size)**2, "GFLOP/s",
               lambda channels=channels, size=size: convolution(channels, size))
    for name, moved, function in (
            ("softmax", 2 * matrix, lambda x: torch.softmax(x, 1)),
            ("sums_of_rows", matrix + 4 * ROWS, lambda x: x.sum(1)),
            ("sums_of_columns", matrix + 4 * COLUMNS, lambda x: x.sum(0)),
            ("transpose", 2 * matrix, lambda x: x.t().contiguous()),
            ("relu", 2 * matrix, torch.relu),
            ("copy", 2 * matrix, torch.clone)):
        yield "table_" + name, moved, "GB/s", lambda function=function: mover(function)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", required=True, help="the file of lines of JSON")
    path = parser.parse_args().results
    if not torch.cuda.is_available():
        print("torch_tables.py: PyTorch finds no CUDA device", file=sys.stderr)
        return 3
    # float32 as it is, and sums of float16 in float32, as Tenon's kernels have it.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cudnn.benchmark = True
    known = set()
    if os.path.exists(path):
        with open(path) as file:
            for line in file:
                try:
                    known.add(json.loads(line)["case"])
                except ValueError:
                    pass  # cut off by a stop
    status = 0
    with open(path, "a") as file:
        for name, work, unit, make in rows():
            if name in known:
                continue
            line = {"table": "PyTorch", "case": name, "status": "right"}
            try:
                seconds = median_seconds(make())
                line |= {"value": work / seconds * 1e-9, "unit": unit, "microseconds": seconds * 1e6}
            except (RuntimeError, AttributeError) as error:
                status = 1
                line |= {"status": "error", "what": str(error).splitlines()[0]}
            print(json.dumps(line, separators=(",", ":")), file=file, flush=True)
            torch.cuda.empty_cache()
    return status


if __name__ == "__main__":
    sys.exit(main())
