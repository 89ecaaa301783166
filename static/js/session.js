// A page that stays open for long: its log-in ends, the token of its forms is renewed elsewhere, the server is away.
import { hasTyped } from "./guard.js";
import { isUnasked } from "./keep.js";
import { toast } from "./toast.js";

const frame = document.querySelector("[data-login]");
let told = null;

// A log-in in another tab renews the token: a form sends the one that is valid when it is sent.
export const token = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1];

document.addEventListener("submit", ({ target }) => {
  const field = target.querySelector?.("input[name=csrfmiddlewaretoken]");
  if (field && token()) field.value = token();
}, true);

document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (token() && detail.verb !== "get") detail.headers["X-CSRFToken"] = token();
  if (token() && "csrfmiddlewaretoken" in detail.parameters) detail.parameters.csrfmiddlewaretoken = token();
});

// A part of a page that was asked for after the log-in had ended is answered with the log-in's page.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { pathname } = new URL(event.detail.xhr.responseURL || location.href, location.href);
  if (pathname === frame?.dataset.login) { event.detail.shouldSwap = false; loggedOut(); } else if (event.detail.xhr.status < 400) hush();
});

function loggedOut() {
  const here = `${frame.dataset.login}?next=${encodeURIComponent(location.pathname + location.search)}`;
  if (!hasTyped()) { location.assign(here); return; }
  if (told?.isConnected) return;
  told = toast("You were logged out. What you typed is still here:", { kind: "warning", link: { text: "log in in another tab, then go on here", href: frame.dataset.login } });
  told.querySelector("a").target = "_blank";
}

// One sentence while polls fail, gone with the first that succeeds; what somebody pressed is always answered.
function tellFailure(event) {
  const { elt, requestConfig, xhr } = event.detail;
  const source = requestConfig?.elt || elt;
  if (isUnasked(source)) {
    const isGone = xhr?.status === 404;
    if (isGone) source.dataset.gone = "";
    const words = isGone ? "What a part of this page showed is not there any more." : "The server does not answer as it should. What is shown may be old; it is asked again.";
    if (!told?.isConnected) told = toast(words, { kind: "warning", stays: true });
  } else {
    const words = event.type === "htmx:sendError" ? "The server does not answer." : sentenceOf(xhr);
    toast(`That was not done. ${words}`, { kind: "error" });
  }
}

function sentenceOf(xhr) {
  const isText = xhr.getResponseHeader("Content-Type")?.startsWith("text/plain");
  return isText ? xhr.responseText.slice(0, 300) : `The server answered with ${xhr.status}.`;
}

function hush() {
  told?.remove();
  told = null;
}

// htmx writes into the console as an error that a request was given up for a newer one, as previews are while somebody types.
htmx.logger = (element, name, detail) => {
  if (name === "htmx:sendAbort" || (name === "htmx:afterRequest" && !detail.xhr.status)) delete detail.error;
};

document.addEventListener("htmx:sendError", tellFailure);
document.addEventListener("htmx:responseError", tellFailure);
