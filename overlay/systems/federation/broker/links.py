"""The candidate links of a broker that it has found dead. Pure."""

from __future__ import annotations

from dataclasses import replace

from overlay.systems.federation.wire.values import BrokerAdvertisement


def is_up(own: BrokerAdvertisement, broker: str) -> bool | None:
    """``None`` if there is no such link."""
    return next((one.is_up for one in own.candidates if one.broker == broker), None)


def with_link(own: BrokerAdvertisement, broker: str, is_up: bool) -> BrokerAdvertisement:
    """The advertisement with one link up or down."""
    links = (replace(one, is_up=is_up) if one.broker == broker else one for one in own.candidates)
    return replace(own, candidates=tuple(links))
