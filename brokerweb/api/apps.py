from typing import Any

from django.apps import AppConfig
from django.conf import settings


class ApiConfig(AppConfig):
    name = "brokerweb.api"

    def ready(self) -> None:
        """Describe sections, and name the enumerations of systems, in the OpenAPI document."""
        from brokerweb.api.sections import described
        from brokerweb.systems.registry import webs

        names: Any = settings.SPECTACULAR_SETTINGS["ENUM_NAME_OVERRIDES"]
        for web in webs():
            names.update(web.enums)
        settings.SPECTACULAR_SETTINGS["TAGS"] = described()
