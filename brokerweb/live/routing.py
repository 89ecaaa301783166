"""Websocket addresses."""

from django.urls import URLPattern, re_path

from brokerweb.live.consumers import Nowhere, RunConsumer

# Session and token are checked in the consumer, the origin in asgi.py.
websocket_urlpatterns: list[URLPattern] = [
    re_path(r"^ws/runs/(?P<run_id>[A-Za-z0-9_-]{1,64})/$", RunConsumer.as_asgi()),
    re_path("", Nowhere.as_asgi()),
]
