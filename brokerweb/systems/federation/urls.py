"""URLs of the pages of seed 001."""

from django.urls import path

from brokerweb.systems.federation.messages import views as messages
from brokerweb.systems.federation.subscribing import views as subscribing
from brokerweb.systems.federation.watching import views as watching
from brokerweb.systems.federation.wirelab.lab import LAB
from brokerweb.wirelab.urls import pages, recordings

_NETWORK = "federation/networks/<str:network_id>/"
urlpatterns = [
    path("runs/<str:run_id>/federation/messages/", messages.index, name="federation-messages"),
    path("runs/<str:run_id>/federation/messages/<str:message>/", messages.detail, name="federation-message"),
    path(f"{_NETWORK}tree/", watching.tree, name="federation-tree"),
    path(f"{_NETWORK}mobile/", watching.mobile, name="federation-mobile"),
    path(f"{_NETWORK}subscribe/", subscribing.compose, name="federation-subscribe"),
    path(f"{_NETWORK}brokers/<str:index>/<str:what>/", watching.order, name="federation-order"),
    *pages(LAB, "federation/wire/"),
    *recordings(LAB, "federation/wire/"),
]
