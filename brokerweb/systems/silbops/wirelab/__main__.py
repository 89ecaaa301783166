"""``python -m brokerweb.systems.silbops.wirelab``: write again what is made from the table of messages.

That is ``docs/silbops-wire.md`` and ``silbops.lua``, the dissector for Wireshark.
"""

from __future__ import annotations

from pathlib import Path

from brokerweb.systems.silbops.wirelab import page
from brokerweb.systems.silbops.wirelab.lab import LAB
from brokerweb.systems.silbops.wirelab.table import TABLE
from brokerweb.wirelab.messagepack import lua

ROOT = Path(__file__).parents[4]
PAGE = ROOT / "docs/silbops-wire.md"
SCRIPT = ROOT / "brokerweb/systems/silbops/static" / LAB.dissector


def made_page() -> str:
    return page.made()


def made_script() -> str:
    return lua.script(TABLE, LAB.system, LAB.protocol)


if __name__ == "__main__":
    SCRIPT.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(made_page())
    SCRIPT.write_text(made_script())
    print(f"{PAGE}\n{SCRIPT}")
