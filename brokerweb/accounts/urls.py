"""URLs of login, logout and the account page."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from brokerweb.accounts import manage_views, oidc_views, views
from brokerweb.kit.view_guards import needs

urlpatterns = [
    path("login/", needs(None)(views.LogIn.as_view(redirect_authenticated_user=True)), name="login"),
    path("login/oidc/", oidc_views.begin, name="oidc"),
    path("login/oidc/callback/", oidc_views.callback, name="oidc-callback"),
    path("logout/", needs(None)(LogoutView.as_view()), name="logout"),
    path("account/", views.account, name="account"),
    path("account/password/", needs("own")(views.Password.as_view()), name="password"),
    path("account/tokens/", views.make_token, name="make-token"),
    path("account/tokens/<str:token_id>/revoke/", views.revoke_token, name="revoke-token"),
    path("accounts/", manage_views.index, name="accounts"),
    path("accounts/<int:user_id>/", manage_views.one, name="account-one"),
    path("accounts/<int:user_id>/tokens/<str:token_id>/revoke/", manage_views.revoke, name="account-revoke"),
]
