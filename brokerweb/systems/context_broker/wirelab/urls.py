"""URLs of the wire lab and of captures."""

from django.urls import path

from brokerweb.systems.context_broker.wirelab import views
from brokerweb.systems.context_broker.wirelab.lab import LAB
from brokerweb.wirelab.urls import pages

urlpatterns = [
    *pages(LAB, "wire/"),
    path("wire/messages/", views.messages, name="wire-messages"),
    path("runs/<str:run_id>/messages.pcapng", views.capture, name="wire-capture"),
]
