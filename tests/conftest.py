"""How every test runs: the profiles of the generated cases, and the program."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import settings

from tests.program import Program, start_program

# A shell lets what it runs in the background ignore interrupts, and so would all that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A slow machine is no failure; a failing case is printed in a form that can be run again.
settings.register_profile("default", deadline=None, print_blob=True, max_examples=40)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=1_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(scope="session")
def program() -> Program:
    """The program, ready to be run many times."""
    return start_program()
