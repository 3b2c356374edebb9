"""The Python programs of the pages that users come from, taken from the pages' own text.

A program is a list of pieces: lines of a page, from `first` to `last`. Three of the pages have lost
the indentation of their code; `depths` then gives the depth of each line. `CHANGES` lists every other
change, with its reason: names that a page uses and never defines, and lines that no version of TVM
accepts.
"""

import re
from pathlib import Path

SEEDS = Path(__file__).resolve().parents[2].parent / "shared" / "seeds"
PAGES = {
    "mm_relu": "000_bf33acd7a6530018.txt",
    "notebook": "001_53c26d5dc3ca9604.txt",
    "primitives": "002_3ea79f944b7cb313.txt",
    "lesson": "003_40891105f79c5e41.txt",
    "forum": "004_087723dba25aeb66.txt",
}


def are_here():
    return all((SEEDS / name).exists() for name in PAGES.values())


def lines_of(page):
    return (SEEDS / PAGES[page]).read_text(encoding="utf-8").split("\n")


class Piece:
    """Lines of a page. `after` is the prose before the code of a single line."""

    def __init__(self, first, last=None, depths=None, after=None):
        self.first = first
        self.last = last or first
        self.depths = depths
        self.after = after

    def text(self, page):
        lines = lines_of(page)[self.first - 1 : self.last]
        if self.after is not None:
            assert lines[0].startswith(self.after), lines[0]
            lines[0] = lines[0][len(self.after) :]
        if self.depths is not None:
            assert len(self.depths) == len(lines)
            lines = ["    " * int(d) + line for d, line in zip(self.depths, lines)]
        return "\n".join(lines) + "\n"


class Change:
    """A change of a program: `old` becomes `new`; an empty `old` puts `new` at the beginning."""

    def __init__(self, old, new, reason):
        self.old = old
        self.new = new
        self.reason = reason

    def apply(self, text):
        if not self.old:
            return self.new + text
        assert text.count(self.old) == 1, self.old
        return text.replace(self.old, self.new)


class Program:
    def __init__(self, page, name, pieces, changes=()):
        self.page = page
        self.name = name
        self.pieces = pieces
        self.changes = changes

    def text(self):
        result = "".join(piece.text(self.page) for piece in self.pieces)
        for change in self.changes:
            result = change.apply(result)
        return result


IMPORTS = (
    "import IPython\nimport numpy as np\nimport tvm\n"
    "from tvm import te\nfrom tvm.script import tir as T\n"
)

MM_RELU = Program(
    "mm_relu",
    "mm_relu",
    [
        Piece(2, 6),
        Piece(10, 30, "001111222344445423444"),
        Piece(54, 70, "00112345565123000"),
        Piece(72, after="as input: "),
        Piece(74, 76),
        Piece(77, after="If you now do "),
        Piece(104, 106),
        Piece(133, 140),
        Piece(142, 144),
        Piece(146, 149),
        Piece(157, 165),
    ],
    [Change("", IMPORTS, "the page does not show its imports")],
)

# The cells of the notebook: the first and last line of each.
CELLS = [
    (36, 39),
    (44, 48),
    (53, 64),
    (69, 71),
    (76, 96),
    (99, 106),
    (111, 111),
    (114, 121),
    (124, 124),
    (142, 156),
    (159, 170),
    (175, 195),
    (222, 233),
    (392, 392),
    (395, 397),
    (409, 416),
    (484, 486),
    (497, 497),
]
NOTEBOOK = Program("notebook", "notebook", [Piece(*cell) for cell in CELLS])

