"""What a program says of its own memory."""

from __future__ import annotations

import subprocess
import sys

SMALL = "from overlay.runtime.usage import peak_memory; print(peak_memory())"
LARGE = f"""
import subprocess, sys
once = bytearray(b'x') * (300 << 20)
sys.stdout.write(subprocess.run([sys.executable, '-c', {SMALL!r}], capture_output=True, text=True, check=True).stdout)
"""


def test_the_peak_memory_of_a_small_program_is_its_own_though_a_large_one_started_it():
    said = subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, check=True, timeout=60)
    assert 4 << 20 < int(said.stdout) < 150 << 20
