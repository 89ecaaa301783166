"""URLs of the pages of seed 003."""

from django.urls import path

from brokerweb.systems.radiator import network_views, views

urlpatterns = [
    path("radiator/try/", views.try_it, name="radiator-try"),
    path("radiator/wire/", views.wire, name="radiator-wire"),
    path("radiator/networks/<str:network_id>/server/", network_views.server, name="radiator-server"),
    path("radiator/networks/<str:network_id>/connect/", network_views.connect, name="radiator-connect"),
]
