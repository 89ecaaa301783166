"""URLs of the pages of seed 004."""

from django.urls import path

from brokerweb.systems.contextnet.gateways import views as gateways
from brokerweb.systems.contextnet.map import views as maps
from brokerweb.systems.contextnet.messages import views as messages
from brokerweb.systems.contextnet.nodes import views as nodes
from brokerweb.systems.contextnet.users import views as users
from brokerweb.systems.contextnet.wirelab.lab import LAB
from brokerweb.wirelab.urls import pages, recordings

_NETWORK = "contextnet/networks/<str:network_id>/"
urlpatterns = [
    path("runs/<str:run_id>/contextnet/gateways/", gateways.of_run, name="contextnet-gateways"),
    path("runs/<str:run_id>/contextnet/map/", maps.index, name="contextnet-map"),
    path("runs/<str:run_id>/contextnet/messages/", messages.index, name="contextnet-messages"),
    path("runs/<str:run_id>/contextnet/messages/<str:message>/", messages.detail, name="contextnet-message"),
    path(f"{_NETWORK}gateways/", gateways.of_network, name="contextnet-network-gateways"),
    path(f"{_NETWORK}gateways/<str:index>/<str:what>/", gateways.order, name="contextnet-order"),
    path(f"{_NETWORK}nodes/", nodes.nodes, name="contextnet-nodes"),
    path(f"{_NETWORK}nodes/<str:node>/secret/new/", nodes.give, name="contextnet-secret-give"),
    path(f"{_NETWORK}nodes/<str:node>/secret/delete/", nodes.revoke, name="contextnet-secret-revoke"),
    path(f"{_NETWORK}users/", users.users, name="contextnet-users"),
    path(f"{_NETWORK}users/new/", users.grant, name="contextnet-user-grant"),
    path(f"{_NETWORK}users/<str:name>/delete/", users.revoke, name="contextnet-user-revoke"),
    *pages(LAB, "contextnet/wire/"),
    *recordings(LAB, "contextnet/wire/"),
]
