"""The example of the manual runs and prints what it says."""

from __future__ import annotations

import re
from pathlib import Path

MANUAL = Path(__file__).parent.parent.parent / "docs" / "channel.md"


def test_the_example_delivers_both_messages(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", MANUAL.read_text(), re.DOTALL)
    exec(compile(code, str(MANUAL), "exec"), {})
    assert capsys.readouterr().out == "b'one' b'first'\nb'one' b'second'\n"
