"""The first addresses of the wire lab's decode, compose and send."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema, extend_schema_view

from brokerweb.api import wire_views


@extend_schema_view(post=extend_schema(operation_id="wire_decode"))
class DecodeView(wire_views.DecodeView):
    """As below ``/api/systems/``, at the first address that this had."""


@extend_schema_view(post=extend_schema(operation_id="wire_compose"))
class ComposeView(wire_views.ComposeView):
    pass


@extend_schema_view(post=extend_schema(operation_id="wire_send"))
class SendView(wire_views.SendView):
    pass
