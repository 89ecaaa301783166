"""URLs of the page of the change log."""

from django.urls import path

from brokerweb.changelog import views

urlpatterns = [path("changes/", views.index, name="changes")]
