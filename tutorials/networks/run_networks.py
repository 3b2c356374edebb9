"""Compiles networks, compares their results with onnxruntime's, and times both.

    scripts/setup.sh --with-peers=newest        # the packages onnx and onnxruntime
    scripts/python.sh tutorials/networks/run_networks.py [--threads 1] [NAME...]
"""

import argparse
import os
import pathlib
import statistics
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "build/python"))
# Searched after this environment's own packages, which the module is built against.
sys.path.extend(map(str, ROOT.glob("build/peers/lib/python3*/site-packages")))


class CompiledNetwork:
    """A network as one function, whose weights are packed once, by another function.

    The function's parameters are the inputs, those weights that it reads itself, the outputs, and
    the arrays that the other function computes from the weights (BuildOptions::separate_constants).
    """

    def __init__(self, network, target, **sizes):
        from layers import TenonLayers

        import tenon
        from tenon import te, topi

        self.layers = TenonLayers(target)
        self.outputs = network(self.layers, **sizes)
        schedule = te.create_schedule(self.outputs)
        topi.schedule(schedule, self.outputs, target)
        args = self.layers.inputs + self.layers.weights + self.outputs
        functions = tenon.lower(schedule, args, separate_constants=True)
        self.module = tenon.build(schedule, args, target, separate_constants=True)
        self.main = functions["main"]
        self.results = [np.zeros(self.layers.shape(out), np.float32) for out in self.outputs]
        self.known = dict(zip((w.name for w in self.layers.weights), self.layers.arrays))
        self.packed = []
        if "main_constants" in functions:
            arrays = [buffer for _, buffer in functions["main_constants"].buffers]
            weights = [self.known[b.name] for b in arrays if b.name in self.known]
            self.packed = [tenon.runtime.NDArray.empty([int(n) for n in b.shape], str(b.dtype))
                           for b in arrays[len(weights):]]
            self.module["main_constants"](*weights, *self.packed)

    def random_inputs(self, seed=1):
        random = np.random.default_rng(seed)
        def array(tensor):
            shape = self.layers.shape(tensor)
            if tensor.dtype == "int32":
                return random.integers(0, 1000, shape, np.int32)
            return random.standard_normal(shape, np.float32)
        return {tensor.name: array(tensor) for tensor in self.layers.inputs}

    def bind(self, inputs):
        """Returns a function that runs the network on these inputs and returns the outputs."""
        known = self.known | inputs
        rest = iter(self.results)
        own = self.main.buffers[:len(self.main.buffers) - len(self.packed)]
        args = [known[b.name] if b.name in known else next(rest) for _, b in own] + self.packed
        function = self.module["main"]

        def run():
            function(*args)
            return self.results

        return run


def seconds_of(run):
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def turn_of(run):
    """Returns the median time of consecutive runs. Waits first, because the other library's threads
    may still be spinning on the processors."""
    time.sleep(0.2)
    return statistics.median([seconds_of(run) for _ in range(7)][2:])


def onnx_run(network, inputs, threads):
    """Returns a function that runs the network in onnxruntime."""
    from layers import OnnxLayers

    import onnxruntime

    layers = OnnxLayers()
    outputs = network(layers)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(layers.model(outputs), options)
    return lambda: session.run(None, inputs)


def main():
    from networks import NETWORKS

    import onnxruntime
    import tenon

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NETWORKS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--turns", type=int, default=9)
    arguments = parser.parse_args()
    for name in arguments.names:
        if name not in NETWORKS:
            parser.error(f"there is no network {name}; there are {', '.join(NETWORKS)}")
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:arguments.threads])
    tenon.runtime.set_num_threads(arguments.threads)
    print(f"onnxruntime {onnxruntime.__version__}, threads: {arguments.threads}")
    print(f"{'network':14} {'compile s':>9} {'error':>8} {'Tenon ms':>9} {'onnx ms':>8} {'ratio':>6}")
    ratios = []
    for name in arguments.names or NETWORKS:
        begin = time.perf_counter()
        compiled = CompiledNetwork(NETWORKS[name], tenon.Target("llvm -mcpu=native"))
        compile_seconds = time.perf_counter() - begin
        inputs = compiled.random_inputs()
        ours, theirs = compiled.bind(inputs), onnx_run(NETWORKS[name], inputs, arguments.threads)
        error = max(np.abs(a - b).max() / np.abs(b).max() for a, b in zip(ours(), theirs()))
        if not error < 1e-4:
            sys.exit(f"{name}: results differ by {error:.1e} of the largest element")
        turns = [(turn_of(ours), turn_of(theirs)) for _ in range(arguments.turns)]
        mine, other = (statistics.median(column) * 1e3 for column in zip(*turns))
        ratios.append(other / mine)
        print(f"{name:14} {compile_seconds:9.1f} {error:8.1e} {mine:9.2f} {other:8.2f}"
              f" {ratios[-1]:6.2f}", flush=True)
    print(f"geometric mean {statistics.geometric_mean(ratios):.2f}")


if __name__ == "__main__":
    main()
