"""Seed 000 on the command line and for programs.

- ``client``     a blocking client: provide, ask, list, follow, withdraw, join, leave, statistics
- ``exchange``   the same as commands, one exchange each
- ``holdings``   commands that list and follow what a broker holds
- ``pool``       the client of a network in an event loop: provide, ask, with failover
- ``follower``   follows all brokers of a network in an event loop: what they hold, and its changes
- ``keeping``    a command that keeps data stored at the best broker
- ``broker``     one broker in the foreground
- ``mqtt``       a bridge between an MQTT server and a network
- ``settings``   what can be set on a broker, by profile
"""

from __future__ import annotations

from overlay.programs import Command, commands_in, main_of

_HERE = "overlay.programs.context_broker"

COMMANDS = {
    "broker": Command("one broker in the foreground", main_of(f"{_HERE}.broker")),
    **commands_in(
        f"{_HERE}.exchange",
        {
            "ping": "whether a broker answers",
            "put": "store data",
            "get": "ask for data",
            "withdraw": "let a broker no longer serve data",
            "join": "make a broker a neighbour of others",
            "leave": "make a broker leave the network",
            "monitor": "make a broker watch its neighbours",
            "neighbors": "list a broker's neighbours",
            "stats": "a broker's counters",
        },
    ),
    "list": Command("list what a broker holds", main_of(f"{_HERE}.holdings", "list")),
    "watch": Command("show what changes at a broker", main_of(f"{_HERE}.holdings", "watch")),
    "keep": Command("keep data stored at the best broker, until Ctrl-C", main_of(f"{_HERE}.keeping")),
    "mqtt-bridge": Command("context between an MQTT server and a network", main_of(f"{_HERE}.mqtt.command")),
    "settings": Command("what can be set on a broker, and what each profile sets", main_of(f"{_HERE}.settings")),
}
"""Imported only when used: a broker in a process of its own would carry the rest."""
