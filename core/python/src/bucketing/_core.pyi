# SPDX-License-Identifier: MIT
# The extension that build_core.py makes: C by name, which mypy cannot know.
from typing import Any

ffi: Any
lib: Any
