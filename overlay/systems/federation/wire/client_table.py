"""Messages 1 to 11: between clients and their broker."""

from __future__ import annotations

from overlay.messages.kinds import BOOLEAN, SHORT_TEXT, U, choice, limited, listed, optional, record
from overlay.messages.layouts import Field, Layout
from overlay.systems.federation.wire import composites as c
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.layouts import BROKER, CLIENT, HOPS, REQ, SERVICE, Values

MAX_SUBSCRIPTIONS = 1_000
"""In a SUBSCRIBE."""
_SCOPES = listed(SHORT_TEXT, 1, c.MAX_SERVED)
_ENTITY = optional(SHORT_TEXT)
QUERY = record(
    "fields of QUERY",
    m.Query,
    (U, _ENTITY, _ENTITY, _SCOPES, U),
    ("req", "entity_type", "entity_id", "scopes", "left_ms"),
)
"""For other encodings of a query."""


def client_layouts(values: Values) -> tuple[Layout, ...]:
    """In the order of their codes."""
    subscription, notification = values.subscription, values.notification
    return (
        Layout(
            1,
            m.Register,
            f"{CLIENT} → {BROKER}",
            "Registers, or changes the advertisement.",
            (REQ, Field("advertisement", values.advertisement, "Who registers, and the scopes it serves.")),
        ),
        Layout(
            2,
            m.KeepAlive,
            f"{CLIENT} → {BROKER}, {BROKER} → {SERVICE}",
            "Keeps a registration valid.",
            (Field("number", U, "The registration; to the registration service, the epoch that the broker has."),),
        ),
        Layout(
            3,
            m.Unregister,
            f"{CLIENT} → {BROKER}",
            "Ends a registration.",
            (REQ, Field("registration", U, "Number of the registration.")),
        ),
        Layout(
            4,
            m.Subscribe,
            f"{CLIENT} → {BROKER}",
            "Adds and removes subscriptions; all or none.",
            (
                REQ,
                Field("added", limited(listed(subscription), MAX_SUBSCRIPTIONS, "subscriptions"), "New or renewed."),
                Field("removed", limited(c.SIDS, MAX_SUBSCRIPTIONS, "removals"), "No longer wanted."),
            ),
        ),
        Layout(
            5,
            m.Publish,
            f"{CLIENT} → {BROKER}",
            "Publishes notifications; all or none.",
            (
                REQ,
                Field(
                    "publications",
                    listed(c.publication(notification, values.publication)),
                    "Each with the subscriptions that the provider believes satisfied.",
                ),
            ),
        ),
        Layout(
            6,
            m.Notify,
            f"{BROKER} → {CLIENT}",
            "Notifies a consumer.",
            (
                Field("notification", notification, "The context."),
                Field("satisfied", c.SIDS, "The subscriptions it satisfies."),
                Field("is_cached", BOOLEAN, "Whether it comes from the broker's cache."),
                HOPS,
            ),
        ),
        Layout(
            7,
            m.Offer,
            f"{BROKER} → {CLIENT}",
            "Asks a provider for context.",
            (
                Field("added", listed(subscription), "Subscriptions to watch."),
                Field("withdrawn", c.SIDS, "To watch no longer."),
            ),
        ),
        Layout(
            8,
            m.Lookup,
            f"{CLIENT} → {BROKER}",
            "Asks for the providers of a scope.",
            (REQ, Field("scope", SHORT_TEXT, "The scope.")),
        ),
        Layout(
            9,
            m.Found,
            f"{BROKER}, {SERVICE} → {CLIENT}",
            "Answers LOOKUP and FIND.",
            (REQ, Field("found", listed(c.FOUND), "Providers, or brokers with the nearest first.")),
        ),
        Layout(
            10,
            m.Query,
            f"{CLIENT} → {CLIENT}, {BROKER}; {BROKER} → {BROKER}",
            "Asks for context now.",
            (
                REQ,
                Field("entity_type", _ENTITY, "Of the entity; nil is any."),
                Field("entity_id", _ENTITY, "Of the entity; nil is any."),
                Field("scopes", _SCOPES, "The scopes wanted."),
                Field("left_ms", U, "Time left for the answer, in ms."),
            ),
        ),
        Layout(
            11,
            m.Answer,
            f"{CLIENT}, {BROKER} → {CLIENT}, {BROKER}",
            "Answers QUERY, or brings data for the QUERY that follows with its number.",
            (
                REQ,
                Field("code", choice(m.Code), "Whether it could be answered."),
                Field("notifications", listed(notification), "The context."),
            ),
        ),
    )
