"""URLs of the pages of seed 003."""

from django.urls import path

from brokerweb.systems.radiator import views

urlpatterns = [
    path("radiator/try/", views.try_it, name="radiator-try"),
    path("radiator/wire/", views.wire, name="radiator-wire"),
]
