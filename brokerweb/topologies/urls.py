"""URLs of the pages of topologies."""

from django.urls import path

from brokerweb.topologies import studio_views, views, walk_views

app_name = "topologies"
urlpatterns = [
    path("topologies/", views.index, name="list"),
    path("topologies/new/", views.new, name="new"),
    path("topologies/preview/", views.preview, name="preview"),
    path("topologies/apart/", views.apart, name="apart"),
    path("topologies/import/", views.import_file, name="import"),
    path("topologies/<str:topology_id>/", views.detail, name="detail"),
    path("topologies/<str:topology_id>/delete/", views.delete, name="delete"),
    path("topologies/<str:topology_id>/clone/", studio_views.clone, name="clone"),
    path("topologies/<str:topology_id>/edit/", studio_views.edit, name="edit"),
    path("topologies/<str:topology_id>/walks/", walk_views.walks, name="walks"),
    path("topologies/<str:topology_id>/advised/", walk_views.advised, name="advised"),
    path("topologies/<str:topology_id>/versions/", studio_views.versions, name="versions"),
    path("topologies/<str:topology_id>/versions/<int:number>/", studio_views.version, name="version"),
    path("topologies/<str:topology_id>/versions/<int:number>/restore/", studio_views.restore, name="restore"),
    path("topologies/<str:topology_id>/difference/", studio_views.difference, name="difference"),
    path("topologies/<str:topology_id>/export.<str:form>", views.export, name="export"),
]
