"""Seeds beyond the first two hundred that found something once, one a line, with what it was.

To keep one: ``echo "17  what it found" >> tests/swarm/seeds.txt``. A seed means what it meant at the commit that it was
found at: a change of what is drawn makes it another story, so a bug found gets a test of its own, too.
"""

from pathlib import Path

STORED = [int(line.split()[0]) for line in Path(__file__).with_name("seeds.txt").read_text().splitlines() if line]
