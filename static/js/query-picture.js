// One query: sequence diagram, walk and table show the same selected message, chosen in any of them or with the left
// and right arrow keys. Redrawn when the fragment is replaced.
import { graphData } from "./graph.js";
import { Sequence } from "./query-sequence.js";
import { Walk } from "./query-walk.js";

const read = (id) => JSON.parse(document.getElementById(id).textContent);

export function drawQuery() {
  const ended = new AbortController();
  const walk = read("walk-data"), drawn = read("sequence-data");
  const told = document.getElementById("message-description");
  const passages = document.getElementById("passages");
  const buttons = [...(passages?.querySelectorAll("button") ?? [])];
  let chosen = null;

  const box = document.getElementById("walk");
  const picture = new Walk(box, graphData(box));
  picture.draw(walk);
  new ResizeObserver(() => picture.paint()).observe(box);
  const diagram = new Sequence(document.getElementById("sequence"), drawn, (at) => choose(at === chosen ? null : at));

  // By position in the diagram; null clears the selection.
  function choose(at) {
    chosen = at;
    const passage = at === null ? null : drawn.messages[at].passage;
    picture.choose(passage);
    diagram.choose(at);
    buttons.forEach((button) => button.setAttribute("aria-pressed", String(passage !== null && Number(button.closest("tr").dataset.passage) === passage)));
    told.textContent = at === null ? told.dataset.hint : diagram.words(at);
  }

  // A message that the diagram omits is shown in the graph only.
  function choosePassage(passage) {
    const at = drawn.messages.findIndex((one) => one.passage === passage);
    if (at >= 0) choose(at === chosen ? null : at);
    else { choose(null); picture.choose(passage); }
  }

  function step(by) {
    const last = drawn.messages.length - 1;
    if (last < 0) return;
    const next = chosen === null ? (by > 0 ? 0 : last) : chosen + by;
    if (next >= 0 && next <= last) choose(next);
  }

  passages?.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) choosePassage(Number(button.closest("tr").dataset.passage));
  });
  buttons.forEach((button) => { button.disabled = false; }); // enabled now that listeners exist

  document.addEventListener("keydown", (event) => {
    if (!box.isConnected) { ended.abort(); return; }
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest?.("input, select, textarea, dialog[open]")) return;
    if (event.key === "ArrowRight") step(1);
    else if (event.key === "ArrowLeft") step(-1);
    else if (event.key === "Escape" && chosen !== null) choose(null);
    else return;
    event.preventDefault();
  }, { signal: ended.signal });

  document.getElementById("sequence-tools").addEventListener("click", ({ target }) => {
    const { spacing, save, step: by } = target.dataset;
    const file = `${drawn.network ? `network-${drawn.network}` : `run-${drawn.run}`}${drawn.engine === "simulated" ? "-simulated" : ""}-query-${drawn.query}`;
    if (spacing) {
      target.parentElement.querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", String(button === target)));
      diagram.setLinear(spacing === "linear");
    }
    if (save === "svg") diagram.saveSvg(file);
    if (save === "png") diagram.savePng(file);
    if (by) step(Number(by));
  });
  choose(null);
}
