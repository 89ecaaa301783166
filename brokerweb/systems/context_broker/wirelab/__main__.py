"""``python -m brokerweb.systems.context_broker.wirelab``: write again what is made from the table of messages.

That is ``docs/wire.md``, and a part of ``static/wireshark/waxwing.lua``.
"""

from __future__ import annotations

from pathlib import Path

from brokerweb.systems.context_broker.wirelab.dissector import renewed
from brokerweb.systems.context_broker.wirelab.page import page

ROOT = Path(__file__).parents[4]
PAGE = ROOT / "docs/wire.md"
SCRIPT = ROOT / "static/wireshark/waxwing.lua"

if __name__ == "__main__":
    PAGE.write_text(page())
    SCRIPT.write_text(renewed(SCRIPT.read_text()))
    print(f"{PAGE}\n{SCRIPT}")
