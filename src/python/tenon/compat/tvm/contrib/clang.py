"""C code for the pragma `import_llvm`, as `tvm.contrib.clang`."""

import os

from .... import _tenon


class CSource(str):
    """C source that a program imports. Tenon compiles it, so that no LLVM IR is needed."""


def create_llvm(inputs, output=None, options=None, cc=None):
    """Returns C source, given as text or as the names of files."""
    texts = []
    for item in inputs if isinstance(inputs, (list, tuple)) else [inputs]:
        if os.path.isfile(item):
            with open(item, encoding="utf-8") as file:
                item = file.read()
        texts.append(item.replace('extern "C"', ""))
    return CSource("\n".join(texts))


PRAGMA = _tenon.te.Stage.pragma


def pragma(self, var, pragma_type, pragma_value=None):
    """Attaches a pragma to a loop. C source becomes an import of C."""
    if isinstance(pragma_value, CSource):
        return PRAGMA(self, var, "import_c", str(pragma_value))
    if pragma_value is None:
        return PRAGMA(self, var, pragma_type)
    return PRAGMA(self, var, pragma_type, pragma_value)


_tenon.te.Stage.pragma = pragma
