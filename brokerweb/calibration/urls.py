"""URL of the calibration page."""

from django.urls import path

from brokerweb.calibration import views

urlpatterns = [path("calibration/", views.index, name="calibration")]
