"""URLs of the pages of seed 002."""

from django.urls import path

from brokerweb.systems.silbops import views
from brokerweb.systems.silbops.wirelab.lab import LAB
from brokerweb.wirelab.urls import pages, recordings

urlpatterns = [
    path("silbops/networks/<str:network_id>/use/", views.use_it, name="silbops-use"),
    *pages(LAB, "silbops/wire/"),
    *recordings(LAB, "silbops/wire/"),
]
