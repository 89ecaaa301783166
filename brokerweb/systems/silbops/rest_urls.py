"""URLs of seed 002 below ``/api/``."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
