"""URLs of seed 002 below ``/api/``."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from brokerweb.systems.silbops.breakeven.rest import BreakEvenView
from brokerweb.systems.silbops.doors import views
from brokerweb.systems.silbops.map.rest import RunMaps
from brokerweb.systems.silbops.messages.rest import RunPublications

NETWORK = "networks/<str:pk>/pubsub/"
router = SimpleRouter()
router.register("runs", RunMaps, basename="run-map")
router.register("runs", RunPublications, basename="run-publications")
urlpatterns = [
    *router.urls,
    path("studies/E2.6/break-even/", BreakEvenView.as_view(), name="silbops-break-even-rest"),
    path(f"{NETWORK}clients/", views.ClientListView.as_view(), name="pubsub-clients"),
    path(f"{NETWORK}clients/<str:name>/", views.ClientView.as_view(), name="pubsub-client"),
    path(f"{NETWORK}subscriptions/", views.SubscriptionListView.as_view(), name="pubsub-subscriptions"),
    path(f"{NETWORK}subscriptions/<str:subscription>/", views.SubscriptionView.as_view(), name="pubsub-subscription"),
    path(f"{NETWORK}publish/", views.PublishView.as_view(), name="pubsub-publish"),
    path(f"{NETWORK}why/", views.WhyView.as_view(), name="pubsub-why"),
]
