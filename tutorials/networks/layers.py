"""The layers of networks.py in two forms, with the same random weights: as tensors of Tenon and as
nodes of an ONNX graph."""

import math

import numpy as np

from tenon import te, topi


class Weights:
    """Random weights, in the order in which a network requests them."""

    def __init__(self, seed=0):
        self.random = np.random.default_rng(seed)
        self.arrays = []

    def next(self, shape, scale):
        array = self.random.standard_normal(shape, dtype=np.float32) * np.float32(scale)
        self.arrays.append(array)
        return array


class Planes:
    """An image as a matrix {channels, positions}. In this form, a 1 x 1 convolution is a product."""

    def __init__(self, tensor, height, width):
        self.tensor = tensor
        self.shape = (1, int(tensor.shape[0]), height, width)


def as_planes(x, stride=1):
    """Returns every `stride`-th row and column as Planes."""
    if stride > 1:
        x = topi.strided_slice(as_image(x), [0] * 4, [int(n) for n in x.shape], [1, 1, stride, stride])
    if isinstance(x, Planes):
        return x
    channels, height, width = (int(n) for n in x.shape[1:])
    return Planes(topi.reshape(x, (channels, height * width)), height, width)


def as_image(x):
    """Returns {1, channels, height, width}."""
    return topi.reshape(x.tensor, x.shape) if isinstance(x, Planes) else x


def mapped(function, *images):
    """Applies a function of tensors to the elements of images in the same form."""
    if isinstance(images[0], Planes):
        return Planes(function(*(x.tensor for x in images)), *images[0].shape[2:])
    return function(*images)


