// What every page has: times in the reader's zone, the rail on small screens, dialogs, buttons that copy or that ask
// before they destroy, and the mark that says when the page can be used; and, of their own, what keeps the place of
// whoever is in a part that is replaced (keep.js), and what was typed and not sent (guard.js).
import { copy } from "./copy.js";
import "./guard.js";
import "./keep.js";
import "./session.js";

// A browser that goes back puts into a filter what was typed last; the list below it is that of the address. On a page
// opened in any other way, what was typed before it was loaded stays.
const isGoneBackTo = ({ persisted }) => persisted || performance.getEntriesByType("navigation")[0].type === "back_forward";
addEventListener("pageshow", (event) => isGoneBackTo(event) && document.querySelectorAll('form[method="get"][role="search"] input[type="search"]')
  .forEach((field) => { field.value = field.defaultValue; }));

const DISTANCES = [[90, 1, "s"], [5400, 60, "min"], [172800, 3600, "h"], [Infinity, 86400, "d"]];

export function ago(moment, now = new Date()) {
  const seconds = (now - moment) / 1000;
  const distance = Math.abs(seconds);
  if (distance < 5) return "now";
  const [, unit, word] = DISTANCES.find(([limit]) => distance < limit);
  const words = `${Math.round(distance / unit)} ${word}`;
  return seconds > 0 ? `${words} ago` : `in ${words}`;
}

function refreshTimes() {
  document.querySelectorAll("time[datetime]").forEach((element) => {
    const moment = new Date(element.dateTime);
    element.title = moment.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" });
    element.textContent = element.hasAttribute("data-exact")
      ? moment.toLocaleString(undefined, { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" })
      : ago(moment);
  });
}

function toggleRail(toggle, open = !document.getElementById("rail").classList.contains("open")) {
  document.getElementById("rail").classList.toggle("open", open);
  toggle.setAttribute("aria-expanded", String(open));
}

let pressedOn = null;
document.addEventListener("pointerdown", ({ target }) => { pressedOn = target; });

// On what a sheet covers; not on its own margin, nor where a drag from within it ends.
function isBeside({ target, clientX: x, clientY: y }) {
  const { left, right, top, bottom } = target.getBoundingClientRect();
  return pressedOn === target && (x < left || x > right || y < top || y > bottom);
}

document.addEventListener("click", (event) => {
  const pressed = event.target.closest("[data-rail-toggle], [data-dialog-open], [data-dialog-close], [data-copy]");
  if (event.target instanceof HTMLDialogElement && isBeside(event)) event.target.close();
  if (!pressed) return;
  const { dialogOpen, copy: selector } = pressed.dataset;
  if (pressed.matches("[data-rail-toggle]")) toggleRail(pressed);
  else if (dialogOpen) document.querySelector(dialogOpen).showModal();
  else if (selector) copy(document.querySelector(selector));
  else pressed.closest("dialog").close();
});

document.addEventListener("keydown", (event) => {
  const toggle = document.querySelector("[data-rail-toggle][aria-expanded=true]");
  if (event.key !== "Escape" || !toggle) return;
  toggleRail(toggle, false);
  toggle.focus();
});

// What somebody opened or closed in this browser stays so.
for (const details of document.querySelectorAll("details[data-remember]")) {
  const kept = `open-${details.dataset.remember}`;
  if (localStorage.getItem(kept)) details.open = localStorage.getItem(kept) === "yes";
  details.addEventListener("toggle", () => { if (details.dataset.toggled) localStorage.setItem(kept, details.open ? "yes" : "no"); });
  details.addEventListener("click", () => { details.dataset.toggled = "yes"; });
}

// What a link leads to is opened, where it is folded.
function unfold() { document.querySelector(`details[id="${CSS.escape(location.hash.slice(1))}"]`)?.setAttribute("open", ""); }
window.addEventListener("hashchange", unfold);
unfold();

document.addEventListener("submit", (event) => {
  const question = event.submitter?.dataset.confirm || event.target.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
});

// A form that only filters sends itself when a choice changes.
document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-auto-submit]");
  if (form) form.requestSubmit();
});

// The form of a run's tags and note takes their place, and they its: whoever was there stays there.
document.addEventListener("htmx:afterSettle", ({ target }) => {
  if (target.matches?.(".labels")) target.querySelector("input[name=tags], [aria-invalid], button")?.focus();
});

document.addEventListener("htmx:afterSwap", refreshTimes);
refreshTimes();
setInterval(refreshTimes, 10_000);

// The page can be used: its scripts have run and a frame with what they drew has been shown. Where its first picture
// waits for more than the page itself (`data-usable-waits` on an element), the script that draws it calls `usable`.
export function usable() {
  requestAnimationFrame(() => requestAnimationFrame(() => {
    performance.mark("usable");
    document.documentElement.dataset.usable = "";
  }));
}

document.addEventListener("DOMContentLoaded", () => { if (!document.querySelector("[data-usable-waits]")) usable(); });
