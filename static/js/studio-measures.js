// Measures of the drawing, shortly after each change, and suggested links.
import { count, percent, sig3 } from "./format.js";
import { topologiesAdvise, topologiesExamine } from "./api/client.js";

const $ = (id) => document.getElementById(id);
const SOON_MS = 500;
const names = (drawing, indexes) => indexes.map((at) => drawing.state.brokers[at]?.name || String(at)).join(" – ");

export class Measures {
  constructor(drawing) {
    this.drawing = drawing;
    drawing.addEventListener("change", () => this.soon());
    $("policy").addEventListener("change", () => this.measure());
    this.measure();
  }

  soon() {
    if (this.of === this.drawing.state) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.measure(), SOON_MS);
  }

  async measure() {
    clearTimeout(this.timer);
    this.asked?.abort();
    this.asked = new AbortController();
    const { signal } = this.asked;
    this.of = this.drawing.state;
    $("measures").setAttribute("aria-busy", "true");
    try {
      this.show(await topologiesExamine({ ...this.drawing.written(), policy: $("policy").value }, { signal }));
    } catch (error) {
      if (error.name === "AbortError") return;
      this.warn([error.message]);
    }
    $("measures").removeAttribute("aria-busy");
  }

  show({ measures, structure, walk, warnings }) {
    const figures = { brokers: count(this.drawing.state.brokers.length), links: count(measures.links), mean_degree: sig3(measures.mean_degree), degrees: `${measures.min_degree}, ${measures.max_degree}`, diameter: sig3(measures.diameter),
      mean_path_length: sig3(measures.mean_path_length), components: count(measures.components), clustering: sig3(structure.clustering), cycles: count(structure.cycles), bridges: count(structure.bridges) };
    for (const [name, value] of Object.entries(figures)) document.querySelector(`[data-measure=${name}]`).textContent = value;
    $("walk-hops").textContent = walk.hops === null ? "–" : `${sig3(walk.hops)}${walk.margin ? ` ± ${sig3(walk.margin)}` : ""}`;
    $("walk-how").textContent = walk.walks
      ? `Estimate from ${count(walk.walks)} walks, each from a random broker to content on ${walk.holders} other${walk.holders === 1 ? "" : "s"} (1 % of the brokers, at least one); success rate ${percent(walk.found)}. Mean of the successful walks with 95 % confidence; without loss and replication.`
      : "A single broker has no walks.";
    this.warn(warnings);
    $("cycle").textContent = structure.cycle.length
      ? `A cycle: ${names(this.drawing, structure.cycle)}${structure.cycle.length < 12 ? ` – ${names(this.drawing, structure.cycle.slice(0, 1))}` : " …"}. Cycles do not affect searches. Brokers that forward every message to all neighbours need a tree, which has no cycles.`
      : "No cycles: a tree, which the failure of any link disconnects.";
    $("cycle").hidden = measures.components > 1;
    $("bridge").textContent = structure.bridges && structure.cycles ? `Bridges (links whose failure disconnects the topology): ${structure.bridge_ends.map((ends) => names(this.drawing, ends)).join(", ")}${structure.bridges > structure.bridge_ends.length ? " …" : "."}` : "";
  }

  warn(sentences) {
    $("warnings").replaceChildren(...sentences.map((sentence) => Object.assign(document.createElement("p"), { textContent: sentence })));
    $("warnings").hidden = !sentences.length;
  }
}

export class Advice {
  constructor(drawing, canvas, largest) {
    Object.assign(this, { drawing, canvas, largest, pairs: [] });
    $("advice-form").addEventListener("submit", (event) => { event.preventDefault(); this.ask(); });
    $("advice-take").addEventListener("click", () => this.take());
    drawing.addEventListener("change", () => { if (this.of !== drawing.state) this.clear(); });
  }

  async ask() {
    const goal = $("advice-goal").value;
    const brokers = this.drawing.state.brokers.length;
    if (brokers > this.largest[goal]) { this.clear(`Computed for up to ${this.largest[goal]} brokers; this topology has ${brokers}.`); return; }
    const state = this.drawing.state;
    this.clear("Computing …");
    $("advice-ask").disabled = true;
    try {
      const { links } = await topologiesAdvise({ ...this.drawing.written(), k: Number($("advice-k").value), goal });
      if (state === this.drawing.state) this.show(links, state);
      else this.clear("The drawing changed meanwhile. Try again.");
    } catch (error) {
      this.clear(error.message);
    }
    $("advice-ask").disabled = false;
  }

  show(links, state) {
    this.of = state;
    const id = (at) => state.brokers[at].id;
    this.pairs = links.map(({ a, b }) => [id(a), id(b)]);
    this.canvas.hint(this.pairs);
    $("advice-list").replaceChildren(...links.map(({ a, b, before, after }) => {
      const said = before === null ? (after === null ? "connects two components" : `connects the last two components: ${sig3(after)} hops`) : `${sig3(before)} → ${sig3(after)} hops, ${percent((before - after) / before)} less`;
      const row = document.createElement("li");
      row.append(Object.assign(document.createElement("strong"), { textContent: names(this.drawing, [a, b]) }), `: ${said}`);
      return row;
    }));
    const wanted = Number($("advice-k").value);
    $("advice-status").textContent = !links.length ? "No additional link shortens it." : links.length < wanted ? `Only ${links.length} links shorten it.` : "";
    $("advice-take").hidden = !links.length;
    $("advice-take").textContent = links.length === 1 ? "Add this link" : `Add these ${links.length} links`;
  }

  take() {
    const pairs = this.pairs;
    this.clear();
    this.drawing.link(pairs);
  }

  clear(sentence = "") {
    this.of = null;
    this.pairs = [];
    this.canvas.hint([]);
    $("advice-list").replaceChildren();
    $("advice-status").textContent = sentence;
    $("advice-take").hidden = true;
  }
}
