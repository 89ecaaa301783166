"""URLs of the pages of seed 002."""

from django.urls import path

from brokerweb.systems.silbops import views
from brokerweb.systems.silbops.breakeven import views as breakeven
from brokerweb.systems.silbops.map import views as maps
from brokerweb.systems.silbops.messages import views as messages
from brokerweb.systems.silbops.wirelab.lab import LAB
from brokerweb.wirelab.urls import pages, recordings

urlpatterns = [
    path("silbops/networks/<str:network_id>/use/", views.use_it, name="silbops-use"),
    path("runs/<str:run_id>/silbops/map/", maps.index, name="silbops-map"),
    path("runs/<str:run_id>/silbops/publications/", messages.index, name="silbops-messages"),
    path("runs/<str:run_id>/silbops/publications/<str:publication>/", messages.detail, name="silbops-message"),
    path("studies/E2.6/break-even/", breakeven.index, name="silbops-break-even"),
    *pages(LAB, "silbops/wire/"),
    *recordings(LAB, "silbops/wire/"),
]
