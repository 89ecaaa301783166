"""Runs and reports as a script sees them through REST."""

from __future__ import annotations

from typing import Any

import httpx

from tests.test_rest_journey import ENDED, Api
from tests.waiting import BOUND_S, wait_for


def clear(api: Api) -> bool:
    """Cancel all runs and reports that have not ended; whether there were none."""
    left = 0
    for kind in ("runs", "reports"):
        for one in api.get(f"/{kind}/?page_size=100")["results"]:
            if one["state"] not in ENDED:
                left += 1
                api.http.post(f"/{kind}/{one['id']}/cancel/")
    return not left


def is_ready(api: Api) -> bool:
    """The response of ``/readyz``; not ready without a response."""
    try:
        return bool(api.http.get(api.http.base_url.join("/readyz")).status_code == 200)
    except httpx.TransportError:
        return False


def state_of(api: Api, run: str) -> str:
    return str(api.get(f"/runs/{run}/")["state"])


def measuring(api: Api, run: str) -> str:
    """The same run, once it measures."""
    api.wait(f"/runs/{run}/", lambda found: found["state"] in ("measuring", *ENDED))
    assert state_of(api, run) == "measuring", api.get(f"/runs/{run}/")["reason"]
    return run


def has_answers(api: Api, run: str) -> bool:
    """Whether its page shows requests that were answered since it measures."""
    snapshot = api.get(f"/runs/{run}/series/")
    return snapshot.get("outcomes", {}).get("answered", 0) > 0


def ended(api: Api, run: str) -> dict[str, Any]:
    """The run, once it has ended."""

    def found() -> dict[str, Any] | None:
        run_now = api.get(f"/runs/{run}/")
        return run_now if run_now["state"] in ENDED else None

    return wait_for(found, lambda: f"the run has ended: {api.get(f'/runs/{run}/')}")


def log_in(api: Api, base: str) -> str:
    """The cookie of a user who logged in on a page."""
    with httpx.Client(base_url=base, timeout=BOUND_S) as browser:
        browser.get("/login/")
        token = browser.cookies["csrftoken"]
        form = {**api.credentials, "csrfmiddlewaretoken": token}
        browser.post("/login/", data=form, headers={"Referer": base})
        return f"sessionid={browser.cookies['sessionid']}"
