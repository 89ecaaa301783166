// The sequence diagram of one chain: select a push or a report with the pointer, the buttons or the arrow keys.
import { Sequence } from "./query-sequence.js";

const drawn = JSON.parse(document.getElementById("sequence-data").textContent);
const told = document.getElementById("message-description");
let chosen = null;
const diagram = new Sequence(document.getElementById("sequence"), drawn, (at) => choose(at === chosen ? null : at));

function choose(at) {
  chosen = at;
  diagram.choose(at);
  told.textContent = at === null ? told.dataset.hint : diagram.words(at);
}

function step(by) {
  const last = drawn.messages.length - 1;
  if (last < 0) return;
  const next = chosen === null ? (by > 0 ? 0 : last) : chosen + by;
  if (next >= 0 && next <= last) choose(next);
}

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest?.("input, select, textarea, dialog[open]")) return;
  if (event.key === "ArrowRight") step(1);
  else if (event.key === "ArrowLeft") step(-1);
  else if (event.key === "Escape" && chosen !== null) choose(null);
  else return;
  event.preventDefault();
});

document.getElementById("sequence-tools").addEventListener("click", ({ target }) => {
  const { spacing, save, step: by } = target.dataset;
  if (spacing) {
    target.parentElement.querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", String(button === target)));
    diagram.setLinear(spacing === "linear");
  }
  if (save === "svg") diagram.saveSvg(drawn.file);
  if (save === "png") diagram.savePng(drawn.file);
  if (by) step(Number(by));
});
