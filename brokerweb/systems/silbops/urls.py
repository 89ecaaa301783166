"""URLs of the pages of seed 002."""

from brokerweb.systems.silbops.wirelab.lab import LAB
from brokerweb.wirelab.urls import pages, recordings

urlpatterns = [*pages(LAB, "silbops/wire/"), *recordings(LAB, "silbops/wire/")]
