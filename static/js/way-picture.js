// One message's way: sequence diagram, walk on the overlay and table show the same selected message, chosen in any of
// them or with the left and right arrow keys. A page may have no walk. Redrawn when the fragment is replaced.
import { graphData } from "./graph.js";
import { Sequence } from "./sequence.js";
import { Walk } from "./walk.js";

const read = (id) => JSON.parse(document.getElementById(id).textContent);

// The overlay, if the page has one; otherwise selecting there does nothing.
function drawWalk(box) {
  const picture = new Walk(box, graphData(box));
  picture.draw(read("walk-data"));
  new ResizeObserver(() => picture.paint()).observe(box);
  return picture;
}

export function drawWay() {
  const ended = new AbortController();
  const drawn = read("sequence-data");
  const told = document.getElementById("message-description");
  const passages = document.getElementById("passages");
  const buttons = [...(passages?.querySelectorAll("button") ?? [])];
  let chosen = null;

  const box = document.getElementById("sequence"), overlay = document.getElementById("walk");
  const picture = overlay ? drawWalk(overlay) : { choose() {} };
  const diagram = new Sequence(box, drawn, (at) => choose(at === chosen ? null : at));

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
    if (spacing) {
      target.parentElement.querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", String(button === target)));
      diagram.setLinear(spacing === "linear");
    }
    if (save === "svg") diagram.saveSvg(drawn.file);
    if (save === "png") diagram.savePng(drawn.file);
    if (by) step(Number(by));
  });
  choose(null);
}
