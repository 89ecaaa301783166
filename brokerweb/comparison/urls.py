"""URLs of the comparison."""

from django.urls import path

from brokerweb.comparison import experiment_views, views

urlpatterns = [
    path("compare/", views.index, name="compare"),
    path("compare/distribution/", views.distribution, name="compare-distribution"),
    path("compare/export/<str:form>/", views.export, name="compare-export"),
    path("experiments/<str:experiment_id>/chart/", experiment_views.chart, name="experiment-chart"),
]