CANCELLATION = (
    "sums of 1024 products of random signs cancel, so that two orders of float32 additions differ by more "
    "than 1e-4 of an element near 0, in every library"
)
LESSON = [
    Program(
        "lesson",
        "declarations",
        [Piece(7, 17), Piece(20, 21), Piece(23, 25)],
        [
            Change("", "M, N, K = 64, 32, 16\n", "the page leaves the sizes open"),
            Change(
                "linear = te.compute((M,), lambda i: te.sum(W[i, j] * X[j], axis=j) + b[i])",
                'W = te.placeholder((M, N), name="W")\n'
                'X = te.placeholder((N,), name="X")\n'
                'b = te.placeholder((M,), name="b")\n'
                "product = te.compute((M,), lambda i: te.sum(W[i, j] * X[j], axis=j))\n"
                "linear = te.compute((M,), lambda i: product[i] + b[i])",
                "W, X and b are not defined, and a reduction must be the whole body of a compute",
            ),
        ],
    ),
    Program(
        "lesson",
        "naive_matmul",
        [Piece(36, 53), Piece(65, 84), Piece(88, 118)],
        [
            Change(
                "np.testing.assert_allclose(c_tvm.numpy(), a_np @ b_np, rtol=1e-4)",
                "np.testing.assert_allclose(c_tvm.numpy(), a_np @ b_np, rtol=1e-4, atol=1e-3)",
                CANCELLATION,
            )
        ],
    ),
    Program(
        "lesson",
        "schedules",
        [Piece(36, 51), Piece(132, 136), Piece(140), Piece(152, 159), Piece(167, 170)]
        + [Piece(185, 191), Piece(195)],
    ),
    Program(
        "lesson",
        "optimized_matmul",
        [Piece(201, 239), Piece(252, 254), Piece(276, 281)],
        [
            Change(
                "func_gpu = ",
                "s_gpu = te.create_schedule(C.op)\n"
                's_gpu[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))\n'
                's_gpu[C].bind(C.op.axis[1], te.thread_axis("threadIdx.x"))\n'
                "func_gpu = ",
                "s_gpu is not defined",
            ),
            Change(
                "np.testing.assert_allclose(c.numpy(), a.numpy() @ b.numpy(), rtol=1e-4)",
                "np.testing.assert_allclose(c.numpy(), a.numpy() @ b.numpy(), rtol=1e-4, atol=1e-3)",
                CANCELLATION,
            ),
        ],
    ),
    Program("lesson", "add_relu", [Piece(282, 307)]),
    Program("lesson", "tile_sizes", [Piece(308, 328), Piece(329, 342, "01121211111111")]),
    Program(
        "lesson",
        "loop_structures",
        [Piece(7, 8), Piece(343, 361)],
    ),
]

FORUM_IMPORTS = (
    "import tvm\nfrom tvm import te\nfrom tvm.script import tir as T\nfrom tvm.script import tir, ty\n"
)


def forum_program(name, pieces, changes=()):
    imports = Change("", FORUM_IMPORTS, "the page does not show its imports")
    return Program("forum", name, pieces, [*changes, imports])


FORUM = [
    forum_program(
        "conv2d",
        [Piece(35, 56), Piece(57, 78, "0001111123333331222343")],
        [
            Change(
                "",
                "batch, in_channel, out_channel, size, kernel = 16, 16, 32, 14, 3\n",
                "the page does not define the sizes; these are those of its second program",
            ),
        ],
    ),
    forum_program("constants", [Piece(84, 91, "00112222")]),
    forum_program(
        "parameters",
        [Piece(93, 104, "001122223232")],
        [
            Change("....\n", "...\n", "four dots are not Python"),
            Change("", "cond1 = 16\n", "the page does not define the value"),
        ],
    ),
    forum_program(
        "size_parameter",
        [Piece(110, 117, "00112222")],
        [Change("", 'dt = "float32"\n', "the page does not define the type")],
    ),
    forum_program(
        "ethosu_conv2d",
        [Piece(126, 138)],
        [
            Change(
                "",
                "ofm_height, ofm_width, ofm_channels, ifm_channels = 4, 4, 8, 3\n"
                "stride_h, stride_w, dilation_h, dilation_w = 2, 2, 1, 1\n"
                'ifm = te.placeholder((1, 9, 9, ifm_channels), dtype="int8", name="ifm")\n'
                "dmaed_ifm = te.compute(ifm.shape, lambda *i: ifm(*i))\n"
                'weight = te.placeholder((ofm_channels, 3, 3, ifm_channels), dtype="int8")\n'
                'scale_bias = te.placeholder((ofm_channels, 10), dtype="uint8")\n'
                "rh, rw = te.reduce_axis((0, 3)), te.reduce_axis((0, 3))\n"
                "rc = te.reduce_axis((0, ifm_channels))\n"
                'conv2d_attrs = {"op": "ethosu_conv2d"}\n',
                "the page shows a part of a program and does not define its names",
            ),
        ],
    ),
    forum_program(
        "script_module",
        [Piece(142, 148, "0121222")],
        [Change("", 'dt = "float32"\n', "the page does not define the type")],
    ),
]


def primitives():
    """Returns the 21 programs of the page of schedule primitives, in order: from the line `import
    tvm` to the line that announces the result. The last one stands there twice."""
    programs, first = [], None
    for number, line in enumerate(lines_of("primitives"), 1):
        if line == "import tvm" and first is None:
            first = number
        elif re.match("(运行|执行|)结果(如下)?", line) and first is not None:
            name = f"{len(programs) + 1:02}"
            programs.append(Program("primitives", name, [Piece(first, number - 1)]))
            first = None
    return programs
