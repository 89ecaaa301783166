"""URLs of the pages of seed 001."""

from brokerweb.systems.federation.wirelab.lab import LAB
from brokerweb.wirelab.urls import pages, recordings

urlpatterns = [
    *pages(LAB, "federation/wire/"),
    *recordings(LAB, "federation/wire/"),
]
