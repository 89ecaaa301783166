"""URL of the page that tries an aggregability."""

from django.urls import path

from brokerweb.systems.radiator import views

urlpatterns = [path("radiator/try/", views.try_it, name="radiator-try")]
