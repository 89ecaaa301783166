// A part that asks for itself is replaced while somebody is in it: the keyboard stays where it was, what was typed stays
// typed, what was opened stays open. Nobody reads a page that is not shown, and what is being selected is left alone.
import { isChanged } from "./guard.js";

const LEFT = "main :is(input:not([type=hidden], [type=file]), textarea, select, details, .table-wrap)";
let held = null;

// Of a part that nobody pressed anything for: it comes every few seconds, or when what the page tells of has ended.
export const isPoll = (element) => /\bevery\b/.test(element?.getAttribute("hx-trigger") || "");
export const isUnasked = (element) => isPoll(element) || element?.getAttribute("hx-trigger") === "ended";

// What an element is to its reader, whichever element it is: its id, or where it leads and what it says.
function calledOf(element) {
  if (element.id) return element.id;
  const words = element.matches("button, details") ? (element.querySelector("summary") ?? element).textContent.trim() : "";
  const parts = [element.localName, element.name, element.getAttribute("href"), element.form?.getAttribute("action"), element.getAttribute("aria-label")];
  return [...parts, element.matches("[type=checkbox], [type=radio], button") ? element.value : "", words].join("\n");
}

const alike = (element, called) => [...document.querySelectorAll(`main ${element.localName}`)].filter((other) => calledOf(other) === called);

// Of several that are called the same it is the first, the second …
function placeOf(element) {
  const called = calledOf(element);
  return { element, called, number: alike(element, called).indexOf(element) };
}

const nowAt = ({ element, called, number }) => (element.isConnected ? null : alike(element, called)[number]);

function leftAs(element) {
  if (element.localName === "details") return { open: element.open };
  if (element.matches(".table-wrap")) return element.scrollTop || element.scrollLeft ? { scrollTop: element.scrollTop, scrollLeft: element.scrollLeft } : null;
  if (!isChanged(element)) return null;
  if (element.multiple) return { chosen: [...element.selectedOptions].map((option) => option.value) };
  return element.matches("[type=checkbox], [type=radio]") ? { checked: element.checked } : { value: element.value };
}

function giveBack(element, { chosen, ...left }) {
  Object.assign(element, left);
  if (chosen) for (const option of element.options) option.selected = chosen.includes(option.value);
}

function hold() {
  const active = document.activeElement;
  const left = [...document.querySelectorAll(LEFT)].map((element) => [element, leftAs(element)]).filter(([, as]) => as).map(([element, as]) => ({ ...placeOf(element), as }));
  held = { left, focus: active?.closest("main") ? { ...placeOf(active), start: active.selectionStart ?? null, end: active.selectionEnd ?? null } : null };
}

function restore() {
  const { left, focus } = held;
  held = null;
  for (const one of left) {
    const now = nowAt(one);
    if (now) giveBack(now, one.as);
  }
  const now = focus && nowAt(focus);
  if (!now) return;
  now.focus({ preventScroll: true });
  if (focus.start !== null) now.setSelectionRange(focus.start, focus.end);
}

function isSelectingIn(part) {
  const selected = window.getSelection();
  const brought = part.dataset.brings ? [...document.querySelectorAll(part.dataset.brings)] : [];
  return selected && !selected.isCollapsed && [part, ...brought].some((one) => one.contains(selected.anchorNode));
}

document.addEventListener("htmx:beforeRequest", (event) => {
  const { elt } = event.detail;
  if (isPoll(elt) && ("gone" in elt.dataset || document.hidden || isSelectingIn(elt))) event.preventDefault();
});
document.addEventListener("htmx:beforeSwap", ({ detail }) => { if (detail.shouldSwap && isUnasked(detail.requestConfig.elt)) hold(); });
document.addEventListener("htmx:afterSwap", () => { if (held) restore(); });
