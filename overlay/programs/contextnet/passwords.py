"""``python -m overlay contextnet mqtt-password CLIENT --seed SEED``: the password of a client of MQTT."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError

from overlay.programs.arguments import OneLineParser
from overlay.systems.contextnet.keys import mqtt_password, network_secret

MOST_SEED = 2**63 - 1


def main(arguments: list[str]) -> int:
    parser = OneLineParser(
        prog="overlay contextnet mqtt-password",
        description="With auth secret, each client of MQTT has its own password, which follows from its id and the "
        "seed of the network. The name of its user is not looked at.",
    )
    parser.add_argument("client", help="its id, as it connects with")
    parser.add_argument("--seed", type=_seed, required=True, help="of the network: GET /api/networks/ID/ shows it")
    given = parser.parse_args(arguments)
    sys.stdout.write(mqtt_password(network_secret(given.seed), given.client) + "\n")
    return 0


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 19 and int(text) <= MOST_SEED):
        raise ArgumentTypeError(f"{text[:40]!r} must be a whole number from 0 to {MOST_SEED:,}")
    return int(text)
