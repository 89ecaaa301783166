"""URLs of the pages of seed 003."""

from django.urls import path

from brokerweb.systems.radiator import views
from brokerweb.systems.radiator.messages import views as messages

urlpatterns = [
    path("radiator/try/", views.try_it, name="radiator-try"),
    path("radiator/wire/", views.wire, name="radiator-wire"),
    path("runs/<str:run_id>/messages/", messages.index, name="radiator-messages"),
    path("runs/<str:run_id>/messages/<str:message>/", messages.detail, name="radiator-message"),
]
