"""Addresses of the home page."""

from django.urls import path

from brokerweb.live import views

urlpatterns = [path("", views.home, name="home"), path("now/", views.now, name="home-now")]