class TenonLayers:
    """`inputs` and `weights` are the placeholders that a network has declared; `arrays` holds the
    values of the weights."""

    def __init__(self, target):
        self.target = target
        self.inputs, self.weights = [], []
        self.random = Weights()

    @property
    def arrays(self):
        return self.random.arrays

    def input(self, name, shape, dtype="float32"):
        self.inputs.append(te.placeholder(shape, name, dtype))
        return self.inputs[-1]

    def weight(self, shape, scale=1.0):
        self.random.next(shape, scale)
        self.weights.append(te.constant_input(shape, f"w{len(self.weights)}"))
        return self.weights[-1]

    def shape(self, x):
        shape = x.shape if isinstance(x, Planes) else [int(n) for n in x.shape]
        return tuple(shape)

    def conv(self, x, filters, size, stride=1):
        channels, height, width = self.shape(x)[1:]
        scale = 1 / math.sqrt(channels * size * size)
        if size == 1:
            x = as_planes(x, stride)
            y = topi.matmul(self.weight((filters, channels), scale), x.tensor)
            return Planes(topi.add(y, self.weight((filters, 1), 0.1)), *x.shape[2:])
        kernel = self.weight((filters, channels, size, size), scale)
        bias = self.weight((filters, 1, 1), 0.1)
        # Winograd's transformed filters are up to four times as large and are read from memory. A
        # small image has too few positions to amortize the reads.
        kind = topi.conv2d_nchw
        if width >= 28:
            kind = lambda *a, **options: topi.cpu.fastest_conv2d_nchw(*a, self.target, **options)
        return topi.add(kind(as_image(x), kernel, stride=stride, padding=size // 2), bias)

    def depthwise_conv(self, x, size, stride=1):
        channels = self.shape(x)[1]
        kernel = self.weight((channels, 1, size, size), 1 / size)
        y = topi.depthwise_conv2d_nchw(as_image(x), kernel, stride=stride, padding=size // 2)
        return topi.add(y, self.weight((channels, 1, 1), 0.1))

    def max_pool(self, x, size, stride):
        return topi.max_pool2d(as_image(x), size, stride=stride, padding=size // 2)

    def mean_of_images(self, x):
        channels, height, width = self.shape(x)[1:]
        means = topi.multiply(topi.sum(as_planes(x).tensor, (1,)), 1 / (height * width))
        return topi.reshape(means, (1, channels))

    def dense(self, x, out):
        n = self.shape(x)[1]
        weight = self.weight((out, n), 1 / math.sqrt(n))
        return topi.add(topi.dense(x, weight), self.weight((out,), 0.1))

    def product_with(self, x, table):
        return topi.dense(x, table)

    def layer_norm(self, x):
        n = self.shape(x)[1]
        return topi.layer_norm(x, self.weight((n,)), self.weight((n,)))

    def attention(self, q, k, v):
        return topi.attention(q, k, v)

    def take(self, table, indices):
        return topi.take(table, indices, 0)

    def split(self, x, parts):
        return topi.split(x, parts, 1)

    def concatenate(self, parts, axis):
        return topi.concatenate(parts, axis)

    def relu(self, x):
        return mapped(topi.relu, x)

    def relu6(self, x):
        return mapped(lambda x: topi.clip(x, 0.0, 6.0), x)

    def gelu(self, x):
        return mapped(topi.gelu, x)

    def add(self, a, b):
        if isinstance(a, Planes) or isinstance(b, Planes):
            return mapped(topi.add, as_planes(a), as_planes(b))
        return topi.add(a, b)

    def reshape(self, x, shape):
        return topi.reshape(x, shape)

    def transpose(self, x, axes):
        return topi.transpose(x, axes)


class OnnxLayers:
    """Tensors are names of an ONNX graph."""

    def __init__(self):
        # Only this class needs the package.
        import onnx

        self.onnx = onnx
        self.nodes, self.inputs, self.constants, self.shapes = [], [], [], {}
        self.random = Weights()

    def outputs_of(self, kind, inputs, shapes, **attributes):
        outputs = [f"t{len(self.shapes) + n}" for n in range(len(shapes))]
        self.shapes.update(zip(outputs, map(tuple, shapes)))
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, outputs, **attributes))
        return outputs

    def node(self, kind, inputs, shape, **attributes):
        return self.outputs_of(kind, inputs, [shape], **attributes)[0]

    def constant(self, array):
        name = f"t{len(self.shapes)}"
        self.shapes[name] = array.shape
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def array_type(self, name, dtype="float32"):
        kind = getattr(self.onnx.TensorProto, {"float32": "FLOAT", "int32": "INT32"}[dtype])
        return self.onnx.helper.make_tensor_value_info(name, kind, self.shapes[name])

    def input(self, name, shape, dtype="float32"):
        self.shapes[name] = shape
        self.inputs.append(self.array_type(name, dtype))
        return name

    def weight(self, shape, scale=1.0):
        return self.constant(self.random.next(shape, scale))

    def shape(self, x):
        return self.shapes[x]

    def windows(self, kind, inputs, filters, size, stride, **attributes):
        n, _, *image = self.shape(inputs[0])
        pad = size // 2
        shape = (n, filters, *((extent + 2 * pad - size) // stride + 1 for extent in image))
        return self.node(kind, inputs, shape, kernel_shape=[size] * 2, strides=[stride] * 2,
                         pads=[pad] * 4, **attributes)

    def conv(self, x, filters, size, stride=1):
        channels = self.shape(x)[1]
        kernel = self.weight((filters, channels, size, size), 1 / math.sqrt(channels * size * size))
        bias = self.constant(self.random.next((filters, 1, 1), 0.1).reshape(filters))
        return self.windows("Conv", [x, kernel, bias], filters, size, stride)

    def depthwise_conv(self, x, size, stride=1):
        channels = self.shape(x)[1]
        kernel = self.weight((channels, 1, size, size), 1 / size)
        bias = self.constant(self.random.next((channels, 1, 1), 0.1).reshape(channels))
        return self.windows("Conv", [x, kernel, bias], channels, size, stride, group=channels)

    def max_pool(self, x, size, stride):
        return self.windows("MaxPool", [x], self.shape(x)[1], size, stride)

    def mean_of_images(self, x):
        n, channels = self.shape(x)[:2]
        means = self.node("GlobalAveragePool", [x], (n, channels, 1, 1))
        return self.reshape(means, (n, channels))

    def dense(self, x, out):
        m, n = self.shape(x)
        weight = self.weight((out, n), 1 / math.sqrt(n))
        return self.node("Gemm", [x, weight, self.weight((out,), 0.1)], (m, out), transB=1)

    def product_with(self, x, table):
        return self.node("Gemm", [x, table], (self.shape(x)[0], self.shape(table)[0]), transB=1)

    def layer_norm(self, x):
        n = self.shape(x)[1]
        return self.node("LayerNormalization", [x, self.weight((n,)), self.weight((n,))],
                         self.shape(x), epsilon=1e-5)

    def attention(self, q, k, v):
        heads, queries, width = self.shape(q)
        scale = self.constant(np.float32(1 / math.sqrt(width)))
        scores = self.node("MatMul", [self.node("Mul", [q, scale], self.shape(q)),
                                      self.transpose(k, (0, 2, 1))],
                           (heads, queries, self.shape(k)[1]))
        weights = self.node("Softmax", [scores], self.shape(scores), axis=-1)
        return self.node("MatMul", [weights, v], (heads, queries, self.shape(v)[2]))

    def take(self, table, indices):
        return self.node("Gather", [table, indices], self.shape(indices) + self.shape(table)[1:])

    def split(self, x, parts):
        m, n = self.shape(x)
        return self.outputs_of("Split", [x], [(m, n // parts)] * parts, axis=1, num_outputs=parts)

    def concatenate(self, parts, axis):
        shape = list(self.shape(parts[0]))
        shape[axis] = sum(self.shape(part)[axis] for part in parts)
        return self.node("Concat", parts, shape, axis=axis)

    def relu(self, x):
        return self.node("Relu", [x], self.shape(x))

    def relu6(self, x):
        ends = [self.constant(np.float32(end)) for end in (0, 6)]
        return self.node("Clip", [x, *ends], self.shape(x))

    def gelu(self, x):
        return self.node("Gelu", [x], self.shape(x))

    def add(self, a, b):
        return self.node("Add", [a, b], self.shape(a))

    def reshape(self, x, shape):
        return self.node("Reshape", [x, self.constant(np.array(shape, np.int64))], shape)

    def transpose(self, x, axes):
        return self.node("Transpose", [x], [self.shape(x)[axis] for axis in axes], perm=axes)

    def model(self, outputs):
        """Returns the serialized model."""
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, "network", self.inputs,
                                  [self.array_type(name) for name in outputs], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)],
                                 ir_version=10).SerializeToString()
