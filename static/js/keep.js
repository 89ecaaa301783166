// Preserves the user's state when a polled part is replaced: focus, input, open details. Polling stops while the page
// is hidden or text is being selected.
import { isChanged } from "./guard.js";

const LEFT = "main :is(input:not([type=hidden], [type=file]), textarea, select, details, .table-wrap)";
let held = null;

// For parts loaded without a user action: by polling, or when a run has ended.
export const isPoll = (element) => /\bevery\b/.test(element?.getAttribute("hx-trigger") || "");
export const isUnasked = (element) => isPoll(element) || element?.getAttribute("hx-trigger") === "ended";

// Identifies an element across replacement: by id, or by target and label.
function calledOf(element) {
  if (element.id) return element.id;
  const words = element.matches("button, details") ? (element.querySelector("summary") ?? element).textContent.trim() : "";
  const parts = [element.localName, element.name, element.getAttribute("href"), element.form?.getAttribute("action"), element.getAttribute("aria-label")];
  return [...parts, element.matches("[type=checkbox], [type=radio], button") ? element.value : "", words].join("\n");
}

const sameKind = (element, called) => [...document.querySelectorAll(`main ${element.localName}`)].filter((other) => calledOf(other) === called);

// Position among elements with the same identity.
function placeOf(element) {
  const called = calledOf(element);
  return { element, called, number: sameKind(element, called).indexOf(element) };
}

const nowAt = ({ element, called, number }) => (element.isConnected ? null : sameKind(element, called)[number]);

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
// An answer for a part that was replaced meanwhile, such as the walk of the query before, is not shown.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { elt } = event.detail.requestConfig;
  if (!elt.isConnected && /\b(load|every)\b/.test(elt.getAttribute("hx-trigger") || "")) event.preventDefault();
});
document.addEventListener("htmx:beforeSwap", ({ detail }) => { if (detail.shouldSwap && isUnasked(detail.requestConfig.elt)) hold(); });
document.addEventListener("htmx:afterSwap", () => { if (held) restore(); });
