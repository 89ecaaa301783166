"""Websocket URLs."""

from django.urls import URLPattern, re_path

from brokerweb.live.consumers import Nowhere, RunConsumer

# The consumer checks session and token; asgi.py checks the origin.
websocket_urlpatterns: list[URLPattern] = [
    re_path(r"^ws/runs/(?P<run_id>[A-Za-z0-9_-]{1,64})/$", RunConsumer.as_asgi()),
    re_path("", Nowhere.as_asgi()),
]
