"""How every test runs: the profiles of the generated cases."""

from __future__ import annotations

import os

from hypothesis import settings

# A slow machine is no failure; a failing case is printed in a form that can be run again.
settings.register_profile("default", deadline=None, print_blob=True)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=10_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
