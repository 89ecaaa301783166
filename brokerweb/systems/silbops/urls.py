"""URLs of the pages of seed 002."""

from django.urls import path

from brokerweb.systems.silbops import views

urlpatterns = [
    path("silbops/networks/<str:network_id>/use/", views.use_it, name="silbops-use"),
]
