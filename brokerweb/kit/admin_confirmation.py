"""Destructive admin actions with a confirmation page."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.admin import ModelAdmin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse

from telemetry.formatting import counted

NAMED = 20
"""Rows listed on the confirmation page."""
Action = Callable[[Any, HttpRequest, QuerySet[Any]], None]
Asked = Callable[[Any, HttpRequest, QuerySet[Any]], TemplateResponse | None]


def confirmed(verb: str, consequence: str) -> Callable[[Action], Asked]:
    """Decorator of an admin action: ``verb`` labels the button, as in "Stop"; ``consequence`` is the explanation."""

    def decorated(action: Action) -> Asked:
        @wraps(action)
        def asked(admin: ModelAdmin[Any], request: HttpRequest, queryset: QuerySet[Any]) -> TemplateResponse | None:
            if request.POST.get("confirmed") == "yes":
                action(admin, request, queryset)
                return None
            total, rows = queryset.count(), list(queryset[:NAMED])
            context = {
                **admin.admin_site.each_context(request),
                "title": f"{verb} {counted(total, str(admin.opts.verbose_name))}?",
                "opts": admin.opts,
                "verb": verb,
                "consequence": consequence,
                "rows": rows,
                "more": total - len(rows),
                "action": action.__name__,
                "checkbox": ACTION_CHECKBOX_NAME,
                "selected": request.POST.getlist(ACTION_CHECKBOX_NAME),
                "select_across": request.POST.get("select_across", "0"),
            }
            return TemplateResponse(request, "admin/confirm.html", context)

        return asked

    return decorated
