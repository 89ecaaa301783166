"""URLs of the pages of seed 002."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
