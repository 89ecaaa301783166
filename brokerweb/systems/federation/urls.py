"""URLs of the pages of seed 001."""

from django.urls import path

from brokerweb.systems.federation.subscribing import views as subscribing
from brokerweb.systems.federation.watching import views as watching

_NETWORK = "federation/networks/<str:network_id>/"
urlpatterns = [
    path(f"{_NETWORK}tree/", watching.tree, name="federation-tree"),
    path(f"{_NETWORK}mobile/", watching.mobile, name="federation-mobile"),
    path(f"{_NETWORK}subscribe/", subscribing.compose, name="federation-subscribe"),
    path(f"{_NETWORK}brokers/<str:index>/<str:what>/", watching.order, name="federation-order"),
]
