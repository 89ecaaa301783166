// The map of a run over time: where clients said they are, and what they were notified of. Nothing is interpolated.
import { count } from "../js/format.js";
import { areOff } from "../js/keys.js";
import { node } from "../js/svg.js";

const data = JSON.parse(document.getElementById("map-data").textContent);
const by = (id) => document.getElementById(id);
const [slider, clock, playButton, speed, follow, rows] = ["time", "clock", "play", "speed", "follow", "notes"].map(by);
const still = window.matchMedia("(prefers-reduced-motion: reduce)");
const TRAIL_US = 1e6; // how long a notification is drawn
const STEP_US = 1e6; // of a player without motion
const ARROW_US = 1e5; // of an arrow key
const LINES = 5; // of the grid
const side = data.side_km;

const state = { now: data.from_us, playing: false, width: side };
const up = (y) => side - y; // y grows upwards

// The index of the last row at or before a time.
function lastAt(list, time, key) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle][key] <= time) low = middle + 1; else high = middle;
  }
  return low - 1;
}
const placeAt = (track, time) => track.places[lastAt(track.places, time, "at_us")];

// ---- what is drawn once

const svg = node("svg", { viewBox: `0 0 ${side} ${side}`, preserveAspectRatio: "xMidYMid meet" });
const grid = node("g", {}), notes = node("g", {}), clients = node("g", {});
for (let at = 1; at < LINES; at += 1) {
  const where = (side / LINES) * at;
  grid.append(node("line", { class: "grid-line", x1: where, x2: where, y1: 0, y2: side }), node("line", { class: "grid-line", y1: where, y2: where, x1: 0, x2: side }));
}
grid.append(node("rect", { class: "edge-line", x: 0, y: 0, width: side, height: side }));
const labels = [];
for (let at = 0; at < LINES; at += 1) {
  const where = (side / LINES) * at;
  const shown = at === 0 ? "0" : `${Number(where.toPrecision(4))}\u202fkm`;
  labels.push(node("text", { x: where, y: side }, shown));
  if (at) labels.push(node("text", { x: 0, y: up(where) }, shown));
}
grid.append(...labels);
svg.append(grid, notes, clients);
by("map").append(svg);

const vehicles = data.vehicles.map((track) => {
  const whole = node("g", {}, undefined), dot = node("circle", { class: "vehicle" });
  whole.append(node("title", {}, track.client), node("rect", { class: "square", x: -data.radius_km, y: -data.radius_km, width: 2 * data.radius_km, height: 2 * data.radius_km }), dot);
  clients.append(whole);
  return { track, whole, dot };
});
const cameras = data.cameras.map((track) => {
  const mark = node("path", { class: "camera" });
  mark.append(node("title", {}, track.client));
  clients.append(mark);
  return { track, mark };
});
const byName = new Map(vehicles.map((one) => [one.track.client, one]));

// ---- what changes

function view() {
  const chosen = byName.get(follow.value), place = chosen && placeAt(chosen.track, state.now);
  const width = place ? Math.min(side, Math.max(4 * data.radius_km, side / 200)) : side;
  const within = (at) => Math.min(Math.max(at - width / 2, 0), side - width);
  svg.setAttribute("viewBox", place ? `${within(place.x)} ${within(up(place.y))} ${width} ${width}` : `0 0 ${side} ${side}`);
  if (width !== state.width || !state.sized) resize(width);
  vehicles.forEach((one) => one.whole.classList.toggle("followed", one === chosen));
}

// Marks and words keep their size on the screen.
function resize(width) {
  state.width = width;
  state.sized = true;
  const unit = width / Math.max(320, svg.clientWidth);
  vehicles.forEach(({ dot }) => dot.setAttribute("r", 3 * unit));
  const d = 7 * unit;
  cameras.forEach(({ mark }) => mark.setAttribute("d", `M0 ${-d}L${d} 0L0 ${d}L${-d} 0Z`));
  labels.forEach((one) => { one.setAttribute("font-size", 11 * unit); one.setAttribute("dx", 4 * unit); one.setAttribute("dy", -4 * unit); });
}

function draw() {
  view();
  const first = lastAt(data.notifications, state.now - TRAIL_US, "received_us") + 1;
  const last = lastAt(data.notifications, state.now, "received_us");
  const shown = data.notifications.slice(first, last + 1), reached = new Set(shown.map((one) => one.vehicle));
  for (const { track, whole } of vehicles) {
    const place = placeAt(track, state.now);
    whole.setAttribute("visibility", place ? "visible" : "hidden");
    if (place) whole.setAttribute("transform", `translate(${place.x} ${up(place.y)})`);
    whole.classList.toggle("reached", reached.has(track.client));
  }
  for (const { track, mark } of cameras) {
    const place = placeAt(track, state.now);
    mark.setAttribute("visibility", place ? "visible" : "hidden");
    if (place) mark.setAttribute("transform", `translate(${place.x} ${up(place.y)})`);
  }
  notes.replaceChildren(...shown.map(line).filter(Boolean));
  tell(last);
}

