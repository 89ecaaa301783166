"""``python -m brokerweb.systems.federation.wirelab``: write again what is made from the table of messages.

That is ``docs/federation-wire.md`` and ``federation.lua``, the dissector for Wireshark.
"""

from __future__ import annotations

from pathlib import Path

from brokerweb.systems.federation.wirelab import page
from brokerweb.systems.federation.wirelab.lab import LAB
from brokerweb.systems.federation.wirelab.table import TABLE
from brokerweb.wirelab.messagepack import lua

ROOT = Path(__file__).parents[4]
PAGE = ROOT / "docs/federation-wire.md"
SCRIPT = ROOT / "brokerweb/systems/federation/static" / LAB.dissector


def made_page() -> str:
    return page.made()


def made_script() -> str:
    return lua.script(TABLE, LAB.system, LAB.protocol)


if __name__ == "__main__":
    SCRIPT.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(made_page())
    SCRIPT.write_text(made_script())
    print(f"{PAGE}\n{SCRIPT}")
