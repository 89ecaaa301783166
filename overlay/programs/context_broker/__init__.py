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

from collections.abc import Callable

from overlay.programs import Command


def _broker() -> Callable[[list[str]], int]:
    from overlay.programs.context_broker import broker

    return broker.main


def _settings() -> Callable[[list[str]], int]:
    from overlay.programs.context_broker import settings

    return settings.main


def _keep() -> Callable[[list[str]], int]:
    from overlay.programs.context_broker import keeping

    return keeping.main


def _mqtt_bridge() -> Callable[[list[str]], int]:
    from overlay.programs.context_broker.mqtt import command

    return command.main


def _exchange(name: str) -> Callable[[], Callable[[list[str]], int]]:
    def load() -> Callable[[list[str]], int]:
        from overlay.programs.context_broker import exchange

        return lambda arguments: exchange.main(name, arguments)

    return load


def _holdings(name: str) -> Callable[[], Callable[[list[str]], int]]:
    def load() -> Callable[[list[str]], int]:
        from overlay.programs.context_broker import holdings

        return lambda arguments: holdings.main(name, arguments)

    return load


COMMANDS = {
    "broker": Command("one broker in the foreground", _broker),
    **{
        name: Command(help, _exchange(name))
        for name, help in {
            "ping": "whether a broker answers",
            "put": "store data",
            "get": "ask for data",
            "withdraw": "let a broker no longer serve data",
            "join": "make a broker a neighbour of others",
            "leave": "make a broker leave the network",
            "monitor": "make a broker watch its neighbours",
            "neighbors": "list a broker's neighbours",
            "stats": "a broker's counters",
        }.items()
    },
    "list": Command("list what a broker holds", _holdings("list")),
    "watch": Command("show what changes at a broker", _holdings("watch")),
    "keep": Command("keep data stored at the best broker, until Ctrl-C", _keep),
    "mqtt-bridge": Command("context between an MQTT server and a network", _mqtt_bridge),
    "settings": Command("what can be set on a broker, and what each profile sets", _settings),
}
"""Imported only when used: a broker in a process of its own would carry the rest."""
