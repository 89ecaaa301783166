"""``python -m tests.service``: a network under every kind of client for minutes, while parts of it die and change."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tests.conftest import announced, end_house, start_house
from tests.service.drive import drive, network_of
from tests.stack.house import House
from tests.test_rest_journey import Api, make_room

LEAST_SHARE = 0.999


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.service", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="how long (10)")
    parser.add_argument("--brokers", type=int, default=20, help="brokers of the network (20)")
    parser.add_argument("--seed", type=int, default=1, help="of what happens when (1)")
    parser.add_argument("--calm", action="store_true", help="nothing happens to it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="waxwing-service-") as place:
        var = Path(place)
        process = start_house(var)
        try:
            api = Api(announced(process, var))
            make_room(api)
            path = network_of(api, given.brokers)
            outcome = drive(House(var), api, path, 60 * given.minutes, given.seed, calm=given.calm)
        finally:
            end_house(process)
    print(json.dumps(outcome.as_json(), indent=2))
    is_good = outcome.share >= LEAST_SHARE and not outcome.lost and outcome.logged == outcome.changes
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
