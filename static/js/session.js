// Long-open pages: expired sessions, renewed CSRF tokens, an unavailable server.
import { hasTyped } from "./guard.js";
import { isUnasked } from "./keep.js";
import { toast } from "./toast.js";

const frame = document.querySelector("[data-login]");
let told = null;

// A login in another tab renews the CSRF token: forms send the current one.
export const token = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1];

document.addEventListener("submit", ({ target }) => {
  const field = target.querySelector?.("input[name=csrfmiddlewaretoken]");
  if (field && token()) field.value = token();
}, true);

document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (token() && detail.verb !== "get") detail.headers["X-CSRFToken"] = token();
  if (token() && "csrfmiddlewaretoken" in detail.parameters) detail.parameters.csrfmiddlewaretoken = token();
});

// Without a session, requests for fragments return the login page.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { pathname } = new URL(event.detail.xhr.responseURL || location.href, location.href);
  if (pathname === frame?.dataset.login) { event.detail.shouldSwap = false; loggedOut(); } else if (event.detail.xhr.status < 400) hush();
});

function loggedOut() {
  const here = `${frame.dataset.login}?next=${encodeURIComponent(location.pathname + location.search)}`;
  if (!hasTyped()) { location.assign(here); return; }
  if (told?.isConnected) return;
  told = toast("You are logged out. Your input is kept:", { kind: "warning", link: { text: "log in in another tab, then continue here", href: frame.dataset.login } });
  told.querySelector("a").target = "_blank";
}

// One message while polls fail, removed by the next success; user actions always get a message.
function tellFailure(event) {
  const { elt, requestConfig, xhr } = event.detail;
  const source = requestConfig?.elt || elt;
  if (isUnasked(source)) {
    const isGone = xhr?.status === 404;
    if (isGone) source.dataset.gone = "";
    const words = isGone ? "A part of this page no longer exists." : "The server is not responding correctly. The page may be outdated; retrying.";
    if (!told?.isConnected) told = toast(words, { kind: "warning", stays: true });
  } else {
    const words = event.type === "htmx:sendError" ? "The server does not respond." : sentenceOf(xhr);
    toast(`The action failed. ${words}`, { kind: "error" });
  }
}

function sentenceOf(xhr) {
  const isText = xhr.getResponseHeader("Content-Type")?.startsWith("text/plain");
  return isText ? xhr.responseText.slice(0, 300) : `The server returned status ${xhr.status}.`;
}

function hush() {
  told?.remove();
  told = null;
}

// htmx logs an error when a request is aborted for a newer one, as previews do while typing.
htmx.logger = (element, name, detail) => {
  if (name === "htmx:sendAbort" || (name === "htmx:afterRequest" && !detail.xhr.status)) delete detail.error;
};

// The server gives a reason to show where the part would be.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.xhr.getResponseHeader("X-Shown-In-Place")) Object.assign(detail, { shouldSwap: true, isError: false });
});
document.addEventListener("htmx:sendError", tellFailure);
document.addEventListener("htmx:responseError", tellFailure);
