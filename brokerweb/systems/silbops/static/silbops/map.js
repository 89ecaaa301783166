// The map of a run over time: where clients said they are, and what they were notified of.
import { count } from "../js/format.js";
import { drawSquare, lastAt, startPlayer } from "../js/map-time.js";
import { node } from "../js/svg.js";

const data = JSON.parse(document.getElementById("map-data").textContent);
const by = (id) => document.getElementById(id);
const follow = by("follow");
const TRAIL_US = 1e6; // how long a notification is drawn
const side = data.side_km;

const state = { width: side };
const up = (y) => side - y; // y grows upwards
const placeAt = (track, time) => track.places[lastAt(track.places, time, "at_us")];

// ---- what is drawn once

const { svg, resize } = drawSquare(side, resized, { hasGrid: true, width: () => state.width });
const notes = node("g", {}), clients = node("g", {});
clients.style.setProperty("--layers", Math.max(1, data.vehicles.length * Math.min(1, (2 * data.radius_km / side) ** 2)));
svg.append(clients, notes);

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

function view(now) {
  const chosen = byName.get(follow.value), place = chosen && placeAt(chosen.track, now);
  const width = place ? Math.min(side, Math.max(4 * data.radius_km, side / 200)) : side;
  const within = (at) => Math.min(Math.max(at - width / 2, 0), side - width);
  svg.setAttribute("viewBox", place ? `${within(place.x)} ${within(up(place.y))} ${width} ${width}` : `0 0 ${side} ${side}`);
  if (width !== state.width) { state.width = width; resize(); }
  vehicles.forEach((one) => one.whole.classList.toggle("followed", one === chosen));
}

// Marks keep their size on the screen.
function resized(unit) {
  vehicles.forEach(({ dot }) => dot.setAttribute("r", 3 * unit));
  const d = 7 * unit;
  cameras.forEach(({ mark }) => mark.setAttribute("d", `M0 ${-d}L${d} 0L0 ${d}L${-d} 0Z`));
}

function draw(now, last) {
  view(now);
  const first = lastAt(data.notifications, now - TRAIL_US, "received_us") + 1;
  const shown = data.notifications.slice(first, last + 1), reached = new Set(shown.map((one) => one.vehicle));
  for (const { track, whole } of vehicles) {
    const place = placeAt(track, now);
    whole.setAttribute("visibility", place ? "visible" : "hidden");
    if (place) whole.setAttribute("transform", `translate(${place.x} ${up(place.y)})`);
    whole.classList.toggle("reached", reached.has(track.client));
  }
  for (const { track, mark } of cameras) {
    const place = placeAt(track, now);
    mark.setAttribute("visibility", place ? "visible" : "hidden");
    if (place) mark.setAttribute("transform", `translate(${place.x} ${up(place.y)})`);
  }
  notes.replaceChildren(...shown.map((one) => line(one, now)).filter(Boolean));
  tell(now);
}

// From where it was published to where the vehicle was when it came.
function line(one, now) {
  const place = placeAt(byName.get(one.vehicle).track, one.received_us);
  return place && node("line", { class: "note", x1: one.x, y1: up(one.y), x2: place.x, y2: up(place.y), "stroke-opacity": 1 - (0.8 * (now - one.received_us)) / TRAIL_US });
}

function tell(now) {
  const sent = data.sent[lastAt(data.sent, now, "at_us")];
  for (const name of ["setctx", "subscribe", "unsubscribe"]) by(`sent-${name}`).textContent = sent ? count(sent[name]) : "0";
  const moved = vehicles.reduce((sum, { track }) => sum + lastAt(track.places, now, "at_us") - lastAt(track.places, data.from_us - 1, "at_us"), 0);
  by("moved").textContent = count(moved);
}

// The address has who is followed, too.
function address(parameters) {
  if (follow.value) parameters.set("follow", follow.value); else parameters.delete("follow");
}

const asked = new URLSearchParams(location.search).get("follow");
if (byName.has(asked)) follow.value = asked;
const player = startPlayer({ window: data, moments: data.notifications, key: "received_us", draw, address });
follow.addEventListener("change", () => player.again());
