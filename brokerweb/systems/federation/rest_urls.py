"""URLs of seed 001 below ``/api/``."""

from django.urls import path
from rest_framework.routers import SimpleRouter

from brokerweb.systems.federation.doors import contextml_views as contextml
from brokerweb.systems.federation.doors import views
from brokerweb.systems.federation.messages.rest import RunFederationMessages
from brokerweb.systems.federation.subscribing.rest import DryRunView
from brokerweb.systems.federation.watching.rest import FederationNetworks

NETWORK = "networks/<str:pk>/"
CONTEXTML = {
    "advertise": contextml.AdvertiseView,
    "subscribe": contextml.SubscribeView,
    "publish": contextml.PublishView,
    "query": contextml.QueryView,
    "lookup": contextml.LookupView,
}

router = SimpleRouter()
router.register("runs", RunFederationMessages, basename="run-federation-messages")
router.register("networks", FederationNetworks, basename="federation-network")
urlpatterns = [
    *router.urls,
    path(f"{NETWORK}subscription-dry-run/", DryRunView.as_view(), name="subscription-dry-run"),
    path(f"{NETWORK}subscriptions/", views.SubscriptionListView.as_view(), name="hosted-subscriptions"),
    path(f"{NETWORK}subscriptions/<str:subscription>/", views.SubscriptionView.as_view(), name="hosted-subscription"),
    path(f"{NETWORK}providers/", views.ProviderListView.as_view(), name="hosted-providers"),
    path(f"{NETWORK}providers/<path:name>/", views.ProviderView.as_view(), name="hosted-provider"),
    path(f"{NETWORK}publish/", views.PublishView.as_view(), name="hosted-publish"),
    path(f"{NETWORK}query/", views.QueryView.as_view(), name="hosted-query"),
    path(f"{NETWORK}lookup/", views.LookupView.as_view(), name="hosted-lookup"),
    *(
        path(f"{NETWORK}contextml/{name}/", view.as_view(), name=f"contextml-{name}")
        for name, view in CONTEXTML.items()
    ),
    # The contract names these paths, without the slash that ends all others.
    *(path(f"{NETWORK}contextml/{name}", view.as_view(schema=None)) for name, view in CONTEXTML.items()),
]
