"""What bodies in JSON have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from brokerweb.hosting.models import Delivered

NAME: dict[str, Any] = {"min_length": 1, "max_length": 64}


def wrong_name(name: str, *, has_slashes: bool = False) -> str:
    """Why it cannot be the name of a client, which is a part of addresses; empty: it can. ``has_slashes``: those of its
    system may contain some."""
    if name in (".", "..") or ("/" in name and not has_slashes):
        contained = "" if has_slashes else ", nor contain '/'"
        return f"must not be '.' or '..'{contained}, as it is a part of addresses"
    return "" if name.isprintable() else "must have printable characters only"


def check_name(name: str) -> None:
    if wrong := wrong_name(name):
        raise serializers.ValidationError(wrong)


CLIENT: dict[str, Any] = {**NAME, "validators": [check_name]}
"""The name of a client that an account makes."""

COUNTS = ("notified", "delivered", "given_up", "last_notified", "last_failure", "failure")


class DeliveredSerializer(serializers.Serializer):
    """A subscription: what became of its notifications, and where they come as a stream. Its context may have
    ``begins``, the id of the event before its first one."""

    notified = serializers.IntegerField(help_text="Notifications received")
    delivered = serializers.IntegerField(help_text="Of these, delivered to the URL")
    given_up = serializers.IntegerField(help_text="Of these, not delivered after all attempts")
    last_notified = serializers.DateTimeField(allow_null=True)
    last_failure = serializers.DateTimeField(allow_null=True)
    failure = serializers.CharField(help_text="The last failure of a delivery")
    stream = serializers.CharField(help_text="Its notifications as server-sent events; of a new one, from the first on")

    names: tuple[str, ...] = ()
    """Other columns that are shown as they are."""

    def to_representation(self, row: Any) -> Any:
        return super().to_representation({**self.columns(row), **self.words(row)})

    def columns(self, row: Delivered) -> dict[str, Any]:
        client: Any = row.client  # type: ignore[attr-defined]
        stream = f"/api/networks/{client.network_id}/stream/?subscription={row.pk}"
        if begins := self.context.get("begins"):
            stream += f"&last_event_id={begins}"
        shown = {name: getattr(row, name) for name in (*self.names, *COUNTS)}
        return {"id": row.pk, "client": client.name, "stream": stream, **shown}

    def words(self, row: Any) -> Mapping[str, Any]:
        """Further fields."""
        return {}
