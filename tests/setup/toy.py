"""A house of toy parts under the real manager: ``python -m tests.setup.toy DIRECTORY NAME=[once:]COMMAND ...``."""

import os
import sys
from pathlib import Path

from brokerweb.up.manager import AskedToEnd, Manager, say
from brokerweb.up.parts import Part
from overlay.core.errors import WaxwingError
from overlay.deployment.fleet import Lifetime


def main(directory, *parts):
    manager = Manager(Path(directory) / "log", os.environ)
    for part in parts:
        name, _, command = part.partition("=")
        lifetime = Lifetime.ONCE if command.startswith("once:") else Lifetime.ALWAYS
        manager.want(Part(name, ("sh", "-c", command.removeprefix("once:")), lifetime))
    try:
        manager.run_for_ever()
    except AskedToEnd:
        return 0
    except WaxwingError as error:
        say(str(error))
        return 1
    finally:
        manager.end()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
