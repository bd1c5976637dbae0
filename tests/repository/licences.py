# SPDX-License-Identifier: GPL-3.0-or-later
"""Every source file begins with its licence: MIT in core/, GPL-3.0-or-later elsewhere."""
import sources

names = sources.files(".c", ".h", ".py", ".sh", ".cmake", "CMakeLists.txt", ".sql", ".ci/run")
faults = []
for name in names:
    wanted = "MIT" if name.startswith("core/") else "GPL-3.0-or-later"
    top = (sources.ROOT / name).read_text(encoding="utf-8").splitlines()[:3]
    if not any(f"SPDX-License-Identifier: {wanted}" in line for line in top):
        faults.append(f"{name}:1: no line 'SPDX-License-Identifier: {wanted}' on top; add it")
sources.finish(faults, f"licences of {len(names)} files")
