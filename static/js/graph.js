// The overlay as a graph: positions are fixed data; sizes, fills and rings show measurements.
import { colour } from "./format.js";
import { addTools } from "./overlay-tools.js";

const STATE_TONES = { up: "state-green", running: "state-green", starting: "state-blue", restarting: "state-violet",
  failed: "state-red", "not answering": "state-amber", stopped: "state-grey", away: "state-grey", draining: "state-amber" };
const STATE_LINES = { starting: "dotted", restarting: "dotted", failed: "double", "not answering": "dashed", stopped: "dashed", away: "dashed", draining: "dotted" };

const EDGE = 28; // padding in pixels
const FARTHEST = 0.01, NEAREST = 4, LARGEST = 1.6; // zoom limits, and maximum scale of a few brokers
const LETTERS = 11, FEW = 12; // label size in pixels; brokers whose labels have room at that size on any screen
const READABLE = 9; // pixels: minimum height of broker labels
const CLOSE = 1.2; // zoom when going to a broker

function tone(state) { return colour(STATE_TONES[state] || "edge-strong"); }

function mix(from, to, share) {
  const parts = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  const [a, b] = [parts(from), parts(to)];
  return `rgb(${a.map((value, i) => Math.round(value + (b[i] - value) * share)).join(",")})`;
}

// size: of labels, in the graph's units.
function sheet(many, size) {
  const plain = colour("surface");
  return [
    { selector: "node", style: {
      width: "data(size)", height: "data(size)", "background-color": "data(fill)", "border-width": 3, "border-color": "data(ring)", "border-style": "data(line)",
      label: "data(label)", "font-size": size, "min-zoomed-font-size": many ? READABLE : 0, color: colour("ink"), "text-valign": "bottom", "text-margin-y": 3,
      "text-background-color": colour("surface-sunk"), "text-background-opacity": 0.8 } },
    { selector: "node[shape]", style: { shape: "data(shape)" } },
    { selector: "edge", style: { width: many ? 0.7 : 1.6, "line-color": colour("edge-strong"), "curve-style": "straight", opacity: many ? 0.5 : 0.8 } },
    { selector: "edge.resting", style: { "line-style": "dashed", "line-dash-pattern": [4, 4], opacity: 0.6 } },
    // Differences of two versions: added, removed, changed.
    { selector: ".added", style: { "line-color": colour("state-green"), "border-color": colour("state-green"), opacity: 1 } },
    { selector: ".removed", style: { "line-color": colour("state-red"), "border-color": colour("state-red"), "line-style": "dashed", opacity: 1 } },
    { selector: "node.removed", style: { "border-style": "dashed", "background-opacity": 0.2 } },
    { selector: ".changed, .moved", style: { "line-color": colour("state-amber"), "border-color": colour("state-amber"), "line-style": "dotted", opacity: 1 } },
    { selector: "edge.added, edge.removed, edge.changed", style: { width: many ? 2 : 3 } },
    { selector: "node:selected", style: { "outline-width": 2, "outline-offset": 2, "outline-color": colour("accent"), "outline-style": "solid", "outline-opacity": 1, "overlay-opacity": 0 } },
    { selector: "node:active", style: { "overlay-color": plain, "overlay-opacity": 0 } },
  ];
}

// Without stored positions, brokers are on a circle, the first at the top.
function place(node, at, total) {
  if (Number.isFinite(node.x) && Number.isFinite(node.y)) return { x: node.x, y: node.y };
  const angle = (2 * Math.PI * at) / Math.max(total, 1) - Math.PI / 2;
  return { x: Math.cos(angle), y: Math.sin(angle) };
}

export class Graph {
  constructor(element, { nodes, links }, onSelect = null) {
    this.element = element;
    this.many = nodes.length > 60;
    this.looks = new Map();
    this.onSelect = onSelect;
    addTools(this);
    this.cy = cytoscape({
      container: element, layout: { name: "preset" }, minZoom: FARTHEST, maxZoom: NEAREST, boxSelectionEnabled: false,
      autoungrabify: true, selectionType: "single", style: [],
      // Zooms by pinch, not by the wheel, which scrolls the page; pans only if not everything is visible.
      userZoomingEnabled: matchMedia("(pointer: coarse)").matches, userPanningEnabled: false,
      elements: [
        ...nodes.map((node, at) => ({ group: "nodes", classes: node.change || "", data: { id: `n${node.index}`, index: node.index, label: node.name || String(node.index), title: node.title, ...(node.shape ? { shape: node.shape } : {}) }, position: place(node, at, nodes.length) })),
        ...links.map((link, at) => ({ group: "edges", classes: link.change || (link.rests ? "resting" : ""), data: { id: `e${at}`, source: `n${link.a}`, target: `n${link.b}` } })),
      ],
    });
    this.stretch();
    this.paint();
    if (onSelect) this.cy.on("tap", "node", (event) => onSelect(event.target.data("index")));
    this.cy.on("pinchzoom", () => this.loosen());
    this.follow();
  }

