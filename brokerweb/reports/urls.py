"""Addresses of the pages of reports and schedules."""

from django.urls import include, path

from brokerweb.reports import views

reports = [
    path("", views.index, name="list"),
    path("new/", views.new, name="new"),
    path("create/", views.create, name="create"),
    path("<str:report_id>/", views.detail, name="detail"),
    path("<str:report_id>/progress/", views.progress, name="progress"),
    path("<str:report_id>/cancel/", views.cancel, name="cancel"),
    path("<str:report_id>/report.<str:form>", views.download, name="download"),
]
schedules = [
    path("", views.schedule_index, name="list"),
    path("create/", views.schedule_create, name="create"),
    path("<str:schedule_id>/switch/", views.schedule_switch, name="switch"),
    path("<str:schedule_id>/delete/", views.schedule_delete, name="delete"),
]
urlpatterns = [
    path("reports/", include((reports, "reports"))),
    path("schedules/", include((schedules, "schedules"))),
]
