"""``python -m brokerweb.systems.contextnet.wirelab``: write again what is made from the table of datagrams.

That is ``docs/contextnet-wire.md`` and ``contextnet.lua``, the dissector for Wireshark.
"""

from __future__ import annotations

from pathlib import Path

from brokerweb.systems.contextnet.wirelab.lab import LAB
from brokerweb.systems.contextnet.wirelab.lua import script
from brokerweb.systems.contextnet.wirelab.page import page

ROOT = Path(__file__).parents[4]
PAGE = ROOT / "docs/contextnet-wire.md"
SCRIPT = ROOT / "brokerweb/systems/contextnet/static" / LAB.dissector

if __name__ == "__main__":
    SCRIPT.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page())
    SCRIPT.write_text(script())
    print(f"{PAGE}\n{SCRIPT}")
