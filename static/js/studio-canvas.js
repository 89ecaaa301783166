// The editable graph: moves brokers and draws links. It renders the drawing and reports user actions; its only state is
// the view.
import { colour } from "./format.js";
import { brief } from "./link-words.js";

const MANY = 60;
const HUGE = 400;
const STEP = 0.01;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class Canvas {
  constructor(element, drawing) {
    this.element = element;
    this.drawing = drawing;
    this.drawsLinks = false;
    this.from = null;
    const brokers = drawing.state.brokers.length;
    this.side = Math.max(640, 64 * Math.sqrt(brokers));
    this.cy = cytoscape({
      container: element, style: [], layout: { name: "preset" }, minZoom: 0.1, maxZoom: 4, boxSelectionEnabled: true, selectionType: "single",
      userZoomingEnabled: matchMedia("(pointer: coarse)").matches, hideEdgesOnViewport: drawing.state.links.length > 3_000, pixelRatio: brokers > HUGE ? 1 : "auto",
    });
    this.show();
    this.fit();
    this.paint();
    this.#listen();
  }

  #listen() {
    const { cy, drawing } = this;
    drawing.addEventListener("change", () => this.show());
    drawing.addEventListener("choice", () => this.showChoice());
    cy.on("select unselect", () => { clearTimeout(this.choosing); this.choosing = setTimeout(() => this.#tellChoice()); });
    cy.on("dragfree", "node", () => { clearTimeout(this.moving); this.moving = setTimeout(() => this.#tellMoved()); });
    cy.on("dbltap", (event) => { if (event.target === cy) this.#addAt(event.position); });
    cy.on("tapstart", "node", (event) => this.#start(event.target));
    cy.on("tapdrag", (event) => this.#stretch(event.position));
    cy.on("tapend", (event) => this.#end(event.position));
    this.element.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.element.addEventListener("keydown", (event) => this.#nudge(event));
    document.addEventListener("themechange", () => this.paint());
    new ResizeObserver(() => cy.resize()).observe(this.element);
  }

  at({ x, y }) { return { x: x * this.side, y: y * this.side }; }

  show() {
    const { cy, drawing } = this;
    const { brokers, links } = drawing.state;
    const there = new Set([...brokers, ...links].map((one) => one.id));
    cy.batch(() => {
      cy.elements().filter((element) => !element.hasClass("hint") && !there.has(element.id())).remove();
      brokers.forEach((broker, place) => {
        const node = cy.getElementById(broker.id);
        const label = broker.name || String(place);
        if (node.empty()) cy.add({ group: "nodes", data: { id: broker.id, label }, position: this.at(broker) });
        else { node.data("label", label); node.position(this.at(broker)); }
      });
      for (const link of links) {
        const edge = cy.getElementById(link.id);
        const shaped = Boolean(brief(link));
        if (edge.empty()) cy.add({ group: "edges", data: { id: link.id, source: link.a, target: link.b, label: brief(link) }, classes: shaped ? "shaped" : "" });
        else { edge.data("label", brief(link)); edge.toggleClass("shaped", shaped); }
      }
    });
  }

  showChoice() {
    this.shownSelection = this.drawing.chosen;
    this.cy.batch(() => {
      this.cy.elements().forEach((element) => {
        const wanted = this.drawing.chosen.has(element.id());
        if (element.selected() !== wanted) element[wanted ? "select" : "unselect"]();
      });
    });
  }

  #tellChoice() { this.drawing.choose(this.cy.elements(":selected").not(".hint").map((element) => element.id())); }

  #tellMoved() {
    const moved = new Map();
    for (const broker of this.drawing.state.brokers) {
      const { x, y } = this.cy.getElementById(broker.id).position();
      if (Math.hypot(x / this.side - broker.x, y / this.side - broker.y) > 1e-4) moved.set(broker.id, { x: x / this.side, y: y / this.side });
    }
    if (moved.size) this.drawing.move(moved);
  }

  #addAt({ x, y }) { this.drawing.add(x / this.side, y / this.side); }

  // In the middle of the visible area, next to existing brokers.
  addInView() {
    const { x1, x2, y1, y2 } = this.cy.extent();
    const taken = this.cy.nodes().map((node) => node.position());
    let [x, y] = [(x1 + x2) / 2, (y1 + y2) / 2];
    for (let turn = 0; taken.some((one) => Math.hypot(one.x - x, one.y - y) < 40) && turn < 60; turn += 1) {
      const angle = turn * 2.4;
      [x, y] = [(x1 + x2) / 2 + 14 * turn * Math.cos(angle), (y1 + y2) / 2 + 14 * turn * Math.sin(angle)];
    }
    return this.drawing.add(x / this.side, y / this.side);
  }

  drawLinks(on) {
    this.drawsLinks = on;
    this.cy.autoungrabify(on);
    this.element.classList.toggle("drawing", on);
  }

  #start(node) {
    if (!this.drawsLinks || node.hasClass("hint")) return;
    this.from = node;
    this.cy.userPanningEnabled(false);
    this.cy.boxSelectionEnabled(false);
    this.cy.add([{ group: "nodes", classes: "hint tip", data: { id: "tip", label: "" }, position: { ...node.position() }, selectable: false, grabbable: false },
      { group: "edges", classes: "hint stretched", data: { id: "stretched", source: node.id(), target: "tip" }, selectable: false }]);
  }

  #stretch(position) { if (this.from) this.cy.getElementById("tip").position(position); }

  #end(position) {
    if (!this.from) return;
    const from = this.from;
    this.from = null;
    this.cy.remove("#tip, #stretched");
    this.cy.userPanningEnabled(true);
    this.cy.boxSelectionEnabled(true);
    const near = this.cy.nodes().filter((node) => Math.hypot(node.position("x") - position.x, node.position("y") - position.y) < this.size / 2 + 10);
    const to = near.sort((a, b) => distance(a, position) - distance(b, position))[0];
    if (to && to !== from) this.drawing.link([[from.id(), to.id()]]);
  }

  #wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = this.element.getBoundingClientRect();
    this.zoom(Math.exp(-event.deltaY / 300), { x: event.clientX - box.left, y: event.clientY - box.top });
  }

  zoom(by, at = { x: this.cy.width() / 2, y: this.cy.height() / 2 }) { this.cy.zoom({ level: this.cy.zoom() * by, renderedPosition: at }); }

  fit() { this.cy.fit(this.cy.elements().not(".hint"), 34); if (this.cy.zoom() > 1.4) { this.cy.zoom(1.4); this.cy.center(); } }

  #nudge(event) {
    const arrow = ARROWS[event.key];
    const chosen = this.drawing.brokersChosen();
    if (!arrow || !chosen.length || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const step = event.shiftKey ? 5 * STEP : STEP;
    this.drawing.move(new Map(chosen.map(({ id, x, y }) => [id, { x: x + arrow[0] * step, y: y + arrow[1] * step }])));
  }

  // Suggested links: [[id, id], …]; none removes them.
  hint(pairs) {
    this.cy.remove(".advised");
    this.cy.add(pairs.map(([a, b], at) => ({ group: "edges", classes: "hint advised", data: { id: `h${at}`, source: a, target: b, label: String(at + 1) }, selectable: false })));
  }

  paint() {
    const many = this.drawing.state.brokers.length > MANY;
    this.size = many ? 14 : 26;
    const accent = colour("accent");
    this.cy.style([
      { selector: "node", style: { width: this.size, height: this.size, "background-color": colour("accent-soft"), "border-width": 2, "border-color": accent, label: "data(label)", "font-size": many ? 9 : 12, "min-zoomed-font-size": 7,
        color: colour("ink"), "text-valign": "bottom", "text-margin-y": 3, "text-max-width": 120, "text-wrap": "ellipsis", "text-background-color": colour("surface-sunk"), "text-background-opacity": 0.8, "overlay-opacity": 0 } },
      { selector: "edge", style: { width: many ? 1.2 : 2, "line-color": colour("edge-strong"), "curve-style": "straight", "overlay-opacity": 0, "font-size": 10, "min-zoomed-font-size": 8, color: colour("ink-soft"), "text-background-color": colour("surface-sunk"), "text-background-opacity": 0.9 } },
      { selector: "edge.shaped", style: many ? {} : { label: "data(label)" } },
      { selector: "node:selected", style: { "background-color": accent, "outline-width": 2, "outline-offset": 2, "outline-color": accent, "outline-style": "solid", "outline-opacity": 1 } },
      { selector: "edge:selected", style: { width: many ? 3 : 4, "line-color": accent, label: "data(label)" } },
      { selector: ".tip", style: { width: 1, height: 1, "border-width": 0, "background-opacity": 0 } },
      { selector: ".stretched, .advised", style: { "line-color": accent, "line-style": "dashed", width: 3 } },
      { selector: ".advised", style: { label: "data(label)", color: colour("on-accent"), "font-weight": 600, "font-size": 12, "text-background-color": accent, "text-background-opacity": 1, "text-background-padding": 3, "text-background-shape": "round-rectangle" } },
    ]);
  }
}

const distance = (node, { x, y }) => Math.hypot(node.position("x") - x, node.position("y") - y);
