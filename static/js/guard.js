// What was typed and not sent is not lost without a question. Every form of a page that is posted counts, but for those
// with `data-unguarded`; `data-typed` says of a form that what it says when it comes was typed and is not kept yet. A page
// with something else to lose tells of it by `guard`. A link with `data-confirm-typed` fills a form again: it asks before.

const GUARDED = "main form[method=post]:not([data-unguarded])";
const others = [];
const counts = new WeakMap();
let sent = null;
let goes = false;

// Lists that are searched say by `data-typed` that something was picked (picks.js).
const fieldsOf = (form) => [...form.elements].filter((field) => field.name && field.matches("input:not([type=hidden]), select, textarea") && !field.closest("[data-picked]"));

// Whether a field says something else than when it came.
export function isChanged(field) {
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  if (field.type === "file") return field.files.length > 0;
  if (!field.options) return field.value !== field.defaultValue;
  const options = [...field.options];
  if (field.multiple || options.some((option) => option.defaultSelected)) return options.some((option) => option.selected !== option.defaultSelected);
  return field.selectedIndex > 0;
}

// As it came: how many fields, and whether it was refused, and so is as somebody typed it.
function know(form) {
  if (counts.has(form)) return;
  counts.set(form, fieldsOf(form).length);
  if (form.querySelector(".field.bad, [aria-invalid=true]")) form.dataset.typed = "";
}

function forms() {
  const found = [...document.querySelectorAll(GUARDED)];
  found.forEach(know);
  return found;
}

const isTyped = (form) => "typed" in form.dataset || fieldsOf(form).length !== counts.get(form) || fieldsOf(form).some(isChanged);

// What is asked before what is not sent would go; the function says whether something would.
export function guard(hasMore) { others.push(hasMore); }

export function hasTyped() {
  return forms().some((form) => form !== sent && isTyped(form)) || others.some((hasMore) => hasMore());
}

// The page is left next, and whoever leaves it was asked, or takes along what was typed.
export function leave() { goes = true; }

// What was sent and kept is what the form says from then on.
function settle(form) {
  for (const field of fieldsOf(form)) {
    if (field.options) for (const option of field.options) option.defaultSelected = option.selected;
    else if (field.type === "checkbox" || field.type === "radio") field.defaultChecked = field.checked;
    else if (field.type !== "file") field.defaultValue = field.value;
  }
  delete form.dataset.typed;
  counts.set(form, fieldsOf(form).length);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-confirm-typed]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || !hasTyped()) return;
  if (window.confirm(link.dataset.confirmTyped)) leave();
  else event.preventDefault();
});

// On the window, which hears of it after whoever asks first or sends a form in another way.
addEventListener("submit", (event) => { if (!event.defaultPrevented) sent = event.target; });
addEventListener("htmx:afterRequest", ({ detail }) => {
  const { elt, triggeringEvent } = detail.requestConfig; // as one types it is only looked at
  if (detail.successful && triggeringEvent?.type === "submit" && elt.matches(GUARDED)) settle(elt);
});

// An answer may also be a file, or nothing: then the page stays, and so may what is typed from then on be lost.
function stay() { sent = null; goes = false; }
addEventListener("pageshow", stay);
document.addEventListener("input", stay);

addEventListener("beforeunload", (event) => { if (!goes && hasTyped()) event.preventDefault(); });
document.addEventListener("htmx:afterSwap", forms);
forms();