// From where it was published to where the vehicle was when it came.
function line(one) {
  const place = placeAt(byName.get(one.vehicle).track, one.received_us);
  return place && node("line", { class: "note", x1: one.x, y1: up(one.y), x2: place.x, y2: up(place.y), "stroke-opacity": 1 - (0.8 * (state.now - one.received_us)) / TRAIL_US });
}

let current = null;
function tell(last) {
  const since = (state.now - data.begin_us) / 1e6;
  slider.value = since;
  slider.setAttribute("aria-valuetext", `${since.toFixed(2)} seconds`);
  clock.textContent = `${since.toFixed(2)}\u202fs`;
  const sent = data.sent[lastAt(data.sent, state.now, "at_us")];
  for (const name of ["setctx", "subscribe", "unsubscribe"]) by(`sent-${name}`).textContent = sent ? count(sent[name]) : "0";
  const moved = vehicles.reduce((sum, { track }) => sum + lastAt(track.places, state.now, "at_us") - lastAt(track.places, data.from_us - 1, "at_us"), 0);
  by("moved").textContent = count(moved);
  if (!rows) return;
  const row = rows.children[Math.min(last, rows.children.length - 1)] || null;
  if (row === current) return;
  current?.removeAttribute("aria-current");
  [...rows.children].forEach((one, at) => one.classList.toggle("ahead", at > last));
  current = row;
  if (!row) return;
  row.setAttribute("aria-current", "true");
  const box = rows.closest(".map-list");
  box.scrollTop = row.offsetTop - box.clientHeight / 2;
}

// ---- moving

function seek(time) {
  state.now = Math.min(data.until_us, Math.max(data.from_us, time));
  draw();
}

function step(direction) {
  const at = lastAt(data.notifications, direction > 0 ? state.now : state.now - 1, "received_us") + (direction > 0 ? 1 : 0);
  const one = data.notifications[at];
  if (one) seek(one.received_us);
}

function play(on) {
  state.playing = on;
  playButton.textContent = on ? "Pause" : "Play";
  playButton.setAttribute("aria-pressed", String(on));
  if (!on) return keep();
  if (state.now >= data.until_us) state.now = data.from_us;
  ticked = performance.now();
  requestAnimationFrame(tick);
}

let ticked = 0;
function tick(at) {
  if (!state.playing) return;
  const passed = Math.min(250, Math.max(0, at - ticked)) * 1000 * Number(speed.value);
  if (!still.matches) {
    ticked = at;
    seek(state.now + passed);
  } else if (at - ticked >= 1000) {
    ticked = at;
    seek(state.now + STEP_US * Number(speed.value));
  }
  if (state.now >= data.until_us) return play(false);
  requestAnimationFrame(tick);
}

// The address has the moment and who is followed.
function keep() {
  const address = new URL(location.href);
  address.searchParams.set("t_s", ((state.now - data.begin_us) / 1e6).toFixed(2));
  if (follow.value) address.searchParams.set("follow", follow.value); else address.searchParams.delete("follow");
  history.replaceState(null, "", address);
}

slider.addEventListener("input", () => seek(data.begin_us + Number(slider.value) * 1e6));
slider.addEventListener("change", keep);
slider.addEventListener("keydown", (event) => {
  const way = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
  if (!way) return;
  event.preventDefault();
  seek(state.now + way * ARROW_US);
  keep();
});
follow.addEventListener("change", () => { draw(); keep(); });
playButton.addEventListener("click", () => play(!state.playing));
by("back").addEventListener("click", () => { step(-1); keep(); });
by("step").addEventListener("click", () => { step(1); keep(); });
rows?.addEventListener("click", ({ target }) => { if (target.dataset.us) { seek(Number(target.dataset.us)); keep(); } });
document.addEventListener("keydown", (event) => {
  if (event.key !== " " || areOff() || event.target.closest("button, select, a, input:not([type=range]), textarea, [contenteditable]")) return;
  event.preventDefault();
  play(!state.playing);
});
new ResizeObserver(() => resize(state.width)).observe(svg);

const asked = new URLSearchParams(location.search);
if (byName.has(asked.get("follow"))) follow.value = asked.get("follow");
[slider, playButton, by("back"), by("step")].forEach((one) => { one.disabled = !data.vehicles.length; });
seek(asked.has("t_s") && Number.isFinite(Number(asked.get("t_s"))) ? data.begin_us + Number(asked.get("t_s")) * 1e6 : data.from_us);
