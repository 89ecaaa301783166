"""URLs of login, logout and the account page."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from brokerweb.accounts import views

urlpatterns = [
    path("login/", LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("account/", views.account, name="account"),
    path("account/password/", views.Password.as_view(), name="password"),
    path("account/tokens/", views.make_token, name="make-token"),
    path("account/tokens/<str:token_id>/revoke/", views.revoke_token, name="revoke-token"),
]
