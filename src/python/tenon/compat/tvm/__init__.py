"""TVM 0.9's Python interface to tensor expressions and block programs, on Tenon.

    import tenon.compat.tvm      # from here on, `import tvm` imports this layer
    import tvm
    from tvm import te

or `python -m tenon.compat.tvm program.py`. A missing name raises NotImplementedError, which names a
replacement if there is one."""

from . import modules

modules.install()

from . import nodes  # noqa: E402,F401
from . import classes  # noqa: E402,F401
from . import error, ir, nd, runtime, target, tir, te, transform  # noqa: E402,F401
from . import arith, contrib, container, driver, script, testing, topi  # noqa: E402,F401
from . import ffi as _ffi  # noqa: E402,F401
from .ffi import get_global_func, register_func, register_object  # noqa: E402,F401
from .driver.build_module import build, lower  # noqa: E402,F401
from .error import TVMError  # noqa: E402,F401
from .ir import IRModule  # noqa: E402,F401
from .nd import cl, cpu, cuda, device, gpu, opencl  # noqa: E402,F401
from .runtime import DataType, Object, convert  # noqa: E402,F401
from .tir.op import const, max_value, min_value  # noqa: E402,F401
from .te.operation import max, min  # noqa: E402,F401

__version__ = "0.9.0"
__getattr__ = modules.refuse_others(__name__)
