"""URLs of the pages of seed 001."""

from django.urls import path

from brokerweb.systems.federation.messages import views as messages
from brokerweb.systems.federation.wirelab.lab import LAB
from brokerweb.wirelab.urls import pages, recordings

urlpatterns = [
    path("runs/<str:run_id>/federation/messages/", messages.index, name="federation-messages"),
    path("runs/<str:run_id>/federation/messages/<str:message>/", messages.detail, name="federation-message"),
    *pages(LAB, "federation/wire/"),
    *recordings(LAB, "federation/wire/"),
]
