// The map of a run: nodes where they said they are, regions, and messages to regions.
import { drawSquare, lastAt, startPlayer } from "../js/map-time.js";
import { node } from "../js/svg.js";

const data = JSON.parse(document.getElementById("map-data").textContent);
const SHOWN_US = 1e6; // how long a message is drawn
const { side_km: side, across } = data, cell = side / across;
const up = (y) => side - y;

const { svg } = drawSquare(side, (unit) => {
  vehicles.forEach(({ dot }) => dot.setAttribute("r", 4 * unit));
  names.forEach((one) => { one.setAttribute("font-size", 12 * unit); one.setAttribute("dx", -5 * unit); one.setAttribute("dy", 15 * unit); });
});
const regions = [], names = [], ground = node("g", {}), drivers = node("g", {});
for (let region = 0; region < across * across; region += 1) {
  const [column, row] = [region % across, Math.floor(region / across)];
  const box = node("rect", { class: "region", x: column * cell, y: up((row + 1) * cell), width: cell, height: cell });
  const name = node("text", { x: (column + 1) * cell, y: up((row + 1) * cell), "text-anchor": "end" }, `${column}:${row}`); // the scale is at the left
  regions.push(box);
  names.push(name);
  ground.append(box, name);
}
svg.prepend(ground);
svg.append(drivers);
const vehicles = data.nodes.map((track) => {
  const dot = node("circle", { class: "vehicle" });
  dot.append(node("title", {}, `node ${track.node}`));
  drivers.append(dot);
  return { track, dot };
});

function draw(now, last) {
  const first = lastAt(data.casts, now - SHOWN_US, "due_us") + 1;
  const shown = data.casts.slice(first, last + 1);
  const told = new Set(shown.map((one) => one.region));
  const reached = new Set(shown.flatMap((one) => one.received.filter((of) => of.received_us <= now).map((of) => of.node)));
  regions.forEach((box, region) => box.classList.toggle("cast", told.has(region)));
  for (const { track, dot } of vehicles) {
    const place = track.places[lastAt(track.places, now, "at_us")];
    dot.setAttribute("visibility", place ? "visible" : "hidden");
    if (place) { dot.setAttribute("cx", place.x); dot.setAttribute("cy", up(place.y)); }
    dot.classList.toggle("reached", reached.has(track.node));
  }
}

startPlayer({ window: data, moments: data.casts, key: "due_us", draw });
