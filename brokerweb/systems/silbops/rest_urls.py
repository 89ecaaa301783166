"""URLs of seed 002 below ``/api/``."""

from django.urls import path

from brokerweb.systems.silbops.doors import views

NETWORK = "networks/<str:pk>/pubsub/"
urlpatterns = [
    path(f"{NETWORK}clients/", views.ClientListView.as_view(), name="pubsub-clients"),
    path(f"{NETWORK}clients/<str:name>/", views.ClientView.as_view(), name="pubsub-client"),
    path(f"{NETWORK}subscriptions/", views.SubscriptionListView.as_view(), name="pubsub-subscriptions"),
    path(f"{NETWORK}subscriptions/<str:subscription>/", views.SubscriptionView.as_view(), name="pubsub-subscription"),
    path(f"{NETWORK}publish/", views.PublishView.as_view(), name="pubsub-publish"),
    path(f"{NETWORK}why/", views.WhyView.as_view(), name="pubsub-why"),
]
