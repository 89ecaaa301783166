"""URLs of the wire lab and of captures."""

from django.urls import path

from brokerweb.systems.context_broker.wirelab import views

urlpatterns = [
    path("wire/", views.index, name="wire"),
    path("wire/decoded/", views.decoded, name="wire-decoded"),
    path("wire/compose/", views.compose, name="wire-compose"),
    path("wire/composed/", views.composed, name="wire-composed"),
    path("wire/send/", views.send, name="wire-send"),
    path("wire/messages/", views.messages, name="wire-messages"),
    path("wire/wireshark/", views.wireshark, name="wire-wireshark"),
    path("runs/<str:run_id>/messages.pcapng", views.capture, name="wire-capture"),
]
