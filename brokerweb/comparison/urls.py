"""Addresses of the comparison."""

from django.urls import path

from brokerweb.comparison import views

urlpatterns = [
    path("compare/", views.index, name="compare"),
    path("compare/distribution/", views.distribution, name="compare-distribution"),
    path("compare/export/<str:form>/", views.export, name="compare-export"),
]
