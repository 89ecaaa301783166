"""Messages 12 to 24: between brokers, with the registration service, and those of all roles."""

from __future__ import annotations

from typing import Any, Final

from overlay.messages.errors import Reason, refuse
from overlay.messages.kinds import BOOLEAN, SHORT_TEXT, Kind, U, choice, listed, text
from overlay.messages.layouts import Field, Layout
from overlay.systems.federation.wire import composites as c
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.layouts import BROKER, CLIENT, HOPS, REQ, SERVICE, WHOLE, Values
from overlay.systems.federation.wire.values import BrokerAdvertisement

MAX_PATH: Final = 32
"""Brokers in a FORWARD."""
MAX_WORDS = 200
"""Bytes of the words in a NACK."""
PADDING = bytes(400)
"""Of DISCOVER, so that the answer is not longer than the question."""
_VERSION = Field("version", U, "Number of this change at the sender.")


def broker_layouts(values: Values) -> tuple[Layout, ...]:
    """In the order of their codes."""
    return (*_between_brokers(values), *_registration(), *_common())


def _between_brokers(values: Values) -> tuple[Layout, ...]:
    subscription, notification, entry = values.subscription, values.notification, c.entry(values.advertisement)
    way = f"{BROKER} → {BROKER}"
    return (
        Layout(
            12,
            m.Hello,
            way,
            "Opens an edge of the tree.",
            (
                Field("broker", c.BROKER, "The sender."),
                Field("epoch", U, "Number of the tree that it has."),
                Field("subscriptions", c.SUMMARY, "Of the subscriptions that it holds from the receiver."),
                Field("registrations", c.SUMMARY, "Of the registrations that it holds from the receiver."),
            ),
        ),
        Layout(
            13,
            m.SubTable,
            way,
            "Changes the subscriptions that the receiver holds from the sender.",
            (
                _VERSION,
                WHOLE,
                Field("added", listed(subscription), "New or renewed."),
                Field("removed", c.SIDS, "No longer wanted."),
            ),
        ),
        Layout(
            14,
            m.RegTable,
            way,
            "Changes the registrations that the receiver holds from the sender.",
            (
                _VERSION,
                WHOLE,
                Field("added", listed(entry), "New or changed."),
                Field("removed", listed(SHORT_TEXT), "Clients that are gone."),
                Field("summary", c.SUMMARY, "Of all entries that the receiver now has from the sender."),
            ),
        ),
        Layout(
            15,
            m.Forward,
            way,
            "Routes a notification.",
            (
                Field("notification", notification, "The context."),
                HOPS,
                Field("path", listed(SHORT_TEXT, 0, MAX_PATH), "Brokers that it has passed, where links form cycles."),
                Field("ended", c.SIDS, "Queries from the receiver that this notification ended at the sender."),
            ),
        ),
        Layout(
            16,
            m.Tables,
            way,
            "Asks for a complete table.",
            (Field("wanted", choice(m.Table), "Which one."),),
        ),
    )


def _registration() -> tuple[Layout, ...]:
    return (
        Layout(
            17,
            m.Broker,
            f"{BROKER} → {SERVICE}",
            "Registers or unregisters a broker.",
            (
                REQ,
                Field("broker", c.BROKER, "The sender."),
                Field("last_epoch", U, "Number of the tree that it has."),
                Field("is_registering", BOOLEAN, "False: it leaves."),
            ),
        ),
        Layout(
            18,
            m.Brokers,
            f"{SERVICE} → {BROKER}, {CLIENT}",
            "Tells of brokers and of the tree.",
            (
                Field("epoch", U, "Number of this tree."),
                WHOLE,
                Field("brokers", listed(c.BROKER), "New or changed; all, if whole."),
                Field("gone", listed(SHORT_TEXT), "Brokers that are gone."),
                Field("edges", listed(c.EDGE), "All edges of the tree."),
            ),
        ),
        Layout(
            19,
            m.Find,
            f"{CLIENT} → {SERVICE}",
            "Asks for brokers.",
            (
                REQ,
                Field("position", c.POSITION, "Of the client; nil sorts by id."),
                Field("scope", text(64), "One that a client of the broker serves; empty is any."),
            ),
        ),
        Layout(
            20,
            m.Discover,
            "client, broker → multicast",
            "Asks for a broker nearby, outside sessions.",
            (
                Field("nonce", U, "A random number."),
                Field("", Kind("400 bytes of 0", _padding, lambda _: PADDING), "Makes it longer than its answer."),
            ),
        ),
        Layout(
            21,
            m.Here,
            f"{BROKER} → {CLIENT}, {BROKER}",
            "Answers DISCOVER, outside sessions.",
            (
                Field("nonce", U, "That of DISCOVER."),
                Field("broker", Kind("*badv* without candidates", _here, c.BROKER.write), "The sender."),
            ),
        ),
    )


def _common() -> tuple[Layout, ...]:
    return (
        Layout(22, m.Ack, "all", "Accepts a request.", (REQ,)),
        Layout(
            23,
            m.Nack,
            "all",
            "Refuses a message.",
            (
                Field("kind", U, "Of the message refused."),
                Field("req", U, "Its request, or 0."),
                Field("code", choice(m.Code), "Why."),
                Field("words", text(MAX_WORDS), "Why, as a sentence."),
            ),
        ),
        Layout(
            24,
            m.Link,
            "mobile broker → its clients",
            "Tells whether the broker has a connection.",
            (Field("is_up", BOOLEAN, "Whether it has."),),
        ),
    )


def _here(value: Any) -> BrokerAdvertisement:
    broker: BrokerAdvertisement = c.BROKER.read(value)
    if broker.candidates:
        refuse(Reason.COUNT, "candidates are not told to strangers")
    return broker


def _padding(value: Any) -> None:
    if value != PADDING:
        refuse(Reason.RANGE, f"the padding is not {len(PADDING)} bytes of 0")
