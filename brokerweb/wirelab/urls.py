"""The URLs of a system's wire lab."""

from __future__ import annotations

from django.urls import URLPattern, path

from brokerweb.wirelab import views
from brokerweb.wirelab.lab import Lab


def pages(lab: Lab, at: str) -> list[URLPattern]:
    """Decoding, composing, conversations, sending and Wireshark, below ``at``, as in ``wire/``."""
    return [
        path(at, views.index, {"lab": lab}, name=lab.urls),
        *(
            path(f"{at}{name}/", view, {"lab": lab}, name=f"{lab.urls}-{name}")
            for name, view in (
                ("decoded", views.decoded),
                ("compose", views.compose),
                ("composed", views.composed),
                ("send", views.send),
                ("conversations", views.conversations),
                ("wireshark", views.wireshark),
            )
        ),
    ]


def recordings(lab: Lab, at: str, capture: str) -> list[URLPattern]:
    """The messages of recorded runs, for a system without pages of its own for them; ``capture`` has ``run_id``."""
    return [
        path(f"{at}messages/", views.messages, {"lab": lab}, name=f"{lab.urls}-messages"),
        path(capture, views.capture, {"lab": lab}, name=f"{lab.urls}-capture"),
    ]
