"""REST's doors to the queue: how long it is, and its pause."""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from brokerweb.experiments import pause
from brokerweb.experiments.queue_position import Queue


class QueueSerializer(serializers.Serializer):
    """The runs that wait, and what holds them."""

    paused = serializers.BooleanField(help_text="Nothing that waits is launched; what runs goes on")
    since = serializers.DateTimeField(allow_null=True)
    by = serializers.CharField(allow_blank=True, help_text="Who paused it")
    held = serializers.CharField(allow_blank=True, help_text="What holds it: a pause, or too little space on the disk")
    queued = serializers.IntegerField()
    active = serializers.IntegerField()
    ends_s = serializers.FloatField(allow_null=True, help_text="Seconds until the last one ends; null while unknown")


def queue_shown() -> Response:
    queue, found = Queue(), pause.current()
    shown: dict[str, Any] = {
        "paused": found is not None,
        "since": found.since if found else None,
        "by": found.by.get_username() if found and found.by else "",
        "held": queue.held,
        "queued": len(queue.queued),
        "active": len(queue.active),
        "ends_s": queue.queue_ends_s,
    }
    return Response(QueueSerializer(shown).data)


class QueueView(APIView):
    @extend_schema(operation_id="queue_retrieve", responses=QueueSerializer)
    def get(self, request: Request) -> Response:
        """How many runs wait, until when, and whether they are held."""
        return queue_shown()


class QueuePauseView(APIView):
    @extend_schema(operation_id="queue_pause", request=None, responses=QueueSerializer)
    def post(self, request: Request) -> Response:
        """Launches nothing more until it is resumed; what runs goes on. Done twice, the second changes nothing."""
        pause.pause(cast(User, request.user))
        return queue_shown()


class QueueResumeView(APIView):
    @extend_schema(operation_id="queue_resume", request=None, responses=QueueSerializer)
    def post(self, request: Request) -> Response:
        """Lets it go on."""
        pause.resume()
        return queue_shown()
