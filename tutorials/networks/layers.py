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


class Image:
    """An image {1, height, width, channels}, or the same elements as a matrix {positions, channels}, in which
    a 1 x 1 convolution is a product. Channels are contiguous, so that vectors of them are full whatever the
    height and width."""

    def __init__(self, tensor, height, width):
        self.tensor = tensor
        self.height, self.width = height, width
        self.channels = int(tensor.shape[-1])

    def matrix(self):
        return self.reshaped((self.height * self.width, self.channels))

    def nhwc(self):
        return self.reshaped((1, self.height, self.width, self.channels))

    def reshaped(self, shape):
        return self.tensor if len(self.tensor.shape) == len(shape) else topi.reshape(self.tensor, shape)

    def mapped(self, function, *others):
        """Applies a function of tensors to the elements of images."""
        tensors = [x.reshaped(self.tensor.shape) for x in others]
        return Image(function(self.tensor, *tensors), self.height, self.width)


def image_of(nhwc):
    return Image(nhwc, int(nhwc.shape[1]), int(nhwc.shape[2]))


def mapped(function, *xs):
    """Applies a function of tensors to the elements of images or tensors."""
    return xs[0].mapped(function, *xs[1:]) if isinstance(xs[0], Image) else function(*xs)


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

    def image(self, name, shape):
        """An input {1, channels, height, width}."""
        return image_of(topi.transpose(self.input(name, shape), (0, 2, 3, 1)))

    def weight(self, shape, scale=1.0, axes=None):
        """A weight of this shape, stored with its dimensions in the order `axes`."""
        array = self.random.next(shape, scale)
        if axes:
            self.arrays[-1] = array = np.ascontiguousarray(array.transpose(axes))
        self.weights.append(te.constant_input(array.shape, f"w{len(self.weights)}"))
        return self.weights[-1]

    def shape(self, x):
        return tuple(int(n) for n in x.shape)

    def channels(self, x):
        return x.channels

    def conv(self, x, filters, size, stride=1):
        scale = 1 / math.sqrt(x.channels * size * size)
        shape = (filters, x.channels, size, size)
        if size == 1:
            if stride > 1:
                whole = x.nhwc()
                x = image_of(topi.strided_slice(whole, [0] * 4, self.shape(whole), [1, stride, stride, 1]))
            y = topi.matmul(x.matrix(), self.weight(shape[:2], scale, (1, 0)))
            return Image(topi.add(y, self.weight((filters,), 0.1)), x.height, x.width)
        kernel = self.weight(shape, scale, (2, 3, 1, 0))
        bias = self.weight((filters,), 0.1)
        options = {"stride": stride, "padding": size // 2}
        # Winograd's transformed filters are up to four times as large and are read from memory. A
        # small image has too few positions to amortize the reads.
        if x.width >= 28:
            y = topi.cpu.fastest_conv2d_nhwc(x.nhwc(), kernel, self.target, **options)
        else:
            y = topi.conv2d_nhwc(x.nhwc(), kernel, **options)
        return image_of(topi.add(y, bias))

    def depthwise_conv(self, x, size, stride=1):
        kernel = self.weight((x.channels, 1, size, size), 1 / size, (2, 3, 0, 1))
        bias = self.weight((x.channels,), 0.1)
        y = topi.depthwise_conv2d_nhwc(x.nhwc(), kernel, stride=stride, padding=size // 2)
        return image_of(topi.add(y, bias))

    def max_pool(self, x, size, stride):
        return image_of(topi.max_pool2d(x.nhwc(), size, stride=stride, padding=size // 2, layout="NHWC"))

    def mean_of_images(self, x):
        means = topi.multiply(topi.sum(x.matrix(), 0), 1 / (x.height * x.width))
        return topi.reshape(means, (1, x.channels))

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
        return mapped(topi.add, a, b)

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

    def image(self, name, shape):
        return self.input(name, shape)

    def weight(self, shape, scale=1.0):
        return self.constant(self.random.next(shape, scale))

    def shape(self, x):
        return self.shapes[x]

    def channels(self, x):
        return self.shape(x)[1]

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
