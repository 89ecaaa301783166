// A line at the foot of the page that says what was done. It never takes the focus; it is read out politely; an error or
// one with a link stays until it is closed, another goes after a while, unless somebody points at it or is in it.

const SHOWN_MS = 8_000;
const MOST = 4;
const KINDS = ["info", "success", "warning", "error"];

const region = document.getElementById("toasts");
const said = document.getElementById("said");

// `toast("Copied.")`. `kind` is one of KINDS; `link` is {text, href} or {text, onclick}, for the way on or an undo.
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
  // A status that is there before it has words is read when it gets them.
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

// What the server said with the page, and what it says with a part of one (`HX-Trigger: {"toast": "…"}`).
for (const note of [...region.querySelectorAll("[data-toast]")]) {
  note.remove();
  show(note, note.textContent.trim(), note.matches(".note-error, .note-warning") || Boolean(note.querySelector("a")));
}
document.addEventListener("toast", ({ detail }) => toast(detail.value ?? detail.text, { kind: detail.kind }));
