"""URLs of the pages of seed 003."""

from django.urls import path

from brokerweb.systems.radiator import network_views, views
from brokerweb.systems.radiator.messages import views as messages
from brokerweb.systems.radiator.wirelab.lab import LAB
from brokerweb.wirelab.urls import pages, recordings

urlpatterns = [
    path("radiator/try/", views.try_it, name="radiator-try"),
    path("radiator/networks/<str:network_id>/server/", network_views.server, name="radiator-server"),
    path("radiator/networks/<str:network_id>/connect/", network_views.connect, name="radiator-connect"),
    path("runs/<str:run_id>/messages/", messages.index, name="radiator-messages"),
    path("runs/<str:run_id>/messages/<str:message>/", messages.detail, name="radiator-message"),
    *pages(LAB, "radiator/wire/"),
    *recordings(LAB, "radiator/wire/"),
]
