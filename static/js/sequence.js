// One message's way as a sequence diagram: a lifeline for each participant, time downwards, and a line for each
// message, sloped by its duration. Linear in time, or in equal steps. All styles are attributes, so that the exported
// picture looks the same.
import { colour, saveAs, us } from "./format.js";
import { NS, node } from "./svg.js";

const TOP = 44, FOOT = 16, LEFT = 66, RIGHT = 40;
const NARROWEST = 76, WIDEST = 280, STEP = 20, LEAST = 280, MOST = 1400, LABEL = 12;
const LETTER = 7.4; // of a lane's name, about
const FONT = "system-ui, sans-serif";
const WORDS = { repeat: "push again", ack: "ACK", failed: "FAILED", progress: "PROGRESS", done: "DONE" }; // others are words
const DASHES = { lookahead: "2 3", answer: "6 4", ANSWER: "6 4", SUBTABLE: "2 3", OFFER: "2 3", refusal: "6 4", repeat: "2 3", ack: "6 4", failed: "6 4", progress: "6 4", done: "6 4" };
const REFUSALS = new Set(["refusal", "failed"]);
const PRECISE_MS = 4;

const word = ({ kind }) => WORDS[kind] ?? kind;
const counted = ({ kind }) => (kind === "push" ? "Repair" : "Hop");
const took = ({ ms }) => (ms === null ? "duration not reported" : `took ${us(ms * 1000)}`);

export class Sequence {
  constructor(box, data, onChoose) {
    Object.assign(this, { box, data, onChoose, chosen: null, isLinear: false });
    this.draw();
    box.addEventListener("click", ({ target }) => {
      const group = target.closest?.("[data-message]");
      if (group) onChoose(Number(group.dataset.message));
    });
    document.addEventListener("themechange", () => this.draw());
    new ResizeObserver(() => { if (this.width() !== this.drawnWidth) this.draw(); }).observe(box);
  }

  width() { return this.box.clientWidth; }

  words(at) {
    const one = this.data.messages[at], { lanes } = this.data;
    const hop = one.number ? `${counted(one)} ${one.number}: ` : "";
    const text = `${hop}${word(one)}${one.code ? ` (code ${one.code})` : ""} from ${lanes[one.sender]} to ${lanes[one.receiver]}`;
    return `${text}, ${us(one.sent_ms * 1000)} after ${this.data.since}, ${one.is_lost ? "lost or not reported" : took(one)}.`;
  }

  // The vertical scale.
  scale() {
    const { messages, steps } = this.data;
    if (!this.isLinear) return { height: Math.max(steps * STEP, 80), y: (_, step) => TOP + 14 + step * STEP };
    const first = Math.min(...messages.map((one) => one.sent_ms), 0), last = Math.max(...messages.map((one) => one.arrived_ms), first);
    const height = Math.min(Math.max(messages.length * 26, LEAST), MOST);
    return { height: height + 14, first, last, y: (ms) => TOP + 14 + (last > first ? ((ms - first) / (last - first)) * height : 0) };
  }

  draw() {
    const { lanes, messages } = this.data;
    this.drawnWidth = this.width();
    const name = LETTER * Math.max(...lanes.map((lane) => String(lane).length), 0);
    const right = Math.max(RIGHT, name / 2 + 4);
    const apart = Math.min(Math.max((this.drawnWidth - LEFT - right) / Math.max(lanes.length - 1, 1), NARROWEST, name + 10), WIDEST);
    const x = (lane) => LEFT + lane * apart;
    const scale = this.scale();
    const width = Math.max(x(lanes.length - 1) + right, LEFT + right), height = TOP + scale.height + FOOT;
    const svg = node("svg", { xmlns: NS, viewBox: `0 0 ${width} ${height}`, width, height, "font-family": FONT, "font-size": 12, role: "img", "aria-label": "Sequence diagram; the table below has the same data" });
    svg.append(node("rect", { width, height, fill: colour("surface") }));
    this.drawLanes(svg, x, height);
    this.drawTimes(svg, scale, width);
    const labels = [];
    messages.forEach((one, at) => svg.append(this.message(one, at, x, scale, labels)));
    this.box.replaceChildren(svg);
    this.mark();
  }

  drawLanes(svg, x, height) {
    this.data.lanes.forEach((lane, at) => {
      svg.append(node("line", { x1: x(at), x2: x(at), y1: TOP, y2: height - FOOT, stroke: colour("edge-strong"), "stroke-width": 1 }));
      svg.append(node("text", { x: x(at), y: 26, "text-anchor": "middle", fill: colour("ink"), "font-weight": 600 }, lane));
    });
  }

