"""``python -m waxwing``."""

import sys

from waxwing.cli.main import main

sys.exit(main())
