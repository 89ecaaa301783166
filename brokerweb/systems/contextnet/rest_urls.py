"""URLs of seed 004 below ``/api/``."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from brokerweb.systems.contextnet.doors import views
from brokerweb.systems.contextnet.gateways.rest import NetworkGateways, RunGateways
from brokerweb.systems.contextnet.map.rest import RunRegionMaps
from brokerweb.systems.contextnet.messages.rest import RunNodeMessages

NETWORK = "networks/<str:pk>/mobile/"
doors = [
    path(f"{NETWORK}nodes/", views.NodeListView.as_view(), name="mobile-nodes"),
    path(f"{NETWORK}nodes/<str:node>/", views.NodeView.as_view(), name="mobile-node"),
    path(f"{NETWORK}nodes/<str:node>/secret/", views.SecretView.as_view(), name="mobile-secret"),
    path(f"{NETWORK}discarded/", views.DiscardedView.as_view(), name="mobile-discarded"),
    path(f"{NETWORK}users/", views.UserListView.as_view(), name="mobile-users"),
    path(f"{NETWORK}users/<str:name>/", views.UserView.as_view(), name="mobile-user"),
    path(f"{NETWORK}send/", views.SendView.as_view(), name="mobile-send"),
    path(f"{NETWORK}subscriptions/", views.SubscriptionListView.as_view(), name="mobile-subscriptions"),
    path(f"{NETWORK}subscriptions/<str:subscription>/", views.SubscriptionView.as_view(), name="mobile-subscription"),
    path(f"{NETWORK}applications/", views.ApplicationListView.as_view(), name="mobile-applications"),
    path(f"{NETWORK}applications/<str:name>/", views.ApplicationView.as_view(), name="mobile-application"),
]

router = SimpleRouter()
router.register("runs", RunNodeMessages, basename="run-node-messages")
router.register("runs", RunGateways, basename="run-gateways")
router.register("runs", RunRegionMaps, basename="run-region-map")
router.register("networks", NetworkGateways, basename="network-gateways")
urlpatterns = [*router.urls, *doors]
