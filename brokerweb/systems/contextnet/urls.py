"""URLs of the pages of seed 004."""

from django.urls import path

from brokerweb.systems.contextnet.nodes import views as nodes

_NODES = "contextnet/networks/<str:network_id>/nodes/"
urlpatterns = [
    path(_NODES, nodes.nodes, name="contextnet-nodes"),
    path(f"{_NODES}<str:node>/secret/new/", nodes.give, name="contextnet-secret-give"),
    path(f"{_NODES}<str:node>/secret/delete/", nodes.revoke, name="contextnet-secret-revoke"),
]
