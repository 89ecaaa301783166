// The page of a network: overlay with load and memory of each broker, and the panel of one broker. The data comes with
// the polled table of brokers.
import "./address.js";
import { showFigures } from "./figures.js";
import { NetworkCharts } from "./network-charts.js";
import { drawWay } from "./way-picture.js";
import { BrokerPanel } from "./run-broker.js";
import { looksOf, overlayIn, writeScales } from "./run-overlay.js";

const byId = (id) => document.getElementById(id);
const overlay = overlayIn(byId("overlay"), [], (index) => panel.open(index));
const panel = new BrokerPanel(byId("broker"), overlay);

function show() {
  const frame = JSON.parse(byId("frame").textContent);
  const looks = looksOf(frame);
  overlay.show(looks);
  overlay.rest(frame.resting || []);
  writeScales(looks);
  showFigures(byId("broker"), frame);
}

new NetworkCharts(byId("course"));
document.addEventListener("htmx:afterSwap", show);
// The walk of a query arrives once the brokers have reported it.
document.addEventListener("htmx:afterSettle", ({ target }) => { if (target.id === "context-walk" && byId("walk-data")) drawWay(); });
show();
