"""Addresses of the pages of experiments and runs."""

from django.urls import include, path

from brokerweb.experiments import (
    builder_views,
    bulk_views,
    list_views,
    query_views,
    replay_views,
    run_detail_views,
    run_views,
    views,
    whatif_views,
)

experiments = [
    path("", views.index, name="list"),
    path("new/", builder_views.new, name="new"),
    path("estimate/", builder_views.estimate, name="estimate"),
    path("<str:experiment_id>/", views.detail, name="detail"),
    path("<str:experiment_id>/progress/", views.progress, name="progress"),
    path("<str:experiment_id>/configurations/", views.configurations, name="configurations"),
    path("<str:experiment_id>/launch/", views.launch, name="launch"),
    path("<str:experiment_id>/cancel/", views.cancel, name="cancel"),
    path("<str:experiment_id>/retry-failed/", views.retry_failed, name="retry-failed"),
    path("<str:experiment_id>/delete/", views.delete, name="delete"),
    path("<str:experiment_id>/yaml/", views.document, name="yaml"),
]
runs = [
    path("", list_views.index, name="list"),
    path("fields/", list_views.help_of_fields, name="fields"),
    path("columns/", list_views.picker, name="columns"),
    path("export/", list_views.export, name="export"),
    path("bulk/", bulk_views.many, name="bulk"),
    path("compare/", bulk_views.compare, name="compare"),
    path("<str:run_id>/", run_detail_views.detail, name="detail"),
    path("<str:run_id>/brokers/", run_detail_views.totals, name="brokers"),
    path("<str:run_id>/brokers/<str:index>/", run_detail_views.broker, name="broker"),
    path("<str:run_id>/log/", run_detail_views.log, name="log"),
    path("<str:run_id>/queries/", query_views.index, name="queries"),
    path("<str:run_id>/queries/<str:trace>/", query_views.detail, name="query"),
    path("<str:run_id>/replay/", replay_views.index, name="replay"),
    path("<str:run_id>/what-if/", whatif_views.what_if, name="what-if"),
    path("<str:run_id>/difference/", whatif_views.difference, name="difference"),
    path("<str:run_id>/labels/", bulk_views.write_on, name="labels"),
    path("<str:run_id>/cancel/", run_views.cancel, name="cancel"),
    path("<str:run_id>/rerun/", run_views.rerun, name="rerun"),
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