  // Times at the left: round ones on the linear scale, else those of each message.
  drawTimes(svg, scale, width) {
    const soft = colour("ink-soft");
    const write = (y, ms) => svg.append(node("text", { x: 4, y: y + 4, fill: soft, "font-size": 11 }, us(ms * 1000)));
    if (this.isLinear) {
      const span = scale.last - scale.first, raw = span / 6 || 1, power = 10 ** Math.floor(Math.log10(raw));
      const step = [1, 2, 5, 10].find((one) => one * power >= raw) * power;
      for (let ms = Math.ceil(scale.first / step) * step; ms <= scale.last + 1e-9; ms += step) {
        svg.append(node("line", { x1: LEFT - 8, x2: width - 8, y1: scale.y(ms), y2: scale.y(ms), stroke: colour("edge"), "stroke-width": 1 }));
        write(scale.y(ms), Number(ms.toPrecision(PRECISE_MS)));
      }
      return;
    }
    let before = null;
    for (const one of this.data.messages) {
      if (one.sent_ms === before) continue;
      before = one.sent_ms;
      write(scale.y(one.sent_ms, one.sent_at), one.sent_ms);
    }
  }

  message(one, at, x, scale, labels) {
    const [x1, x2] = [x(one.sender), x(one.receiver)];
    const [y1, y2] = [scale.y(one.sent_ms, one.sent_at), scale.y(one.arrived_ms, one.arrived_at)];
    const tone = colour(REFUSALS.has(one.kind) || one.is_lost ? "state-red" : "accent");
    const group = node("g", { "data-message": at, cursor: "pointer" });
    group.append(node("title", {}, this.words(at)), node("line", { x1, x2, y1, y2, stroke: "transparent", "stroke-width": 14 }));
    group.append(node("line", { x1, x2, y1, y2, stroke: tone, "stroke-width": 2, "stroke-dasharray": DASHES[one.kind] || "none", "data-line": "" }));
    const turn = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
    const head = one.is_lost ? "M -6 -5 L 4 5 M -6 5 L 4 -5" : "M -9 -4.5 L 0 0 L -9 4.5";
    group.append(node("path", { d: head, transform: `translate(${x2} ${y2}) rotate(${turn})`, fill: one.is_lost ? "none" : tone, stroke: tone, "stroke-width": 1.5 }));
    const text = `${one.number ? `${one.number} ` : ""}${word(one)}`;
    const [cx, cy] = [(x1 + x2) / 2, (y1 + y2) / 2 - 5], half = text.length * 3.4;
    // A label if it fits: not over another label, and not longer than its line.
    if (half * 2 < Math.abs(x2 - x1) && labels.every(([ox, oy, other]) => Math.abs(oy - cy) >= LABEL || Math.abs(ox - cx) >= half + other)) {
      labels.push([cx, cy, half]);
      const flat = turn > 90 || turn < -90 ? turn + 180 : turn;
      group.append(node("text", { x: 0, y: 0, transform: `translate(${cx} ${cy}) rotate(${flat})`, "text-anchor": "middle", fill: colour("ink"), "font-size": 11 }, text));
    }
    return group;
  }

  setLinear(on) { this.isLinear = on; this.draw(); }

  choose(at) { this.chosen = at; this.mark(); }

  mark() {
    for (const group of this.box.querySelectorAll("[data-message]")) {
      const isChosen = Number(group.dataset.message) === this.chosen;
      group.querySelector("[data-line]").setAttribute("stroke-width", isChosen ? 5 : 2);
      if (isChosen) this.reveal(group);
    }
  }

  // Scrolls only its own box, because the picture below shows the same message.
  reveal(group) {
    const [inner, outer] = [group.getBoundingClientRect(), this.box.getBoundingClientRect()];
    const by = (low, high, least, most) => (low < least ? low - least : Math.max(0, Math.min(high - most, low - least)));
    this.box.scrollBy(by(inner.left, inner.right, outer.left, outer.right), by(inner.top, inner.bottom, outer.top, outer.bottom));
  }

  saveSvg(file) { saveAs(`${file}.svg`, new XMLSerializer().serializeToString(this.box.firstElementChild), "image/svg+xml"); }

  savePng(file) {
    const svg = this.box.firstElementChild, ratio = Math.max(devicePixelRatio, 2);
    const image = new Image();
    const address = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" }));
    image.addEventListener("load", () => {
      const canvas = Object.assign(document.createElement("canvas"), { width: svg.getAttribute("width") * ratio, height: svg.getAttribute("height") * ratio });
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      URL.revokeObjectURL(address);
      canvas.toBlob((blob) => saveAs(`${file}.png`, blob));
    });
    image.src = address;
  }
}
