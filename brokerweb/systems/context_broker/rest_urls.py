"""URLs of seed 000 below ``/api/``."""

from django.urls import include, path, re_path
from rest_framework.routers import SimpleRouter

from brokerweb.systems.context_broker.context.rest import (
    ContextBatchView,
    ContextListView,
    ContextView,
    SlashedContextView,
    StreamView,
)
from brokerweb.systems.context_broker.copies.rest import RunHoldings
from brokerweb.systems.context_broker.queries.rest import NetworkWalks, RunTraces
from brokerweb.systems.context_broker.replay.rest import RunMessages
from brokerweb.systems.context_broker.wirelab import rest as wire
from overlay.systems.context_broker.system import SYSTEM

OF_THIS = {"system": SYSTEM.name}
router = SimpleRouter()
router.register("runs", RunTraces, basename="run-traces")
router.register("runs", RunMessages, basename="run-messages")
router.register("runs", RunHoldings, basename="run-holdings")
router.register("networks", NetworkWalks, basename="network-walks")

urlpatterns = [
    path("networks/<str:pk>/context/", ContextListView.as_view(), name="context-list"),
    path("networks/<str:pk>/stream/", StreamView.as_view(), name="context-stream"),
    path("networks/<str:pk>/context/batch/", ContextBatchView.as_view(), name="context-batch"),
    path("networks/<str:pk>/context/<str:type>/<str:entity>/<str:scope>/", ContextView.as_view(), name="context"),
    re_path(r"^networks/(?P<pk>[^/]+)/context/[\s\S]+/\Z", SlashedContextView.as_view()),
    path("wire/decode/", wire.DecodeView.as_view(), OF_THIS, name="wire-decode"),
    path("wire/compose/", wire.ComposeView.as_view(), OF_THIS, name="wire-compose"),
    path("wire/send/", wire.SendView.as_view(), OF_THIS, name="wire-send"),
    path("", include(router.urls)),
]
