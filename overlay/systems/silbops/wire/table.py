"""Every message, field by field (seed 002, section 6). Of both arms; ``Content`` has what differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from overlay.messages.kinds import BOOLEAN, SHORT_TEXT, Kind, U, choice, listed, optional, record
from overlay.messages.layouts import Field, Layout
from overlay.systems.silbops.tables.rows import Context
from overlay.systems.silbops.wire import messages as m
from overlay.systems.silbops.wire.kinds import (
    CONTEXT,
    CONTEXT_OR_VERSION,
    IDS,
    KEY,
    NAMES,
    OWNER,
    TTL,
    WORDS,
    Content,
)

TO_BROKER, TO_CLIENT, BETWEEN = "client → broker", "broker → client", "broker → broker"

REQ = Field("req", U, "Number of the request; publications count with it.", is_request=True)
TTL_MS = Field("ttl_ms", TTL, "How long it is valid unless its owner is heard; 0: for ever.")
ID = Field("id", U, "The client's number of it.")
OWN = Field("owner", OWNER, "The client, as brokers know it.")
PUBLISHER = Field("publisher", OWNER, "The client, as brokers know it.")
NUMBER = Field("number", U, "Of the publication at its publisher, which counts requests with it.")
PUBLICATION = Field("number", U, "Number of the publication; requests count with it.", is_request=True)
VERSION = Field("version", U, "Grows with every change.")
VALUES = Field("values", CONTEXT, "All its variables.")
VARIABLES = Field("variables", NAMES, "Of the publisher's context, that may go with its notifications.")
SUBSCRIBER_VARIABLES = Field(
    "subscriber_variables", optional(NAMES), "Of subscribers' contexts, that the publisher's functions may read."
)
KEY_OF_ADVERTISEMENT = Field("key", KEY, "The publisher, and its number of it.")
TOLD = record("*context*", Context, (U, CONTEXT), ("version", "values"))


class _Fields:
    """Those that differ between the arms."""

    def __init__(self, content: Content) -> None:
        function = optional(content.function)
        self.filter = Field("filter", content.filter, "What it is about.")
        self.scope = Field("scope", function, "The subscriber's function of context.")
        self.notification = Field("notification", content.notification, "Its attributes.")
        self.publisher_scope = Field("scope", function, "The publisher's function of subscribers' contexts.")
        self.subscription = (OWN, ID, self.filter, self.scope, TTL_MS)
        self.advertisement = (KEY_OF_ADVERTISEMENT, self.filter, VARIABLES, SUBSCRIBER_VARIABLES, TTL_MS)
        self.notify = (
            Field("publisher", U, "Tells publishers apart: BLAKE2b-64 of the owner."),
            NUMBER,
            self.notification,
            Field("ids", IDS, "The client's subscriptions that it satisfies."),
        )
        passed = record("*passed*", m.Passed, (OWNER, CONTEXT, function), ("owner", "context", "scope"))
        self.passed = Field(
            "passed", optional(passed), "From the old broker of a client to the new one, which tests it."
        )


def layouts(content: Content) -> tuple[Layout, ...]:
    """In the order of their codes."""
    fields = _Fields(content)
    return (*_client_layouts(fields), *_broker_layouts(fields), *_move_layouts(fields))


def _listed(words: str, make: Callable[..., Any], fields: Sequence[Field]) -> Kind:
    return listed(record(words, make, [one.kind for one in fields], [one.name for one in fields]))


def _client_layouts(own: _Fields) -> tuple[Layout, ...]:
    return (
        Layout(
            1,
            m.Attach,
            TO_BROKER,
            "Begins or resumes a client's stay at a broker.",
            (
                Field("client", OWNER, "Chosen by the client."),
                Field("mode", choice(m.Mode), "Whether it has something to resume."),
                Field("old", optional(SHORT_TEXT), "The broker to resume from; nil: this one."),
            ),
        ),
        Layout(
            2,
            m.Attached,
            TO_CLIENT,
            "Answers ATTACH.",
            (Field("is_resumed", BOOLEAN, "Whether rows and context of the client are known here."),),
        ),
        Layout(
            10,
            m.SetCtx,
            TO_BROKER,
            "Replaces the context of a subscriber.",
            (REQ, VALUES),
        ),
        Layout(
            11,
            m.Advertise,
            TO_BROKER,
            "Announces what a publisher may publish; replaces the one of that number.",
            (REQ, ID, own.filter, VARIABLES, SUBSCRIBER_VARIABLES, TTL_MS),
        ),
        Layout(12, m.Unadvertise, TO_BROKER, "Withdraws an advertisement.", (REQ, ID)),
        Layout(
            13,
            m.Subscribe,
            TO_BROKER,
            "Subscribes; replaces the one of that number.",
            (REQ, ID, own.filter, own.scope, TTL_MS),
        ),
        Layout(14, m.Unsubscribe, TO_BROKER, "Ends a subscription.", (REQ, ID)),
        Layout(
            15,
            m.Publish,
            TO_BROKER,
            "Publishes. Only REFUSED answers it.",
            (PUBLICATION, own.notification, Field("context", CONTEXT, "Of the publisher."), own.publisher_scope),
        ),
        Layout(
            16,
            m.Notify,
            f"{TO_CLIENT}, {BETWEEN}",
            "Brings a publication to a subscriber.",
            (*own.notify, own.passed),
        ),
        Layout(17, m.Ok, TO_CLIENT, "What was asked is done at this broker.", (REQ,)),
        Layout(
            18,
            m.Refused,
            TO_CLIENT,
            "Refuses a request or a malformed message, which has changed nothing.",
            (
                Field("req", U, "The request, or 0."),
                Field("code", choice(m.Code), "Why."),
                Field("text", WORDS, "Why, as a sentence."),
            ),
        ),
    )


def _broker_layouts(own: _Fields) -> tuple[Layout, ...]:
    return (
        Layout(
            20,
            m.Peer,
            BETWEEN,
            "Begins a session: who it is.",
            (
                Field("broker", SHORT_TEXT, "Its name."),
                Field("epoch", U, "Drawn again at each start of the broker."),
                Field("version", U, "Of these messages."),
            ),
        ),
        Layout(21, m.Adv, BETWEEN, "Adds an advertisement.", own.advertisement, m.Adv.of),
        Layout(22, m.Unadv, BETWEEN, "Removes an advertisement.", (KEY_OF_ADVERTISEMENT,)),
        Layout(23, m.Ctx, BETWEEN, "Tells the context of a subscriber.", (OWN, VERSION, VALUES), m.Ctx.of),
        Layout(24, m.Sub, BETWEEN, "Adds a subscription.", own.subscription, m.Sub.of),
        Layout(25, m.Unsub, BETWEEN, "Removes a subscription.", (OWN, ID), m.Unsub.of),
        Layout(26, m.Forget, BETWEEN, "The context of a subscriber is no longer told.", (OWN,)),
        Layout(
            27,
            m.Pub,
            BETWEEN,
            "Passes a publication on.",
            (
                PUBLISHER,
                NUMBER,
                own.notification,
                Field("context", CONTEXT_OR_VERSION, "Of the publisher."),
                own.publisher_scope,
            ),
        ),
        Layout(
            28,
            m.Pctx,
            BETWEEN,
            "Tells the context of a publisher ahead of its publications.",
            (PUBLISHER, VERSION, VALUES),
            m.Pctx.of,
        ),
    )


def _move_layouts(own: _Fields) -> tuple[Layout, ...]:
    return (
        Layout(
            29,
            m.Move,
            BETWEEN,
            "Asks a client's old broker for what it has of it.",
            (Field("client", OWNER, "As in ATTACH."),),
        ),
        Layout(
            30,
            m.Take,
            BETWEEN,
            "Answers MOVE. In several, if it is too long for one. An owner of zeros: not known there.",
            (
                Field("client", OWNER, "As in MOVE."),
                OWN,
                Field("context", optional(TOLD), "Its context."),
                Field("subscriptions", _listed("*subscription*", m.Sub.of, own.subscription), "Those it has."),
                Field("advertisements", _listed("*advertisement*", m.Adv.of, own.advertisement), "Those it has."),
                Field("kept", _listed("*kept*", m.Notify, own.notify), "Notifications not delivered, oldest first."),
                Field("is_last", BOOLEAN, "Whether no more follows."),
            ),
        ),
    )
