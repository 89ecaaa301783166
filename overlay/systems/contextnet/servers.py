"""The servers of a network, by role."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from overlay.core.chance import Chances
from overlay.journal.facts import Fact
from overlay.log.topics import Record
from overlay.systems.contextnet.config import ServerConfig
from overlay.systems.contextnet.keys import NO_SECRET, gateway_secret
from overlay.systems.contextnet.names import DEFINER, GATEWAY, MQTT, MTD, POA
from overlay.systems.contextnet.rows import Dropped, Round, Stayed, row, step
from overlay.systems.roles import Place

US = 1_000
"""Nanoseconds."""


def make_server(config: ServerConfig, place: Place, chances: Chances, wall_offset_ns: int) -> Any:
    return _MAKERS[place.role](config, place, chances, wall_offset_ns)


def _gateway(config: ServerConfig, place: Place, chances: Chances, wall_offset_ns: int) -> Any:
    from overlay.systems.contextnet.gateway.config import GatewayConfig
    from overlay.systems.contextnet.gateway.credentials import Credentials
    from overlay.systems.contextnet.gateway.gateway import Gateway
    from overlay.systems.contextnet.routing.settings import EVERYONE
    from overlay.systems.contextnet.transport.gate import Secret

    settings, network = config.settings, bytes.fromhex(config.secret)
    free, credentials = Secret(NO_SECRET), Credentials(network)
    found = GatewayConfig(
        settings,
        gateway_secret(network, place.name),
        (lambda node: free) if settings.auth == "none" else credentials.secret_of,
        credentials if config.can_revoke else None,
        ping_period_s=settings.ping_period_s,
        ping_window_ms=settings.ping_window_ms,
        list_age_s=settings.list_age_s,
        answers=config.answers,
        is_everyone=settings.routing == EVERYONE,
        expires_us=_expiry(config),
        capacity=config.capacities[place.number] if config.capacities else 0,
        load_noise=config.load_noise,
        trace_one_in=settings.trace_one_in,
    )
    return Gateway(place.name, place.address, found, chances, wall_offset_ns)


def _expiry(config: ServerConfig) -> Callable[[Any, int], int] | None:
    """When a message expires that is not yet stored; ``None``: only the store says."""
    from overlay.systems.contextnet.mtd.lifetimes import Lifetimes
    from overlay.systems.contextnet.mtd.settings import CREATED

    settings = config.settings
    if settings.expiry_from != CREATED:
        return None
    return Lifetimes(settings, settings.retention_s).expires_us


def _poa(config: ServerConfig, place: Place, chances: Chances, wall_offset_ns: int) -> Any:
    from overlay.systems.contextnet.poa.manager import PoaManager

    settings = config.settings
    return PoaManager(place.name, place.address, settings, settings.load_report_s, chances, wall_offset_ns)


def _mtd(config: ServerConfig, place: Place, chances: Chances, wall_offset_ns: int) -> Any:
    from overlay.systems.contextnet.mtd.mtd import Mtd

    settings = config.settings
    return Mtd(
        place.name,
        place.address,
        settings,
        settings,
        settings.retention_s,
        chances,
        wall_offset_ns,
        settings.trace_one_in,
    )


def _definer(config: ServerConfig, place: Place, chances: Chances, wall_offset_ns: int) -> Any:
    from overlay.systems.contextnet.groups.definer import GroupDefiner
    from overlay.systems.contextnet.groups.selection import ByField, ByRegion

    if not config.definers:
        field = config.settings.fields[place.number]
        return GroupDefiner(place.name, place.address, chances, wall_offset_ns, field, ByField(field))
    selection = ByRegion(config.region_km) if config.region_km and not place.number else None
    return GroupDefiner(place.name, place.address, chances, wall_offset_ns, selection=selection)


def _mqtt(config: ServerConfig, place: Place, chances: Chances, wall_offset_ns: int) -> Any:
    from overlay.systems.contextnet.gateway.credentials import Credentials
    from overlay.systems.contextnet.mqtt.credentials import any_client, with_secrets
    from overlay.systems.contextnet.mqtt.proxy import MqttProxy

    settings, credentials = config.settings, Credentials(bytes.fromhex(config.secret))
    may_connect = any_client if settings.auth == "none" else with_secrets(credentials.secret_of)
    learn = credentials.learn if config.can_revoke else None
    return MqttProxy(place.name, place.address, settings, chances, wall_offset_ns, may_connect, learn)


def facts(process: str, role: str, server: Any, zero_ns: int) -> list[Fact]:
    """What a server has traced since the last call."""
    found = _FACTS.get(role)
    return [] if found is None else list(found(process, server, zero_ns))


def _steps(process: str, server: Any, zero_ns: int) -> Iterator[Fact]:
    """Of messages of traced nodes."""
    wall_us = (zero_ns + server.wall_offset_ns) // US
    for one in server.tracer.take():
        yield row((one.at - zero_ns) // US, step(one, process, wall_us), process)


def _of_gateway(process: str, server: Any, zero_ns: int) -> Iterator[Fact]:
    for one in server.outbound.take_expired():
        yield row((one.at - zero_ns) // US, Dropped(one.id.hex()), process)
    yield from _steps(process, server, zero_ns)


def _stays(process: str, server: Any, zero_ns: int) -> Iterator[Fact]:
    offset_us = (zero_ns + server.wall_offset_ns) // US
    for stay in server.traces():
        end = stay.until_us - offset_us
        node = int.from_bytes(stay.node, "big")
        yield row(end, Stayed(stay.id.hex(), node, stay.stored_us - offset_us, end, stay.ending), process)
    yield from _steps(process, server, zero_ns)


def _rounds(process: str, server: Any, zero_ns: int) -> Iterator[Fact]:
    """A row for each gateway."""
    for one in server.traces():
        for gateway, nodes in one.counts.items():
            found = Round(
                one.number,
                int(gateway.rpartition("-")[2]),
                nodes,
                one.wanted.get(gateway),
                one.scores.get(gateway, 0.0),
                one.given[gateway],
                one.taken[gateway],
                one.budget,
                gateway in one.draining,
            )
            yield row((one.at - zero_ns) // US, found, process)


def held(role: str, server: Any) -> list[bytes]:
    """The ids of the messages that a server still has."""
    if role == MTD:
        return list(server.stored_ids())
    if role == GATEWAY:
        return list(server.waiting_ids())
    return []


def uncommitted_id(record: Record) -> bytes | None:
    """The id of the message in a record that some reader had not settled; ``None``: it has none."""
    from overlay.systems.contextnet.records import codec, names

    others = (*names.OF_POA, *names.COMPACTED, *names.OTHERS)
    if record.topic in others and record.topic not in (names.UNSENT, names.OUTBOUND):
        return None
    try:
        found: bytes = codec.read(record.topic, record.value).message.id
    except codec.BadRecord:
        return None
    return found


_FACTS: Mapping[str, Callable[[str, Any, int], Iterator[Fact]]] = {GATEWAY: _of_gateway, MTD: _stays, POA: _rounds}
_MAKERS = {GATEWAY: _gateway, POA: _poa, MTD: _mtd, DEFINER: _definer, MQTT: _mqtt}
