from importlib import import_module

from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from overlay.core.errors import InvalidSetting


class AccountsConfig(AppConfig):
    name = "brokerweb.accounts"

    def ready(self) -> None:
        import_module("brokerweb.accounts.passwords")  # registers its signal receiver; must run after models are loaded
        if settings.OIDC_ISSUER:
            try:
                import_module("brokerweb.accounts.oidc").read_mapping(settings.OIDC_ROLES)
            except InvalidSetting as error:
                raise ImproperlyConfigured(str(error)) from error
