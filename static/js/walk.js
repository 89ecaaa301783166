// One message's walk on the overlay: numbered requests, dashed answers, servers that store it as stars. Its messages are data:
// {asked, found, stored, passages: [{sender, receiver, kind, number, ms, round_ms}]}, with brokers by index.
import { colour, us } from "./format.js";
import { Graph } from "./graph.js";

const NARROW = 520;
const SHORT = 120; // line width in the graph's units: only a number fits
const time = (one) => one.ms ?? one.round_ms;
const took = (one) => (time(one) === null ? "" : us(time(one) * 1000));
const whole = (one) => [one.number, took(one)].filter(Boolean).join(" · ");

export class Walk extends Graph {
  draw({ asked, found, stored, passages }) {
    const onItsWay = new Set(passages.flatMap((one) => [one.sender, one.receiver]));
    const known = new Set(this.cy.nodes().map((node) => node.data("index")));
    const role = { asked: new Set([asked]), found: new Set(found), stored: new Set(stored) };
    this.cy.nodes().forEach((node) => {
      const index = node.data("index");
      const roles = Object.keys(role).filter((name) => role[name].has(index));
      node.addClass([...roles, onItsWay.has(index) || roles.length ? "on-the-way" : "aside"].join(" "));
    });
    this.cy.add(passages.map((one, at) => ({ group: "edges", classes: `passage ${one.kind}`, data: {
      id: `p${at}`, source: `n${one.sender}`, target: `n${one.receiver}`, number: String(one.number || ""), whole: whole(one), length: this.length(one) } }))
      .filter((_, at) => known.has(passages[at].sender) && known.has(passages[at].receiver)));
    this.paint();
  }

  length({ sender, receiver }) {
    const [a, b] = [sender, receiver].map((index) => this.cy.getElementById(`n${index}`).position());
    return a && b ? Math.hypot(a.x - b.x, a.y - b.y) : 0;
  }

  more() {
    const [accent, onAccent, refused, ink] = ["accent", "on-accent", "state-red", "ink"].map(colour);
    const size = 11 / Math.min(1, this.cy.zoom()); // same size on narrow screens, where the graph is scaled down
    const narrow = this.element.clientWidth < NARROW;
    const below = this.element.dataset.labels === "below"; // names that are longer than a node is wide
    const brief = (edge) => narrow || edge.data("length") < SHORT;
    return [
      { selector: "node", style: { width: 26, height: 26, "background-color": colour("surface"), "border-color": colour("edge-strong"), "border-width": 1.5,
        "font-size": size, "text-valign": below ? "bottom" : "center", "text-margin-y": below ? 4 : 0, "text-background-opacity": 0 } },
      { selector: "node.on-the-way", style: { "background-color": colour("accent-soft"), "border-color": accent, label: "data(label)" } },
      { selector: "node.asked", style: { "border-width": 5, width: 32, height: 32 } },
      { selector: "node.found", style: { shape: "diamond", width: 38, height: 38, "background-color": accent, color: below ? ink : onAccent } },
      { selector: "node.stored", style: { shape: "star", width: 44, height: 44, "background-color": accent, color: below ? ink : onAccent } },
      { selector: "edge.passage", style: { "curve-style": "bezier", "control-point-step-size": 34, width: 2.5, opacity: 1, "line-color": accent, "target-arrow-color": accent, "target-arrow-shape": "triangle",
        "font-size": size, "font-weight": 600, color: onAccent, "text-background-color": accent, "text-background-opacity": 1, "text-background-padding": 2, "text-background-shape": "roundrectangle" } },
      { selector: "edge.request", style: {
        // Near the sender, where fewer lines cross, and above brokers that a line passes.
        "source-label": (edge) => edge.data(brief(edge) ? "number" : "whole"), "source-text-rotation": (edge) => (brief(edge) ? "none" : "autorotate"),
        "source-text-offset": (edge) => Math.min(62, 0.45 * edge.data("length")), "z-index": 20, "z-index-compare": "manual" } },
      { selector: "edge.lookahead", style: { width: 1.5, "line-style": "dotted" } },
      { selector: "edge.answer", style: { width: 2, "line-style": "dashed" } },
      { selector: "edge.refusal", style: { width: 1.5, "line-style": "dashed", "line-color": refused, "target-arrow-color": refused } },
      { selector: "edge.filtered", style: { width: 1.5, "line-style": "dotted", "line-color": colour("ink-soft"), "target-arrow-color": colour("ink-soft"), "target-arrow-shape": "tee" } },
      { selector: "edge.chosen", style: { width: 5, "z-index": 30, "z-index-compare": "manual", label: "data(whole)", "source-label": "", "line-color": ink, "target-arrow-color": ink } },
    ];
  }

  choose(at) {
    this.cy.edges(".chosen").removeClass("chosen");
    if (at !== null) this.cy.getElementById(`p${at}`).addClass("chosen");
  }
}
