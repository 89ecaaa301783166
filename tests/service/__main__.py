"""``python -m tests.service``: a network under every kind of client for minutes, while parts of it die and change."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tests.conftest import announced, end_house, start_house
from tests.service import drive as context_broker
from tests.service import federation
from tests.stack.house import House
from tests.test_rest_journey import Api, make_room

LEAST_SHARE = 0.999


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.service", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="how long (10)")
    parser.add_argument("--brokers", type=int, default=20, help="brokers of the network (20)")
    parser.add_argument("--seed", type=int, default=1, help="of what happens when (1)")
    parser.add_argument("--system", choices=("context-broker", "federation"), default="context-broker")
    parser.add_argument("--calm", action="store_true", help="nothing happens to it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="waxwing-service-") as place:
        var = Path(place)
        process = start_house(var)
        try:
            api = Api(announced(process, var))
            make_room(api)
            system = context_broker if given.system == "context-broker" else federation
            path = system.network_of(api, given.brokers)
            outcome = system.drive(House(var), api, path, 60 * given.minutes, given.seed, calm=given.calm)
        finally:
            end_house(process)
    print(json.dumps(outcome.as_json(), indent=2))
    return 0 if outcome.share >= LEAST_SHARE and outcome.is_whole else 1


if __name__ == "__main__":
    sys.exit(main())
