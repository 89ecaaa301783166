"""Accounts and tokens in the admin. A token's text is shown only once, when it is created."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import UserChangeForm
from django.contrib.auth.models import Group, User
from django.http import HttpRequest

from brokerweb.accounts import roles, services
from brokerweb.accounts.models import NetworkRight, Token
from brokerweb.kit.errors import NotPossible

admin.site.unregister(User)
admin.site.unregister(Group)


class AccountForm(UserChangeForm):
    """With one role instead of Django's flags, groups and permissions."""

    role = forms.ChoiceField(choices=[(word, word.capitalize()) for word in roles.ROLE_WORDS])

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["role"] = roles.stored_role(self.instance).word

    def clean_role(self) -> str:
        role = roles.read_role(self.cleaned_data["role"])
        try:
            roles.check(self.instance, role)
        except NotPossible as error:
            raise forms.ValidationError(str(error)) from None
        return role.word


class RightsInline(admin.TabularInline):
    model = NetworkRight
    autocomplete_fields = ("network",)
    extra = 0
    verbose_name, verbose_name_plural = "right on a network", "Rights on single networks, beyond the role"


@admin.register(User)
class AccountAdmin(UserAdmin):
    form = AccountForm
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Rights", {"fields": ("is_active", "role")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    list_display = ("username", "role", "is_active", "email", "last_login")
    list_filter = ("is_active", "is_staff", "is_superuser")
    inlines = (RightsInline,)

    @admin.display(description="role")
    def role(self, user: User) -> str:
        return roles.stored_role(user).word

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        return self.inlines if obj is not None else ()

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if change and "role" in form.cleaned_data:
            role = roles.read_role(form.cleaned_data["role"])
            if role is not roles.stored_role(obj):
                roles.set_role(obj, role)


@admin.register(Token)
class TokenAdmin(admin.ModelAdmin):
    list_display = ("token_key", "user", "name", "scope", "networks", "created", "last_used", "expiry")
    list_filter = ("scope", "user")
    list_select_related = ("user",)
    search_fields = ("name", "token_key", "user__username")
    date_hierarchy = "created"
    exclude = ("digest",)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def delete_model(self, request: HttpRequest, obj: Token) -> None:
        services.revoke(obj)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for token in queryset:
            services.revoke(token)
