"""Addresses below ``/api/``."""

from csp.constants import UNSAFE_INLINE
from csp.decorators import csp_update
from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.routers import SimpleRouter

from brokerweb.api import (
    experiment_views,
    network_views,
    report_views,
    run_views,
    system_views,
    token_views,
    topology_views,
)
from brokerweb.api.missing import missing

router = SimpleRouter()
router.register("topologies", topology_views.TopologyViewSet)
router.register("networks", network_views.NetworkViewSet)
router.register("experiments", experiment_views.ExperimentViewSet)
router.register("runs", run_views.RunViewSet)
router.register("reports", report_views.ReportViewSet)
router.register("schedules", report_views.ScheduleViewSet)
router.register("systems", system_views.SystemViewSet, basename="system")
router.register("hosts", network_views.HostViewSet)
router.register("tokens", token_views.TokenViewSet)

# The documentation's page brings a style element of its own; its script is a file.
documentation = csp_update({"style-src": [UNSAFE_INLINE]})(SpectacularSwaggerSplitView.as_view(url_name="api:schema"))

app_name = "api"
urlpatterns = [
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
    path("docs/", documentation, name="docs"),
    path(
        "networks/<str:pk>/context/<str:type>/<str:entity>/<str:scope>/",
        network_views.ContextView.as_view(),
        name="context",
    ),
    path("", include(router.urls)),
    re_path("^", missing),
]
