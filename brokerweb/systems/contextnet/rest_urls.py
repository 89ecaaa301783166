"""URLs of seed 004 below ``/api/``."""

from django.urls import path

from brokerweb.systems.contextnet.doors import views

NETWORK = "networks/<str:pk>/mobile/"
urlpatterns = [
    path(f"{NETWORK}nodes/", views.NodeListView.as_view(), name="mobile-nodes"),
    path(f"{NETWORK}nodes/<str:node>/", views.NodeView.as_view(), name="mobile-node"),
    path(f"{NETWORK}nodes/<str:node>/secret/", views.SecretView.as_view(), name="mobile-secret"),
    path(f"{NETWORK}send/", views.SendView.as_view(), name="mobile-send"),
    path(f"{NETWORK}subscriptions/", views.SubscriptionListView.as_view(), name="mobile-subscriptions"),
    path(f"{NETWORK}subscriptions/<str:subscription>/", views.SubscriptionView.as_view(), name="mobile-subscription"),
    path(f"{NETWORK}applications/", views.ApplicationListView.as_view(), name="mobile-applications"),
    path(f"{NETWORK}applications/<str:name>/", views.ApplicationView.as_view(), name="mobile-application"),
]
