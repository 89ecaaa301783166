// Warns before unsaved input is lost. Covers every posted form of a page, except those with `data-unguarded`;
// `data-typed` marks a form whose initial values are unsaved. Pages with other unsaved state register it with `guard`.
// A link with `data-confirm-typed` refills a form and asks first.

const GUARDED = "main form[method=post]:not([data-unguarded])";
const others = [];
const counts = new WeakMap();
let sent = null;
let goes = false;

// Searchable lists set `data-typed` when the selection changed (picks.js).
const fieldsOf = (form) => [...form.elements].filter((field) => field.name && field.matches("input:not([type=hidden]), select, textarea") && !field.closest("[data-picked]"));

// Whether a field differs from its initial value.
export function isChanged(field) {
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  if (field.type === "file") return field.files.length > 0;
  if (!field.options) return field.value !== field.defaultValue;
  const options = [...field.options];
  if (field.multiple || options.some((option) => option.defaultSelected)) return options.some((option) => option.selected !== option.defaultSelected);
  return field.selectedIndex > 0;
}

// The initial state: number of fields, and whether the form was refused and has unsaved input.
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

// The confirmation text; the function returns whether there is unsaved input.
export function guard(hasMore) { others.push(hasMore); }

export function hasTyped() {
  return forms().some((form) => form !== sent && isTyped(form)) || others.some((hasMore) => hasMore());
}

// The page is about to be left, with the user's consent or with the input.
export function leave() { goes = true; }

// After a successful submit, the current values are the initial ones.
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

// On the window, after handlers that confirm or submit in another way.
addEventListener("submit", (event) => { if (!event.defaultPrevented) sent = event.target; });
addEventListener("htmx:afterRequest", ({ detail }) => {
  const { elt, triggeringEvent } = detail.requestConfig; // previews while typing do not save
  if (detail.successful && triggeringEvent?.type === "submit" && elt.matches(GUARDED)) settle(elt);
});

// The response may be a file or empty: the page stays, so input must be guarded again.
function stay() { sent = null; goes = false; }
addEventListener("pageshow", stay);
document.addEventListener("input", stay);

addEventListener("beforeunload", (event) => { if (!goes && hasTyped()) event.preventDefault(); });
document.addEventListener("htmx:afterSwap", forms);
forms();
