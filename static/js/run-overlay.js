// The overlay of a run: broker size shows load, fill shows memory, ring shows state; link width shows traffic.
// Positions are fixed. The legend below shows the scales, from zero to the maximum.
import { colour, perSecond, size } from "./format.js";
import { Graph, graphData } from "./graph.js";

const THIN = 1, THICK = 7;
// By broker, from a frame.
export function looksOf(frame) {
  const looks = new Map();
  const add = (index, more) => looks.set(index, { ...looks.get(index), ...more });
  for (const row of frame.memory?.brokers || []) add(row.index, { memory: row.uss_bytes || row.rss_bytes || undefined });
  for (const row of frame.load?.brokers || []) if ("load_per_s" in row) add(row.index, { load: row.load_per_s });
  for (const row of frame.brokers || []) add(row.index, { state: row.state });
  return looks;
}

export class RunOverlay extends Graph {
  constructor(element, traffic, onSelect) {
    super(element, graphData(element), onSelect);
    this.thicken(traffic);
  }

  // traffic: [[a, b, count]], available once the run has ended.
  thicken(traffic) {
    this.traffic = new Map((traffic || []).map(([a, b, count]) => [`${a} ${b}`, count]));
    const most = Math.max(...this.traffic.values(), 0);
    if (!most) return;
    this.cy.edges().forEach((edge) => {
      const ends = [edge.source().data("index"), edge.target().data("index")].sort((a, b) => a - b);
      edge.data("thick", THIN + (THICK - THIN) * Math.sqrt((this.traffic.get(ends.join(" ")) || 0) / most));
    });
  }

  // links: [[a, b]] that are not used now.
  rest(links) {
    const resting = new Set(links.map(([a, b]) => `${a} ${b}`));
    this.cy.edges().forEach((edge) => {
      const ends = [edge.source().data("index"), edge.target().data("index")].sort((a, b) => a - b);
      edge.toggleClass("resting", resting.has(ends.join(" ")));
    });
    const key = document.getElementById("resting-key");
    if (key) key.hidden = !links.length;
  }

  more() {
    return [
      { selector: "edge[thick]", style: { width: "data(thick)", "line-color": colour("edge-strong"), opacity: 0.75 } },
      { selector: "node:selected", style: { "outline-width": 4, "outline-offset": 3 } },
    ];
  }
}

// The overlay in its element; without one, as of a single server, what is shown of it goes nowhere.
export function overlayIn(element, traffic, onSelect) {
  return element ? new RunOverlay(element, traffic, onSelect) : { show() {}, rest() {}, thicken() {}, select() {} };
}

// "0 to 41.2/s, minimum 38.9/s" for each scale; "no data" if nothing is known.
export function writeScales(looks) {
  const all = [...looks.values()];
  for (const [id, key, write] of [["load-scale", "load", perSecond], ["memory-scale", "memory", size]]) {
    const values = all.map((look) => look[key]).filter((value) => value !== undefined && value !== null);
    const [least, most] = [write(Math.min(...values)), write(Math.max(...values))];
    const words = values.length ? `0 to ${most}${least === most ? "" : `, minimum ${least}`}` : "no data";
    const place = document.getElementById(id);
    if (place && place.textContent !== words) place.textContent = words;
  }
}
