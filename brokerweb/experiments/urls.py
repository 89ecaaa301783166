"""Addresses of the pages of experiments and runs."""

from django.urls import include, path

from brokerweb.experiments import query_views, replay_views, run_views, views, whatif_views

experiments = [
    path("", views.index, name="list"),
    path("new/", views.new, name="new"),
    path("estimate/", views.estimate, name="estimate"),
    path("<str:experiment_id>/", views.detail, name="detail"),
    path("<str:experiment_id>/progress/", views.progress, name="progress"),
    path("<str:experiment_id>/launch/", views.launch, name="launch"),
    path("<str:experiment_id>/cancel/", views.cancel, name="cancel"),
]
runs = [
    path("", run_views.index, name="list"),
    path("<str:run_id>/", run_views.detail, name="detail"),
    path("<str:run_id>/queries/", query_views.index, name="queries"),
    path("<str:run_id>/queries/<str:trace>/", query_views.detail, name="query"),
    path("<str:run_id>/replay/", replay_views.index, name="replay"),
    path("<str:run_id>/what-if/", whatif_views.what_if, name="what-if"),
    path("<str:run_id>/difference/", whatif_views.difference, name="difference"),
    path("<str:run_id>/cancel/", run_views.cancel, name="cancel"),
    path("<str:run_id>/rerun/", run_views.rerun, name="rerun"),
]
urlpatterns = [
    path("experiments/", include((experiments, "experiments"))),
    path("runs/", include((runs, "runs"))),
]
