// Notifications at the bottom of the page. They never take the focus and are announced politely. Errors and those with
// a link stay until closed; others disappear unless hovered or focused.

const SHOWN_MS = 8_000;
const MOST = 4;
const KINDS = ["info", "success", "warning", "error"];

const region = document.getElementById("toasts");
const said = document.getElementById("said");

// `toast("Copied.")`. `kind` is one of KINDS; `link` is {text, href} or {text, onclick}, for a next step or an undo.
export function toast(text, { kind = "success", link = null, stays = kind === "error" || Boolean(link) } = {}) {
  const note = document.createElement("div");
  note.className = `note note-${KINDS.includes(kind) ? kind : "info"}`;
  const words = Object.assign(document.createElement("p"), { textContent: text });
  note.append(words);
  if (link) words.append(" ", linkTo(link, note));
  return show(note, text, stays);
}

function linkTo({ text, href, onclick }, note) {
  if (href) return Object.assign(document.createElement("a"), { textContent: text, href });
  const button = Object.assign(document.createElement("button"), { type: "button", className: "link-button", textContent: text });
  button.addEventListener("click", () => { note.remove(); onclick(); });
  return button;
}

function show(note, text, stays) {
  const close = Object.assign(document.createElement("button"), { type: "button", className: "toast-close", textContent: "×" });
  close.setAttribute("aria-label", "Close this message");
  close.addEventListener("click", () => note.remove());
  note.append(close);
  region.append(note);
  while (region.children.length > MOST) region.firstElementChild.remove();
  // Screen readers announce a status element only if it existed before its text.
  requestAnimationFrame(() => { said.textContent = text; });
  if (!stays) goAfterAWhile(note);
  return note;
}

function goAfterAWhile(note) {
  let timer = setTimeout(() => note.remove(), SHOWN_MS);
  const hold = () => clearTimeout(timer);
  const go = () => { hold(); timer = setTimeout(() => note.remove(), SHOWN_MS / 2); };
  note.addEventListener("pointerenter", hold);
  note.addEventListener("pointerleave", go);
  note.addEventListener("focusin", hold);
  note.addEventListener("focusout", go);
}

// Messages that came with the page or a fragment (`HX-Trigger: {"toast": "…"}`).
for (const note of [...region.querySelectorAll("[data-toast]")]) {
  note.remove();
  show(note, note.textContent.trim(), note.matches(".note-error, .note-warning") || Boolean(note.querySelector("a")));
}
document.addEventListener("toast", ({ detail }) => toast(detail.value ?? detail.text, { kind: detail.kind }));
