"""REST endpoints of the queue: state, pause, resume."""

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
    """State of the run queue."""

    paused = serializers.BooleanField(help_text="True: queued runs are not launched; active runs continue")
    since = serializers.DateTimeField(allow_null=True)
    by = serializers.CharField(allow_blank=True, help_text="User who paused the queue")
    held = serializers.CharField(allow_blank=True, help_text="Reason the queue is held: a pause or low disk space")
    queued = serializers.IntegerField()
    active = serializers.IntegerField()
    ends_s = serializers.FloatField(
        allow_null=True, help_text="Seconds until the last queued run ends; null if unknown"
    )


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
        """Number of queued runs, expected end, and whether the queue is held."""
        return queue_shown()


class QueuePauseView(APIView):
    @extend_schema(operation_id="queue_pause", request=None, responses=QueueSerializer)
    def post(self, request: Request) -> Response:
        """Pause the queue: queued runs are not launched until it is resumed; active runs continue. Idempotent."""
        pause.pause(cast(User, request.user))
        return queue_shown()


class QueueResumeView(APIView):
    @extend_schema(operation_id="queue_resume", request=None, responses=QueueSerializer)
    def post(self, request: Request) -> Response:
        """Resume the queue."""
        pause.resume()
        return queue_shown()
