"""URLs of the pages of experiments and runs: views of ``experiments``, ``builder``, ``runlist`` and ``runpage``."""

from django.urls import include, path

from brokerweb.builder import views as builder
from brokerweb.experiments import threshold_views, views
from brokerweb.runlist import bulk_views
from brokerweb.runlist import views as runlist
from brokerweb.runpage import action_views, whatif_views
from brokerweb.runpage import views as runpage
from brokerweb.wirelab import replay_views

experiments = [
    path("", views.index, name="list"),
    path("new/", builder.new, name="new"),
    path("estimate/", builder.estimate, name="estimate"),
    path("topologies/", builder.topologies, name="topologies"),
    path("<str:experiment_id>/", views.detail, name="detail"),
    path("<str:experiment_id>/progress/", views.progress, name="progress"),
    path("<str:experiment_id>/configurations/", views.configurations, name="configurations"),
    path("<str:experiment_id>/launch/", views.launch, name="launch"),
    path("<str:experiment_id>/cancel/", views.cancel, name="cancel"),
    path("<str:experiment_id>/retry-failed/", views.retry_failed, name="retry-failed"),
    path("<str:experiment_id>/delete/", views.delete, name="delete"),
    path("<str:experiment_id>/yaml/", views.document, name="yaml"),
    path("<str:experiment_id>/thresholds/", threshold_views.edit, name="thresholds"),
    path("<str:experiment_id>/thresholds/preview/", threshold_views.preview, name="thresholds-preview"),
]
runs = [
    path("", runlist.index, name="list"),
    path("fields/", runlist.help_of_fields, name="fields"),
    path("columns/", runlist.picker, name="columns"),
    path("export/", runlist.export, name="export"),
    path("bulk/", bulk_views.many, name="bulk"),
    path("compare/", bulk_views.compare, name="compare"),
    path("<str:run_id>/", runpage.detail, name="detail"),
    path("<str:run_id>/brokers/", runpage.totals, name="brokers"),
    path("<str:run_id>/brokers/<str:index>/", runpage.broker, name="broker"),
    path("<str:run_id>/log/", runpage.log, name="log"),
    path("<str:run_id>/replay/", replay_views.index, name="replay"),
    path("<str:run_id>/what-if/", whatif_views.what_if, name="what-if"),
    path("<str:run_id>/difference/", whatif_views.difference, name="difference"),
    path("<str:run_id>/labels/", bulk_views.write_on, name="labels"),
    path("<str:run_id>/cancel/", action_views.cancel, name="cancel"),
    path("<str:run_id>/rerun/", action_views.rerun, name="rerun"),
]
saved = [
    path("save/", bulk_views.save_view, name="save"),
    path("<int:view_id>/rename/", bulk_views.rename_view, name="rename"),
    path("<int:view_id>/delete/", bulk_views.delete_view, name="delete"),
]
urlpatterns = [
    path("experiments/", include((experiments, "experiments"))),
    path("runs/", include((runs, "runs"))),
    path("views/", include((saved, "views"))),
]
