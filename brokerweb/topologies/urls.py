"""Addresses of the pages of topologies."""

from django.urls import path

from brokerweb.topologies import views

app_name = "topologies"
urlpatterns = [
    path("topologies/", views.index, name="list"),
    path("topologies/new/", views.new, name="new"),
    path("topologies/preview/", views.preview, name="preview"),
    path("topologies/import/", views.import_file, name="import"),
    path("topologies/<str:topology_id>/", views.detail, name="detail"),
    path("topologies/<str:topology_id>/delete/", views.delete, name="delete"),
    path("topologies/<str:topology_id>/export.<str:form>", views.export, name="export"),
]
