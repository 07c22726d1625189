"""`python -m rankscope` is the command `rankscope`."""

from __future__ import annotations

import sys

from rankscope._cli import main

if __name__ == "__main__":
    sys.exit(main())
