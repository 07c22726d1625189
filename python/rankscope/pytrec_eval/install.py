"""Makes `import pytrec_eval` import the module of rankscope."""

from __future__ import annotations

import sys

from rankscope import pytrec_eval
from rankscope.errors import UsageError

NAME = "pytrec_eval"


def install_as_pytrec_eval() -> None:
    """Make `import pytrec_eval` import `rankscope.pytrec_eval` in this process.

    Call it before anything imports pytrec_eval. Programs such as BEIR and MTEB then compute their
    measures with rankscope, unchanged. Calling it again has no effect.

    Raises:
        UsageError: The real pytrec_eval is already imported, and other modules may use it.

    Examples:
        >>> import sys
        >>> from unittest.mock import patch
        >>> import rankscope as rs
        >>> with patch.dict(sys.modules):  # undoes it after the example
        ...     _ = sys.modules.pop("pytrec_eval", None)
        ...     rs.install_as_pytrec_eval()
        ...     import pytrec_eval
        >>> pytrec_eval is rs.pytrec_eval
        True
    """
    imported = sys.modules.setdefault(NAME, pytrec_eval)
    if imported is not pytrec_eval:
        raise UsageError(
            f"{NAME} is already imported, from {getattr(imported, '__file__', None)}",
            hint="call install_as_pytrec_eval() before everything that imports pytrec_eval",
            code="already_imported",
        )
