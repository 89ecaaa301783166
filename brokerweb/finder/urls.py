"""URL of the search page."""

from django.urls import path

from brokerweb.finder import views

urlpatterns = [path("search/", views.index, name="search")]
