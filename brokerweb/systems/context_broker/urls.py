"""URLs of the pages of seed 000, below those of runs, experiments and networks."""

from django.urls import include, path

from brokerweb.systems.context_broker.context import views as context
from brokerweb.systems.context_broker.queries import network_views, run_views

pages = [
    path("runs/<str:run_id>/queries/", run_views.index, name="queries"),
    path("runs/<str:run_id>/queries/<str:trace>/", run_views.detail, name="query"),
    path("networks/<str:network_id>/context/", context.context, name="context"),
    path("networks/<str:network_id>/walks/<slug:trace>/", network_views.walk, name="walk"),
]
urlpatterns = [
    path("", include((pages, "context_broker"))),
    path("", include("brokerweb.systems.context_broker.wirelab.urls")),
]
