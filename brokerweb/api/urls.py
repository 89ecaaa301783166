"""URLs below ``/api/``."""

from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.routers import SimpleRouter

from brokerweb.api import (
    account_views,
    alarm_views,
    bridge_views,
    calibration_views,
    change_views,
    compare_views,
    experiment_views,
    label_views,
    network_views,
    notice_views,
    operation_views,
    queue_views,
    recorded_views,
    report_views,
    root_views,
    run_views,
    search_views,
    storage_views,
    study_views,
    system_views,
    token_views,
    topology_views,
    wire_views,
)
from brokerweb.api.not_found import missing
from brokerweb.api.schema_view import SchemaView
from brokerweb.systems.registry import webs

router = SimpleRouter()
router.register("accounts", account_views.AccountViewSet, basename="account")
router.register("topologies", topology_views.TopologyViewSet)
router.register("networks", network_views.NetworkViewSet)
router.register("networks", alarm_views.AlarmViewSet, basename="network-alarms")
router.register("networks", bridge_views.BridgeViewSet, basename="network-bridges")
router.register("networks", operation_views.OperationViewSet, basename="network-operations")
router.register("experiments", experiment_views.ExperimentViewSet)
router.register("presets", experiment_views.PresetViewSet, basename="preset")
router.register("runs", run_views.RunViewSet)
router.register("reports", report_views.ReportViewSet)
router.register("schedules", report_views.ScheduleViewSet)
router.register("experiments", study_views.ExperimentClaims, basename="experiment-claims")
router.register("studies", study_views.StudyViewSet, basename="study")
router.register("systems", system_views.SystemViewSet, basename="system")
router.register("hosts", network_views.HostViewSet)
router.register("changes", change_views.ChangeViewSet)
router.register("tokens", token_views.TokenViewSet)
router.register("tags", label_views.TagViewSet)
router.register("views", label_views.SavedViewViewSet, basename="view")
router.register("notifications", notice_views.TargetViewSet, basename="target")

app_name = "api"
urlpatterns = [
    path("", root_views.RootView.as_view(), name="root"),
    path("schema/", SchemaView.as_view(), name="schema"),
    path("docs/", SpectacularSwaggerSplitView.as_view(url_name="api:schema"), name="docs"),
    path("calibration/", calibration_views.CalibrationView.as_view(), name="calibration"),
    path("compare/", compare_views.CompareView.as_view(), name="compare"),
    path("compare/distribution/", compare_views.DistributionView.as_view(), name="compare-distribution"),
    path(
        "networks/<str:pk>/bootstrap.txt",
        network_views.NetworkViewSet.as_view({"get": "bootstrap_text"}),
        name="network-bootstrap-text",
    ),
    path("queue/", queue_views.QueueView.as_view(), name="queue"),
    path("queue/pause/", queue_views.QueuePauseView.as_view(), name="queue-pause"),
    path("queue/resume/", queue_views.QueueResumeView.as_view(), name="queue-resume"),
    path("runs/<str:pk>/datagrams/", recorded_views.RecordedView.as_view(), name="datagrams"),
    path("runs/<str:pk>/datagrams/<int:number>/", recorded_views.RecordedMessageView.as_view(), name="datagram"),
    path("runs/<str:pk>/capture/", recorded_views.CaptureView.as_view(), name="capture"),
    path("search/", search_views.SearchView.as_view(), name="search"),
    path("storage/", storage_views.StorageView.as_view(), name="storage"),
    path("storage/preview/", storage_views.StoragePreviewView.as_view(), name="storage-preview"),
    path("storage/apply/", storage_views.StorageApplyView.as_view(), name="storage-apply"),
    path("systems/<str:system>/wire/decode/", wire_views.DecodeView.as_view(), name="systems-wire-decode"),
    path("systems/<str:system>/wire/compose/", wire_views.ComposeView.as_view(), name="systems-wire-compose"),
    path("systems/<str:system>/wire/send/", wire_views.SendView.as_view(), name="systems-wire-send"),
    *(path("", include(web.rest_urls)) for web in webs() if web.rest_urls),
    path("", include("brokerweb.ngsi.urls")),
    path("", include(router.urls)),
    re_path("^", missing),
]
