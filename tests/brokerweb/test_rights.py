"""Who may do what: every URL of pages and REST, asked as each account of the table in docs/access.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLResolver, get_resolver

from brokerweb.accounts import rights, roles
from brokerweb.accounts.models import NetworkRight, Token
from brokerweb.accounts.rights import Access, Level, Operation, Role, refusal, visible
from brokerweb.accounts.services import make_token
from brokerweb.live.websocket_auth import NOT_ALLOWED, NOT_LOGGED_IN, _code
from brokerweb.networks.models import Network
from tests.thorough import THOROUGH

pytestmark = pytest.mark.django_db
DOCUMENT = Path(__file__).parents[2] / "docs" / "access.md"
PUBLIC = ("/login/", "/logout/", "/healthz", "/readyz", "/metrics", "/favicon.ico", "/api/schema/", "/api/docs/")
IT, OTHER = "it0000000", "other0000"
METHODS = ("get", "post", "put", "patch", "delete")
ONE = "one"
"""For every other id."""

FORMS = re.compile(
    r"/(new|import|edit|create|pick/.*|thresholds(/preview)?|labels|estimate|what-if|clone|restore|launch|cancel|rerun"
    r"|retry-failed|delete|start|stop|restart|switch|now|test|keep|change|apply|send|bulk|pause|resume|(brokers|gateways)/one/one)/$"
)
"""Pages that make changes, or are the form for one; the others only show something."""
LOOKS = re.compile(r"^/(wire/|radiator/wire/|runs/compare/|now/)")
"""Pages that show something although their names are like those."""
FORMS_BESIDE = ("/storage/preview/", "/topologies/preview/", "/experiments/topologies/", "/schedules/pick/")
"""Parts of forms."""
OWN = re.compile(r"^/(account/|views/|api/tokens/|api/views/|api/accounts/me/|$)")
READ_BY_POST = re.compile(r"(wire/(decode|compose)|/judge|/try|/query|dry-run)/?$")


class Allowed(BaseException):
    """What is raised instead of running a view that was allowed."""


def table() -> dict[tuple[str, str], bool]:
    """What each account may do, by account and thing, as documented."""
    lines = ("| what |" + DOCUMENT.read_text().partition("| what |")[2].partition("\n\n")[0]).splitlines()
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    found = {(who, row[0]): cell for row in rows for who, cell in zip(head[1:], row[1:], strict=True)}
    assert set(found.values()) == {"yes", "no"}
    return {key: cell == "yes" for key, cell in found.items()}


def urls() -> Iterator[tuple[str, Any]]:
    """Every URL outside the admin with example values, and its view."""

    def walk(patterns: Any, before: str) -> Iterator[tuple[str, Any]]:
        for one in patterns:
            path = before + str(one.pattern)
            if isinstance(one, URLResolver):
                yield from walk(one.url_patterns, path)
            elif not path.startswith(("admin/", "api/^networks/(?P<pk>[^/]+)/context/")) and path != "api/^":
                yield path, one.callback

    for path, view in walk(get_resolver().url_patterns, ""):
        is_network = re.search(r"networks/(\^?\(\?P<pk>|<str:(pk|network_id)>|\(\?P<pk>)", path.replace("^", ""))
        for network in (IT, OTHER) if is_network else ("",):
            yield _example(path, network), view


def _example(path: str, network: str) -> str:
    path = path.replace("^", "").replace("$", "").replace("\\Z", "")
    if network:
        path = re.sub(r"\(\?P<pk>[^)]*\)|<str:(pk|network_id)>", network, path, count=1)
    numbers = r"\(\?P<(index|number)>[^)]*\)|<int:[^>]*>|\(\?P<pk>\[0-9\][^)]*\)"
    path = re.sub(numbers, "1", path)
    path = re.sub(r"\(\?P<trace>[^)]*\)", "0" * 16, path)
    path = re.sub(r"\(\?P<message>[^)]*\)", "0" * 16 + "-1", path)
    path = re.sub(r"\(\?P<way>[^)]*\)", "s-c0-1", path)
    path = re.sub(r"\(\?P<node_message>[^)]*\)", "0" * 32, path)
    path = re.sub(r"\(\?P<publication>[^)]*\)", "publisher-0-1", path)
    return "/" + re.sub(r"<\w+:\w+>|\(\?P<\w+>[^)]*\)", ONE, path)


def methods_of(path: str, view: Any) -> list[str]:
    if not path.startswith("/api/"):
        return ["get"]
    offered = getattr(view, "actions", None) or [name for name in METHODS if hasattr(view.cls, name)]
    return [name for name in METHODS if name in offered and (name, path) != ("post", "/api/tokens/")]


def thing(method: str, path: str) -> str:
    """Its row in the table."""
    rest, reads = path.startswith("/api/"), method == "get"
    if OWN.match(path):
        return f"own password, tokens and saved views: {'look' if reads else 'change'}"
    if path.startswith(("/api/accounts/", "/accounts/")):
        return "accounts, roles and rights"
    changes = (not reads and not READ_BY_POST.search(path)) if rest else is_form(path)
    if path in ("/networks/", "/api/networks/") and not changes:
        return "list of networks: those that it may look at"
    if "networks/" not in path:
        return f"everything else: {'create, change, launch, delete' if changes else 'look'}"
    whose = "it" if IT in path else "another network"
    if re.search(r"/(operations|slow)/|/users/$", path) and not changes:
        return f"{whose}: operation log, users of the log"
    if not changes:
        return f"{whose}: look, query context"
    if re.search(r"/(context|contextml|ngsi|pubsub|subscriptions|providers|publish|mobile/send|applications)/", path):
        return f"{whose}: store and delete context"
    return f"{whose}: {'' if whose == 'it' else 'deploy, '}start, stop, restart, delete"


def is_form(path: str) -> bool:
    if path in FORMS_BESIDE or path.endswith("/wire/send/"):
        return True
    target = re.fullmatch(rf"/notifications/{ONE}/", path)  # the form of a target
    return bool(target or (FORMS.search(path) and not LOOKS.match(path)))


def accounts() -> dict[str, Client]:
    """A client for each column of the table."""
    for pk in (IT, OTHER):
        Network.objects.create(pk=pk, name=pk)
    clients = {}
    for name in dict.fromkeys(who for who, _ in table()):
        word, _, level = name.partition(", ")
        user = User.objects.create_user(name)
        roles.set_role(user, roles.read_role(word.partition("'")[0]))
        if level:
            NetworkRight.objects.create(user=user, network_id=IT, level=level.removesuffix("s it"))
        clients[name] = client = Client()
        if "token" in name:
            token, text = make_token(user, scope="read" if "read-only" in name else "write")
            if name.endswith("for it"):
                Token.objects.filter(pk=token.pk).update(networks=[IT])
            client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {text}"
        else:
            client.force_login(user)
    return clients


def telling(documented: dict[tuple[str, str], bool]) -> set[str]:
    """Accounts by whose answers all rows of the table are told apart that the answers of all tell apart.

    With a token or without: pages are asked without.
    """

    def told(some: list[str]) -> int:
        return len({tuple(documented[who, row] for who in some) for _, row in documented})

    everyone = list(dict.fromkeys(who for who, _ in documented))
    found = [who for who in everyone if "token" not in who]
    for more in ([], [who for who in everyone if "token" in who]):
        found += more
        for who in more or list(found):
            without = [one for one in found if one != who]
            if told(without) == told(found):
                found = without
    return set(found)


def test_every_url_allows_what_the_table_says(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.REST_RATE = settings.REST_ADDRESS_RATE = 0
    decide = rights.refusal

    def decided(*given: Any, **more: Any) -> str:
        if sentence := decide(*given, **more):
            return sentence
        raise Allowed

    clients, documented, wrong, tried, rows = accounts(), table(), [], 0, set[str]()
    needed = set(clients) if THOROUGH else telling(documented)
    every = list(urls())  # imports all views, before what they import is replaced
    monkeypatch.setattr(rights, "refusal", decided)
    for path, view in every:
        for method in methods_of(path, view):
            if path.startswith(PUBLIC):
                continue
            row = thing(method, path)
            asking = needed if row in rows else set(clients)  # of the first of each row, all
            rows.add(row)
            for who, client in clients.items():
                if who not in asking or ("token" in who and not path.startswith("/api/")):
                    continue
                may, tried = answer(client, method, path), tried + 1
                if may is not documented[who, row]:
                    wrong.append((who, method, path, row, may))
    assert not wrong, "\n".join(map(str, wrong[:40]))
    assert tried > 1_500
    assert rows == {row for _, row in documented}


def answer(client: Client, method: str, path: str) -> bool | int:
    """Whether the view was about to run; a status that is no refusal is returned as it is."""
    try:
        status: int = getattr(client, method)(path).status_code
    except Allowed:
        return True
    return False if status == 403 else status


def test_a_websocket_shows_a_run_to_those_who_may_look() -> None:
    made, documented = accounts(), table()
    codes = {
        who: _code(User.objects.get(username=who), Token.objects.filter(user__username=who).first()) for who in made
    }
    row = "everything else: look"
    assert codes == {who: 0 if documented[who, row] else NOT_ALLOWED for who in made}
    User.objects.update(is_active=False)
    assert {_code(user) for user in User.objects.all()} == {NOT_LOGGED_IN}


def test_without_a_log_in_nothing_is_shown_and_nothing_changed(client: Client, settings: Any) -> None:
    settings.REST_RATE = settings.REST_ADDRESS_RATE = 0
    found = {
        (method, path): getattr(client, method)(path).status_code
        for path, view in urls()
        if not path.startswith(PUBLIC)
        for method in methods_of(path, view)
    }
    rest = {status for (_, path), status in found.items() if path.startswith("/api/")}
    assert (rest, len(found) > 250) == ({401}, True)
    # 302: to the log-in; 405: a form's URL without its form.
    assert {key: code for key, code in found.items() if not key[1].startswith("/api/") and code not in (302, 405)} == {}


@pytest.mark.parametrize("role", Role)
def test_the_admin_shows_operators_what_pages_show_and_accounts_to_administrators(role: Role) -> None:
    user = roles.set_role(User.objects.create_user("someone"), role)
    browser = Client()
    browser.force_login(user)
    opened = {}
    for model in admin.site._registry:
        where = f"{model._meta.app_label}/{model._meta.model_name}"
        opened[where] = browser.get(f"/admin/{where}/").status_code
    least = {"accounts/token", "auth/user", "django_celery_beat/periodictask"}
    assert {opened[where] for where in least} == {200 if role is Role.ADMINISTRATOR else 403 if role >= 2 else 302}
    assert opened["networks/network"] == (200 if role >= Role.OPERATOR else 302)
    form = browser.get(f"/admin/auth/user/{user.pk}/change/").status_code
    assert form == (200 if role is Role.ADMINISTRATOR else 403 if role is Role.OPERATOR else 302)


def test_an_administrator_gives_a_role_and_a_right_and_the_last_one_stays() -> None:
    ada, vera = User.objects.create_superuser("ada"), User.objects.create_user("vera")
    deployed = {"brokers": 1, "links": []}
    network = Network.objects.create(name="campus", deployed=deployed)
    Network.objects.create(name="town", deployed=deployed)
    boss, hers = Client(), Client()
    boss.force_login(ada)
    hers.force_login(vera)

    def sent(user: User, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        answer = boss.patch(f"/api/accounts/{user.pk}/", body, content_type="application/json")
        return answer.status_code, answer.json()

    code, shown = sent(vera, {"role": "guest", "networks": {network.pk: "read"}})
    assert (code, shown["role"], shown["networks"]) == (200, "guest", {network.pk: "read"})
    assert hers.get("/api/accounts/me/").json() == shown
    assert [one["name"] for one in hers.get("/api/networks/").json()["results"]] == ["campus"]
    assert hers.get("/")["Location"] == "/networks/"
    page = hers.get("/networks/").content.decode()
    assert ("campus" in page, "town" in page) == (True, False)
    assert "may see only the networks that it was given" in hers.get("/runs/").content.decode()
    assert sent(vera, {"role": "queen"})[0] == 400
    for levels in ({"nowhere": "read"}, {network.pk: "all"}):
        assert (sent(vera, {"networks": levels})[0], roles.rights_of(vera)) == (400, {network.pk: "read"})
    code, refused = sent(ada, {"role": "viewer"})
    assert (code, "only administrator" in refused["sentence"]) == (409, True)
    assert sent(vera, {"role": "administrator", "networks": {}})[0] == 200
    assert sent(ada, {"role": "viewer"})[0] == 200
    assert sent(vera, {"role": "viewer"})[0] == 403, "she is none any more"


def test_a_role_is_given_in_the_admin_too() -> None:
    ada, vera = User.objects.create_superuser("ada"), User.objects.create_user("vera")
    boss = Client()
    boss.force_login(ada)
    form = {
        "username": "vera",
        "is_active": "on",
        "role": "operator",
        "date_joined_0": "2026-01-01",
        "date_joined_1": "00:00:00",
        **{f"network_rights-{name}_FORMS": "0" for name in ("TOTAL", "INITIAL")},
    }
    assert boss.post(f"/admin/auth/user/{vera.pk}/change/", form).status_code == 302
    assert roles.stored_role(User.objects.get(pk=vera.pk)) is Role.OPERATOR
    alone = boss.post(f"/admin/auth/user/{ada.pk}/change/", {**form, "username": "ada", "role": "viewer"})
    assert "only administrator" in alone.content.decode()


def test_a_viewer_who_may_write_to_a_network_has_the_form_for_it(client: Client) -> None:
    network = Network.objects.create(name="campus", deployed={"brokers": 1, "links": []})
    vera = User.objects.create_user("vera")
    client.force_login(vera)
    sent = {"do": "provide", "type": "room", "entity": "kitchen", "scope": "climate", "valid_ms": "1", "payload": "a=1"}
    refused = client.post(f"/networks/{network.pk}/context/", sent)
    assert (refused.status_code, "right to write to this network" in refused.content.decode()) == (403, True)
    NetworkRight.objects.create(user=vera, network=network, level=Level.WRITE)
    assert client.post(f"/networks/{network.pk}/context/", sent).status_code == 200
    assert client.post(f"/networks/{network.pk}/stop/").status_code == 403


@pytest.mark.parametrize(
    ("limit", "given", "seen"),
    [
        (None, {}, set()),
        (None, {"a": Level.READ}, {"a"}),
        (frozenset({"a", "b"}), {"a": Level.READ, "c": Level.READ}, {"a"}),
    ],
)
def test_a_limited_token_never_widens_what_its_account_sees(
    limit: frozenset[str] | None, given: dict[str, Level], seen: set[str]
) -> None:
    access = Access(Role.GUEST, lambda: given, limit=limit)
    assert visible(access) == seen
    for network in "abc":
        assert (not refusal(access, Operation.READ, network)) is (network in seen)
        assert refusal(access, Operation.CHANGE, network)
