"""The functions of the hybrid language, for hybrid functions that run on NumPy arrays."""


def allocate(shape, dtype="float32", scope="global"):
    import numpy

    return numpy.zeros(shape, str(dtype))


def cast(dtype):
    def convert(x):
        import numpy

        return numpy.dtype(dtype).type(x)

    return convert


def numpy_function(name):
    def call(*args):
        import numpy

        return getattr(numpy, name)(*args)

    return call


def sigmoid(x):
    import numpy

    return 1 / (1 + numpy.exp(-x))


def popcount(x):
    return bin(int(x)).count("1")


HYBRID_GLOBALS = {
    "allocate": allocate,
    "bind": lambda tag, extent: range(extent),
    "ceil_div": lambda a, b: -(-a // b),
    "const_range": range,
    "exp": numpy_function("exp"),
    "likely": lambda x: x,
    "log": numpy_function("log"),
    "max_num_threads": lambda allow_none=True: 1024,
    "output_tensor": allocate,
    "parallel": range,
    "popcount": popcount,
    "power": numpy_function("power"),
    "round": numpy_function("round"),
    "rsqrt": lambda x: 1 / numpy_function("sqrt")(x),
    "sigmoid": sigmoid,
    "sqrt": numpy_function("sqrt"),
    "tanh": numpy_function("tanh"),
    "unroll": range,
    "vectorize": range,
}
for dtype in ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint32"):
    HYBRID_GLOBALS[dtype] = cast(dtype)
