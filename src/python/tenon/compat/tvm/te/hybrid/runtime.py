"""What the names of hybrid functions mean when they run on arrays of NumPy."""


def output_tensor(shape, dtype):
    import numpy

    return numpy.zeros(shape, str(dtype))


def allocate(shape, dtype="float32", scope="global"):
    import numpy

    return numpy.zeros(shape, str(dtype))


def bind(tag, extent):
    return range(extent)


def loop(*bounds):
    return range(*bounds)


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
    "bind": bind,
    "ceil_div": lambda a, b: -(-a // b),
    "const_range": loop,
    "exp": numpy_function("exp"),
    "likely": lambda x: x,
    "log": numpy_function("log"),
    "max_num_threads": lambda allow_none=True: 1024,
    "output_tensor": output_tensor,
    "parallel": loop,
    "popcount": popcount,
    "power": numpy_function("power"),
    "round": numpy_function("round"),
    "rsqrt": lambda x: 1 / numpy_function("sqrt")(x),
    "sigmoid": sigmoid,
    "sqrt": numpy_function("sqrt"),
    "tanh": numpy_function("tanh"),
    "unroll": loop,
    "vectorize": loop,
}
for dtype in ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint32"):
    HYBRID_GLOBALS[dtype] = cast(dtype)
