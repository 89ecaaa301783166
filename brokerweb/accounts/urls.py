"""URLs of login, logout and the account page."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from brokerweb.accounts import views
from brokerweb.kit.view_guards import needs

urlpatterns = [
    path("login/", needs(None)(LoginView.as_view(redirect_authenticated_user=True)), name="login"),
    path("logout/", needs(None)(LogoutView.as_view()), name="logout"),
    path("account/", views.account, name="account"),
    path("account/password/", needs("own")(views.Password.as_view()), name="password"),
    path("account/tokens/", views.make_token, name="make-token"),
    path("account/tokens/<str:token_id>/revoke/", views.revoke_token, name="revoke-token"),
]
