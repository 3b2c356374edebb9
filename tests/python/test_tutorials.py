"""Every tutorial runs, and the networks compute what their definitions say."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import tenon
from tenon import te

FOLDER = pathlib.Path(__file__).parents[2] / "tutorials" / "python"


@pytest.mark.parametrize("name", [path.stem for path in sorted(FOLDER.glob("*.py"))])
def test_the_tutorial_runs(name, tmp_path):
    arguments = {"matmul_ladder": ["64"], "tuning": ["4"]}.get(name, [])
    done = subprocess.run([sys.executable, FOLDER / f"{name}.py", *arguments], cwd=tmp_path, text=True,
                          capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout and not done.stderr


SMALL_NETWORKS = {
    "resnet50": {"size": 64, "width": 16, "blocks": (2, 1, 1, 1)},
    "mobilenet_v2": {"size": 32, "stages": ((1, 16, 1, 1), (6, 24, 2, 2))},
    "bert_base": {"positions": 9, "layers": 1, "width": 48, "heads": 3, "words": 1000},
    "gpt2_step": {"past": 11, "layers": 1, "width": 48, "heads": 3, "words": 1000},
}


@pytest.mark.parametrize("name", SMALL_NETWORKS)
def test_a_network_computes_its_definition(name, monkeypatch):
    monkeypatch.syspath_prepend(FOLDER.parent / "networks")
    from networks import NETWORKS
    from run_networks import CompiledNetwork

    compiled = CompiledNetwork(NETWORKS[name], tenon.Target("llvm -mcpu=native"),
                               **SMALL_NETWORKS[name])
    inputs = compiled.random_inputs()
    layers = compiled.layers
    # The same tensors without any schedule.
    args = layers.inputs + layers.weights + compiled.outputs
    plain = tenon.build(te.create_schedule(compiled.outputs), args, autotune_loops=False)
    expected = [np.zeros(layers.shape(out), np.float32) for out in compiled.outputs]
    plain["main"](*inputs.values(), *layers.arrays, *expected)
    for result, right in zip(compiled.bind(inputs)(), expected, strict=True):
        np.testing.assert_allclose(result, right, rtol=1e-3, atol=1e-4 * np.abs(right).max())
