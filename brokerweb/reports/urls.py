"""URLs of the pages of reports and schedules."""

from django.urls import include, path

from brokerweb.reports import pick_views, schedule_views, views

reports = [
    path("", views.index, name="list"),
    path("new/", views.new, name="new"),
    path("create/", views.create, name="create"),
    path("pick/experiments/", pick_views.finished_experiments, name="pick-experiments"),
    path("pick/runs/", pick_views.finished_runs, name="pick-runs"),
    path("<str:report_id>/", views.detail, name="detail"),
    path("<str:report_id>/progress/", views.progress, name="progress"),
    path("<str:report_id>/cancel/", views.cancel, name="cancel"),
    path("<str:report_id>/delete/", views.delete, name="delete"),
    path("<str:report_id>/report.<str:form>", views.download, name="download"),
]
schedules = [
    path("", schedule_views.index, name="list"),
    path("new/", schedule_views.new, name="new"),
    path("create/", schedule_views.create, name="create"),
    path("preview/", schedule_views.preview, name="preview"),
    path("pick/", pick_views.experiments, name="pick"),
    path("<str:schedule_id>/", schedule_views.detail, name="detail"),
    path("<str:schedule_id>/edit/", schedule_views.edit, name="edit"),
    path("<str:schedule_id>/switch/", schedule_views.switch, name="switch"),
    path("<str:schedule_id>/now/", schedule_views.run_now, name="now"),
    path("<str:schedule_id>/delete/", schedule_views.delete, name="delete"),
]
urlpatterns = [
    path("reports/", include((reports, "reports"))),
    path("schedules/", include((schedules, "schedules"))),
]
