"""``python -m overlay``: brokers, exchanges with them, and the host's supervisor."""

import sys

from overlay.runtime.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
