// Keyboard shortcuts, listed by `?`. They apply to the current page, including rows and buttons loaded by polling.

const OFF = "keys-off";
const WRITTEN_IN = "input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=reset], [type=range], [type=color], [type=file]), textarea, select, [contenteditable]:not([contenteditable=false])";

const dialog = document.getElementById("keys");
const own = (name) => [...document.querySelectorAll(`[${name}]`)].filter(isThere);
const isThere = (element) => element.checkVisibility({ visibilityProperty: true }) && !element.disabled && !element.closest("[inert]");
const key = (name) => Object.assign(document.createElement("kbd"), { textContent: name });

let going = false; // after `g`: until the next key or click, without timeout, because a bare `r` or `c` would trigger an action
let place = -1;

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.closest?.(WRITTEN_IN) || document.querySelector("dialog[open]")) return;
  if (event.key === "?") { event.preventDefault(); list(); return; }
  if (areOff()) return;
  if (event.key === "Shift") return;
  const leaving = going;
  going = false;
  if (leaving ? go(event.key) : press(event.key)) event.preventDefault();
});

document.addEventListener("pointerdown", () => { going = false; });

// Whether shortcuts with single characters are disabled in this browser.
export function areOff() { return Boolean(localStorage.getItem(OFF)); }

function go(name) {
  const entry = [...document.querySelectorAll("[data-go]")].find((one) => one.dataset.go === name);
  entry?.click();
  return Boolean(entry);
}

function press(name) {
  const bound = own("data-key").find((element) => element.dataset.key === name);
  if (bound) { pressOn(bound); return true; }
  switch (name) {
    case "g": going = true; return true;
    case "/": return search();
    case "j": return step(1);
    case "k": return step(-1);
    case "x": return choose();
    default: return false;
  }
}

function pressOn(element) {
  if (element instanceof HTMLFormElement) element.requestSubmit();
  else element.click();
}

function search() {
  const field = own("data-search")[0];
  field?.focus();
  field?.select?.();
  return Boolean(field);
}

// The row with the focus, or its position before a poll changed the list.
function here(rows) {
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  return at >= 0 ? at : Math.min(place, rows.length - 1);
}

const targetOf = (row) => row.querySelector("a[href], button, summary") || row;

function step(by) {
  const rows = own("data-row");
  if (!rows.length) return false;
  place = Math.min(Math.max(here(rows) + by, 0), rows.length - 1);
  targetOf(rows[place]).focus();
  rows[place].scrollIntoView({ block: "nearest" });
  return true;
}

function choose() {
  const rows = own("data-row");
  const box = rows[here(rows)]?.querySelector("[data-select]");
  box?.click();
  return Boolean(box);
}

// --- the list -------------------------------------------------------------------------------------------------------

function list() {
  const line = (keys, words) => {
    const term = document.createElement("dt");
    keys.forEach((name) => term.append(key(name), " "));
    return [term, Object.assign(document.createElement("dd"), { textContent: words })];
  };
  const places = [...document.querySelectorAll("[data-go]")];
  dialog.querySelector("[data-keys-places]").replaceChildren(...places.flatMap((entry) => line(["g", entry.dataset.go], entry.textContent.trim())));
  const helped = own("data-key-help");
  const here = dialog.querySelector("[data-keys-here]");
  here.hidden = !helped.length;
  here.querySelector("dl").replaceChildren(...helped.flatMap((element) => line([element.dataset.key], element.dataset.keyHelp)));
  const on = dialog.querySelector("#keys-on");
  on.checked = !areOff();
  on.onchange = () => (on.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "1"));
  dialog.showModal();
}

document.querySelectorAll("[data-keys-open]").forEach((button) => {
  button.hidden = false;
  button.addEventListener("click", list);
});
