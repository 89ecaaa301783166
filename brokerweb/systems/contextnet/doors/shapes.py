"""Bodies in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from brokerweb.api.shapes.fields import Body, MomentField
from brokerweb.hosting.shapes import CLIENT, NAME, DeliveredSerializer
from brokerweb.systems.contextnet.models import Subscription
from overlay.systems.contextnet.applications.application import GROUP
from overlay.systems.contextnet.applications.rights import RECEIVERS
from overlay.systems.contextnet.mtd.events import EVICTED, EXPIRED
from overlay.systems.contextnet.records.kinds import MOST_TTL
from overlay.systems.contextnet.records.names import INBOUND

APPLICATION = "application"
"""Of an account that names none."""
REASONS = (EXPIRED, EVICTED)
MOST_TOPICS = 100
"""That one user may listen to."""
NODE_HELP = "Its id, 32 hexadecimal digits"


class MobileMessageBody(Body):
    node = serializers.CharField(required=False, help_text=f"To this node. {NODE_HELP}")
    group = serializers.CharField(
        **{**NAME, "max_length": 129}, required=False, help_text="To the nodes of a group: DEFINER/GROUP or GROUP"
    )
    all = serializers.BooleanField(required=False, default=False, help_text="To all nodes that are connected")
    text = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False, help_text="What is sent, at most 60,000 bytes"
    )
    base64 = serializers.CharField(required=False, help_text="The same of any bytes")
    ttl_s = serializers.IntegerField(
        required=False,
        default=0,
        min_value=0,
        max_value=MOST_TTL,
        help_text="How long it is stored for a node that is away. 0: as the network's settings say",
    )
    application = serializers.CharField(
        **CLIENT, required=False, default=APPLICATION, help_text="Which sends it; made at its first use"
    )


class MobileSentSerializer(serializers.Serializer):
    id = serializers.CharField(help_text="Of the message")
    application = serializers.CharField()
    topic = serializers.CharField(help_text="Of the log, which has it")
    is_stored = serializers.BooleanField(help_text="Whether the node is away: it is kept until it returns or expires")


class MobileNodeSerializer(serializers.Serializer):
    node = serializers.CharField(help_text=NODE_HELP)
    connected = serializers.BooleanField(help_text="Also while its gateway waits for its return")
    gateway = serializers.CharField(help_text="Where it is, or was last")
    epoch = serializers.IntegerField(help_text="Rises with each connection")
    is_revoked = serializers.BooleanField(help_text="Whether an operator has revoked its secret")


class MobileDiscardedSerializer(serializers.Serializer):
    id = serializers.CharField(help_text="Of the message")
    node = serializers.CharField(help_text="Which it was for")
    reason = serializers.ChoiceField(
        choices=REASONS, help_text="expired: its time was over; evicted: the store was full"
    )
    at = MomentField(help_text="When it was dropped")


class MobileSecretSerializer(serializers.Serializer):
    node = serializers.CharField(help_text=NODE_HELP)
    secret = serializers.CharField(help_text="64 hexadecimal digits")


class MobileSubscriptionBody(Body):
    topic = serializers.CharField(
        **NAME, required=False, default=INBOUND, help_text="inbound, or one of the network's allowed_topics"
    )
    node = serializers.CharField(required=False, default="", allow_blank=True, help_text="Only its messages")
    application = serializers.CharField(
        **CLIENT, required=False, default=APPLICATION, help_text="Which listens; made at its first use"
    )
    url = serializers.CharField(required=False, default="", allow_blank=True, help_text="Is sent messages by POST")


class MobileSubscriptionSerializer(DeliveredSerializer):
    id = serializers.CharField()
    application = serializers.CharField()
    topic = serializers.CharField()
    node = serializers.CharField(allow_blank=True, help_text="Empty: of all nodes")
    url = serializers.CharField()
    created = serializers.DateTimeField()

    names = ("topic", "node", "url", "created")

    def words(self, row: Subscription) -> Mapping[str, Any]:
        return {"application": row.client.name}


class MobileApplicationSerializer(serializers.Serializer):
    name = serializers.CharField()
    created = serializers.DateTimeField()


class MobileUserBody(Body):
    topics: Any = serializers.ListField(
        child=serializers.CharField(**NAME),
        required=False,
        default=[INBOUND],
        max_length=MOST_TOPICS,
        help_text="Which it may listen to: inbound, and the network's allowed_topics and mqtt_topics; may be empty",
    )
    group = serializers.CharField(
        **NAME, required=False, default=GROUP, help_text="In which it listens; its members share the messages"
    )
    to: Any = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        default=["nodes"],
        max_length=len(RECEIVERS),
        help_text=f"Whom it may send to, of {', '.join(RECEIVERS)}; may be empty",
    )


class MobileUserSerializer(serializers.Serializer):
    name = serializers.CharField(help_text="Of the application")
    topics = serializers.ListField(child=serializers.CharField(), help_text="Which it may listen to")
    group = serializers.CharField(allow_blank=True, help_text="In which it listens; empty without topics")
    to = serializers.ListField(child=serializers.CharField(), help_text=f"Of {', '.join(RECEIVERS)}")


class MobileNewUserSerializer(MobileUserSerializer):
    log = serializers.CharField(help_text="Address of the log with the user and its password, told here only")
    is_kept = serializers.BooleanField(help_text="Whether the engine of the log has the user when it starts again")


class MobileNodePage(serializers.Serializer):
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results: Any = MobileNodeSerializer(many=True)


class MobileDiscardedPage(serializers.Serializer):
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results: Any = MobileDiscardedSerializer(many=True)


class MobileSubscriptionPage(serializers.Serializer):
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results: Any = MobileSubscriptionSerializer(many=True)


class MobileApplicationPage(serializers.Serializer):
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results: Any = MobileApplicationSerializer(many=True)


class MobileUserPage(serializers.Serializer):
    count = serializers.IntegerField()
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results: Any = MobileUserSerializer(many=True)
