// Common to all pages: local times, navigation on small screens, dialogs, copy buttons, confirmations, and the mark
// that the page is usable. In modules of their own: keeping state across polls (keep.js), and guarding unsaved input
// (guard.js).
import { copy } from "./copy.js";
import "./guard.js";
import "./keep.js";
import "./session.js";

// On history navigation, browsers restore the last filter input, but the list matches the URL. Otherwise, input entered
// before this script loaded is kept.
const isGoneBackTo = ({ persisted }) => persisted || performance.getEntriesByType("navigation")[0].type === "back_forward";
addEventListener("pageshow", (event) => isGoneBackTo(event) && document.querySelectorAll('form[method="get"][role="search"] input[type="search"]')
  .forEach((field) => { field.value = field.defaultValue; }));

const DISTANCES = [[90, 1, "s"], [5400, 60, "min"], [172800, 3600, "h"], [Infinity, 86400, "d"]];

const MINUTE = { hour: "2-digit", minute: "2-digit" };
const EXACT = { "": { weekday: "short", day: "numeric", month: "short", ...MINUTE }, seconds: { day: "numeric", month: "short", ...MINUTE, second: "2-digit" } };

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
    element.textContent = element.dataset.exact === undefined ? ago(moment) : moment.toLocaleString(undefined, EXACT[element.dataset.exact]);
  });
}

function toggleRail(toggle, open = !document.getElementById("rail").classList.contains("open")) {
  document.getElementById("rail").classList.toggle("open", open);
  toggle.setAttribute("aria-expanded", String(open));
}

let pressedOn = null;
document.addEventListener("pointerdown", ({ target }) => { pressedOn = target; });

// A click outside the dialog closes it, but not one on its margin, or the end of a drag from within.
function isOutside({ target, clientX: x, clientY: y }) {
  const { left, right, top, bottom } = target.getBoundingClientRect();
  return pressedOn === target && (x < left || x > right || y < top || y > bottom);
}

document.addEventListener("click", (event) => {
  const pressed = event.target.closest("[data-rail-toggle], [data-dialog-open], [data-dialog-close], [data-copy]");
  if (event.target instanceof HTMLDialogElement && isOutside(event)) event.target.close();
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

// Remembers opened and closed details in this browser.
for (const details of document.querySelectorAll("details[data-remember]")) {
  const kept = `open-${details.dataset.remember}`;
  if (localStorage.getItem(kept)) details.open = localStorage.getItem(kept) === "yes";
  details.addEventListener("toggle", () => { if (details.dataset.toggled) localStorage.setItem(kept, details.open ? "yes" : "no"); });
  details.addEventListener("click", () => { details.dataset.toggled = "yes"; });
}

// Opens details that a link targets.
function unfold() { document.querySelector(`details[id="${CSS.escape(location.hash.slice(1))}"]`)?.setAttribute("open", ""); }
window.addEventListener("hashchange", unfold);
unfold();

document.addEventListener("submit", (event) => {
  const question = event.submitter?.dataset.confirm || event.target.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
});

// Filter forms submit themselves on change.
document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-auto-submit]");
  if (form) form.requestSubmit();
});

// Keeps the focus when the form of a run's tags and note replaces them, and back.
document.addEventListener("htmx:afterSettle", ({ target }) => {
  if (target.matches?.(".labels")) target.querySelector("input[name=tags], [aria-invalid], button")?.focus();
});

document.addEventListener("htmx:afterSwap", refreshTimes);
refreshTimes();
setInterval(refreshTimes, 10_000);

// The page is usable: scripts have run and a frame was painted. If its first graph waits for more (`data-usable-waits`
// on an element), the script that draws it calls `usable`.
export function usable() {
  requestAnimationFrame(() => requestAnimationFrame(() => {
    performance.mark("usable");
    document.documentElement.dataset.usable = "";
  }));
}

document.addEventListener("DOMContentLoaded", () => { if (!document.querySelector("[data-usable-waits]")) usable(); });
