// Draws messages as dots over the overlay; called for each frame.
import { colour } from "./format.js";
import { Graph } from "./graph.js";

const TONES = { request: "accent", answer: "state-green", refusal: "state-red", update: "state-violet", acknowledgement: "edge-strong", upkeep: "state-amber" };
const BEYOND = 46; // pixels from a broker to the assumed position of its clients

export class Picture extends Graph {
  constructor(element, data) {
    super(element, data);
    this.canvas = Object.assign(document.createElement("canvas"), { className: "flights" });
    element.append(this.canvas);
    this.flights = [];
    this.tones = {};
    this.learnColours();
    document.addEventListener("themechange", () => this.learnColours());
    new ResizeObserver(() => this.fly(this.flights)).observe(element);
    this.cy.on("pan zoom", () => this.fly(this.flights));
  }

  learnColours() {
    this.tones = Object.fromEntries(Object.entries(TONES).map(([family, name]) => [family, colour(name)]));
    this.ink = colour("ink");
    this.lost = colour("state-red");
    this.fly(this.flights);
  }

  // flights: [{row, share, current}], share of the way covered, 0 to 1.
  fly(flights) {
    this.flights = flights;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [this.element.clientWidth, this.element.clientHeight];
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    const pen = this.canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const places = new Map();
    this.cy.nodes().forEach((node) => places.set(node.data("index"), node.renderedPosition()));
    const centre = { x: width / 2, y: height / 2 };
    flights.forEach((flight) => this.drawOne(pen, flight, places, centre));
  }

  drawOne(pen, { row, share, current }, places, centre) {
    const [from, to] = ends(row, places, centre);
    if (!from || !to) return;
    const gone = row.lost ? share / 2 : share;
    const at = { x: from.x + (to.x - from.x) * gone, y: from.y + (to.y - from.y) * gone };
    const tone = this.tones[row.family];
    pen.strokeStyle = current ? this.ink : tone;
    pen.globalAlpha = current ? 1 : 0.55;
    pen.lineWidth = current ? 3 : 2;
    line(pen, from, current ? to : at);
    if (current) head(pen, from, to, this.ink);
    pen.globalAlpha = 1;
    pen.fillStyle = tone;
    pen.strokeStyle = this.ink;
    pen.lineWidth = 1;
    if (row.lost && share > 0.95) cross(pen, at, this.lost);
    else disc(pen, at, current ? 7 : 5);
  }
}

function ends(row, places, centre) {
  const [sender, receiver] = [places.get(row.sender), places.get(row.receiver)];
  return [sender || (receiver && beyond(receiver, centre)), receiver || (sender && beyond(sender, centre))];
}

// Clients are not drawn; they are assumed outside, behind their broker.
function beyond(place, centre) {
  const [dx, dy] = [place.x - centre.x, place.y - centre.y];
  const length = Math.hypot(dx, dy);
  return length < 1 ? { x: place.x, y: place.y - BEYOND } : { x: place.x + (dx / length) * BEYOND, y: place.y + (dy / length) * BEYOND };
}

function line(pen, from, to) {
  pen.beginPath();
  pen.moveTo(from.x, from.y);
  pen.lineTo(to.x, to.y);
  pen.stroke();
}

function head(pen, from, to, tone) {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  const tip = { x: to.x - 12 * Math.cos(angle), y: to.y - 12 * Math.sin(angle) };
  pen.fillStyle = tone;
  pen.beginPath();
  pen.moveTo(tip.x, tip.y);
  [2.7, -2.7].forEach((turn) => pen.lineTo(tip.x + 13 * Math.cos(angle + turn), tip.y + 13 * Math.sin(angle + turn)));
  pen.fill();
}

function disc(pen, at, radius) {
  pen.beginPath();
  pen.arc(at.x, at.y, radius, 0, 2 * Math.PI);
  pen.fill();
  pen.stroke();
}

function cross(pen, at, tone) {
  pen.strokeStyle = tone;
  pen.lineWidth = 3;
  line(pen, { x: at.x - 6, y: at.y - 6 }, { x: at.x + 6, y: at.y + 6 });
  line(pen, { x: at.x - 6, y: at.y + 6 }, { x: at.x + 6, y: at.y - 6 });
}