  // Follows the theme and the size of its box, until the box is replaced, as in a preview.
  follow() {
    const paint = () => this.paint();
    document.addEventListener("themechange", paint);
    const watcher = new ResizeObserver(() => {
      if (this.element.isConnected) { this.cy.resize(); if (this.isWhole) { this.fit(); this.paint(); } return; }
      watcher.disconnect();
      document.removeEventListener("themechange", paint);
      this.cy.destroy();
    });
    watcher.observe(this.element);
  }

  // Generators use any unit; positions are scaled to the box once.
  stretch() {
    const box = this.cy.nodes().boundingBox({ includeLabels: false });
    const positions = this.cy.nodes().map((node) => node.position());
    const xs = positions.map((p) => p.x), ys = positions.map((p) => p.y);
    const spread = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys)) || 1;
    const scale = Math.max(320, 40 * Math.sqrt(positions.length) * 2) / spread;
    this.cy.nodes().positions((node) => ({ x: (node.position("x") - box.x1) * scale, y: (node.position("y") - box.y1) * scale }));
    this.fit();
  }

  // Fits everything.
  fit() {
    this.cy.minZoom(FARTHEST);
    this.cy.fit(undefined, EDGE);
    if (this.cy.zoom() > LARGEST) { this.cy.zoom(LARGEST); this.cy.center(); }
    this.isWhole = true;
    this.cy.minZoom(this.cy.zoom() / 2);
    this.cy.userPanningEnabled(false);
  }

  // Fits a part.
  loosen() {
    this.isWhole = false;
    this.cy.userPanningEnabled(true);
  }

  zoom(by) {
    this.cy.zoom({ level: this.cy.zoom() * by, renderedPosition: { x: this.cy.width() / 2, y: this.cy.height() / 2 } });
    this.loosen();
  }

  // The index of a broker by number or name; null if there is none.
  find(typed) {
    const wanted = typed.toLowerCase();
    const nodes = this.cy.nodes().filter((node) => node.data("index") !== undefined);
    const found = nodes.filter((node) => node.data("label").toLowerCase() === wanted)[0] ?? nodes.filter((node) => String(node.data("index")) === wanted)[0];
    return found ? found.data("index") : null;
  }

  titleOf(index) { return this.cy.getElementById(`n${index}`).data("title"); }

  // The range of broker numbers, as a sentence.
  numbers() {
    const all = this.cy.nodes().map((node) => node.data("index"));
    return all.length ? `Valid numbers: ${Math.min(...all)} to ${Math.max(...all)}.` : "There are none.";
  }

  // Centres a broker, and opens it on pages with a broker panel.
  goTo(index) {
    this.select(index);
    if (this.many && this.cy.zoom() < CLOSE) this.cy.zoom(CLOSE);
    this.cy.center(this.cy.getElementById(`n${index}`));
    this.loosen();
    this.onSelect?.(index);
  }

  // looks: Map of broker index -> {load, memory, state}. Scales start at zero, so that brokers with similar values look
  // similar.
  show(looks) { this.looks = looks; this.dress(); }

  select(index) { this.cy.nodes().forEach((node) => { node[node.data("index") === index ? "select" : "unselect"](); }); }

  // Rebuilds the style sheet when colours or sizes of the page change, not with every update.
  paint() {
    this.dress();
    const isScaled = this.cy.nodes().length <= FEW;
    this.cy.style([...sheet(this.many, isScaled ? LETTERS / Math.min(1, this.cy.zoom()) : LETTERS), ...this.more()]);
  }

  dress() {
    const values = [...this.looks.values()];
    const most = (key) => Math.max(...values.map((look) => look[key] || 0), 1e-9);
    const [load, memory] = [most("load"), most("memory")];
    const [low, high] = [colour("accent-soft"), colour("accent")];
    const base = this.many ? 9 : 20, tones = {};
    this.cy.batch(() => {
      this.cy.nodes().forEach((node) => {
        const look = this.looks.get(node.data("index")) || {};
        const dress = {
          size: Math.round(10 * base * (0.8 + (look.load === undefined ? 0.2 : 1.1 * Math.sqrt(look.load / load)))) / 10,
          fill: look.memory ? mix(low, high, look.memory / memory) : low,
          ring: look.state ? tones[look.state] ??= tone(look.state) : high,
          line: STATE_LINES[look.state] || "solid",
        };
        if (Object.entries(dress).some(([name, value]) => node.data(name) !== value)) node.data(dress);
      });
    });
  }

  // Additional styles of graphs that show more than brokers and links.
  more() { return []; }
}

export function graphData(element) { return JSON.parse(document.getElementById(element.dataset.graph).textContent); }

// Static graphs (topology pages, previews) start themselves; live pages drive their own.
export function drawAll(root = document) {
  root.querySelectorAll("[data-graph]:not([data-live])").forEach((element) => {
    if (element.dataset.drawn) return;
    element.dataset.drawn = "yes";
    new Graph(element, graphData(element));
  });
}
