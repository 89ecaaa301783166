// The live page of a run. Each frame is the whole picture, so a page opened late or reconnected misses nothing.
import { FORMATS, UNKNOWN, perSecond, percent, sig3, size, timeLeft } from "./format.js";
import { Graph, graphData } from "./graph.js";
import { LiveChart } from "./livechart.js";
import { MarkList } from "./marks.js";

const live = JSON.parse(document.getElementById("live").textContent);
const byId = (id) => document.getElementById(id);
const ENDED = ["done", "failed", "cancelled"];
const NORMAL = 1000, NOT_LOGGED_IN = 4401, UNKNOWN_RUN = 4404;
const SERIES_COLOURS = new Set(["ring", "full-mesh", "waxman", "central", "structured"]);
const main = SERIES_COLOURS.has(live.kind) ? `series-${live.kind}` : "state-blue";

const SPECS = {
  latency: { format: "us", log: true, series: [
    { key: "p50", column: "p50_us", label: "p50", colour: main, width: 2.5 },
    { key: "p95", column: "p95_us", label: "p50–p95", colour: main, width: 0, bandTo: "p50" },
    { key: "p99", column: "p99_us", label: "p99", colour: main, width: 1 },
    { key: "mean", column: "mean_us", label: "mean", colour: "ink-soft", width: 1, dash: "dashed" }] },
  outcomes: { format: "perSecond", series: [
    { key: "answered", column: "answered_per_s", label: "answered", colour: "state-blue", width: 2 },
    { key: "not_found", column: "not_found_per_s", label: "not found", colour: "state-amber", width: 1.5, dash: "dashed" },
    { key: "timed_out", column: "timed_out_per_s", label: "timed out", colour: "state-red", width: 1.5, dash: "dotted" }] },
  memory: { format: "size", series: [
    { key: "rss_bytes", column: "rss_bytes", label: "RSS", colour: "ink-soft", width: 1.5, dash: "dashed" },
    { key: "pss_bytes", column: "pss_bytes", label: "PSS", colour: "state-violet", width: 1.5, dash: "dotted" },
    { key: "uss_bytes", column: "uss_bytes", label: "USS", colour: main, width: 2 }] },
  added: { format: "size", series: [{ key: "over_idle_bytes", column: "over_idle_bytes", label: "added over idle", colour: main, width: 2 }] },
};

const press = (pressed) => pressed.parentElement.querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", String(button === pressed)));
const charts = [...document.querySelectorAll("[data-chart]")].map((figure) => {
  const shown = { spec: figure.dataset.chart, chart: new LiveChart(figure.querySelector("[data-plot]"), SPECS[figure.dataset.chart], !live.ended) };
  figure.addEventListener("click", (event) => {
    const { scale, save, view } = event.target.dataset;
    const name = `run-${live.run}-${live.engine === "simulated" ? "simulated-" : ""}${shown.spec}`;
    if (save === "png") shown.chart.savePicture(name);
    if (save === "csv") shown.chart.saveData(name);
    if (scale) { press(event.target); shown.chart.setLog(scale === "log"); }
    if (view) { press(event.target); shown.spec = view; shown.chart.setSpec(SPECS[view]); showCharts(); }
  });
  return shown;
});

const marks = new MarkList(byId("marks"), live.planned, (number) => charts.forEach(({ chart }) => chart.choose(number)));
const overlay = new Graph(byId("overlay"), graphData(byId("overlay")), openBroker);
let frame = {};
let opened = null;

function show(next) {
  frame = next;
  showState();
  showFigures();
  showCharts();
  showEvents();
  showBrokers();
  if (opened !== null) openBroker(opened);
}

function showState() {
  const { state, progress, eta_s: eta, reason, waiting_for: waiting } = frame;
  if (!state) return;
  const badge = byId("state").firstElementChild;
  badge.className = `state state-${state}`;
  badge.textContent = state;
  const ended = ENDED.includes(state);
  byId("progress").value = ended && state === "done" ? 1 : progress || 0;
  if (!ended) byId("time-left").textContent = [percent(progress || 0), timeLeft(eta)].filter(Boolean).join(", ");
  byId("reason").textContent = reason || waiting || "";
  byId("reason").classList.toggle("wrong-list", state === "failed");
  if (byId("cancel-form")) byId("cancel-form").hidden = ended;
  // What a finished run says of itself (verdict, summary, end) comes with the page.
  if (ended && !live.ended) { live.ended = true; setTimeout(() => location.reload(), 400); }
}

const dig = (path) => path.split(".").reduce((value, key) => (value === null || value === undefined ? value : value[key]), frame);

function showFigures() {
  if (live.ended) return;
  document.querySelectorAll("[data-figure]").forEach((element) => {
    element.textContent = FORMATS[element.dataset.format](dig(element.dataset.figure));
  });
}

function showCharts() {
  const series = frame.series;
  marks.show(frame.marks || [], ENDED.includes(frame.state));
  if (!series?.t?.length) {
    if (ENDED.includes(frame.state)) document.querySelectorAll("[data-plot][data-empty]").forEach((plot) => plot.setAttribute("data-empty", "ended"));
    return;
  }
  for (const { spec, chart } of charts) {
    chart.show([series.t, ...SPECS[spec].series.map(({ key }) => series[key] || series.t.map(() => null))], frame.marks || []);
  }
}

function showEvents() {
  if (!frame.happened?.length) return;
  byId("events").replaceChildren(...[...frame.happened].reverse().map((event) => {
    const item = document.createElement("li");
    const at = Object.assign(document.createElement("span"), { className: "at", textContent: `${event.t_s.toFixed(1)} s` });
    item.append(at, Object.assign(document.createElement("span"), { textContent: event.words }));
    return item;
  }));
}

const rowOf = (group, index) => (frame[group]?.brokers || []).find((row) => row.index === index) || {};
// A broker's load is what came in for searching and storing: updates, requests, answers and not-founds of its neighbours.
const PASSED = ["in_2_per_s", "in_3_per_s", "in_4_per_s", "in_6_per_s"];
const loadOf = (row) => PASSED.reduce((sum, name) => sum + (row[name] || 0), 0);
const RATES = { in_2_per_s: "Updates in", in_3_per_s: "Requests in", in_4_per_s: "Answers in", hits_per_s: "Answered itself",
  forwards_per_s: "Passed on", replicas_per_s: "Replicas stored", not_found_per_s: "Not found here" };

function showBrokers() {
  const looks = new Map();
  for (const row of frame.memory?.brokers || []) looks.set(row.index, { memory: row.uss_bytes || row.rss_bytes });
  for (const row of frame.load?.brokers || []) looks.set(row.index, { ...looks.get(row.index), load: loadOf(row) });
  for (const row of frame.brokers || []) looks.set(row.index, { ...looks.get(row.index), state: row.state });
  if (looks.size) overlay.show(looks);
  showScales([...looks.values()]);
  if (live.ended || !frame.memory?.brokers?.length) return;
  byId("memory-rows").replaceChildren(...frame.memory.brokers.map((row) => {
    const line = document.createElement("tr");
    const button = Object.assign(document.createElement("button"), { type: "button", className: "link-button", textContent: row.index });
    button.dataset.broker = row.index;
    [button, ...["rss_bytes", "pss_bytes", "uss_bytes", "over_idle_bytes", "table_bytes"].map((key) => size(row[key]))]
      .forEach((content) => { const cell = Object.assign(document.createElement("td"), { className: "num" }); cell.append(content); line.append(cell); });
    return line;
  }));
}

// What the sizes and fills of the picture stand for, from the least to the most.
function showScales(looks) {
  for (const [name, key, write] of [["load-scale", "load", perSecond], ["memory-scale", "memory", size]]) {
    const values = looks.map((look) => look[key]).filter((value) => value !== undefined);
    byId(name).textContent = values.length ? `, ${write(Math.min(...values))} to ${write(Math.max(...values))}` : "";
  }
}

function openBroker(index) {
  opened = index;
  overlay.select(index);
  const memory = rowOf("memory", index), load = rowOf("load", index), seen = rowOf("brokers", index);
  const facts = [["Address", seen.address], ["State", seen.state], ["Reason", seen.reason], ["Restarts", seen.restarts],
    ["Processor", load.cores === undefined ? null : `${sig3(load.cores * 100)}\u202f% of a core`],
    ...Object.entries(RATES).map(([name, label]) => [label, load[name] === undefined ? null : perSecond(load[name])]),
    ["RSS", size(memory.rss_bytes)], ["PSS", size(memory.pss_bytes)], ["USS", size(memory.uss_bytes)],
    ["Added over idle", size(memory.over_idle_bytes)], ["Its table", size(memory.table_bytes)]];
  byId("broker-facts").replaceChildren(...facts.filter(([, value]) => value !== undefined && value !== null && value !== "").flatMap(([name, value]) =>
    [Object.assign(document.createElement("dt"), { textContent: name }), Object.assign(document.createElement("dd"), { textContent: value === undefined ? UNKNOWN : value })]));
  byId("broker-title").textContent = `Broker ${index}`;
  byId("broker-panel").hidden = false;
  byId("events").hidden = true;
}

document.addEventListener("click", (event) => {
  if (!event.target.dataset?.broker) return;
  openBroker(Number(event.target.dataset.broker));
  byId("broker-title").scrollIntoView({ block: "nearest" });
});

byId("broker-close").addEventListener("click", () => {
  opened = null;
  overlay.select(null);
  byId("broker-title").textContent = "Events";
  byId("broker-panel").hidden = true;
  byId("events").hidden = false;
});

// The connection: tried again after 0.5, 1, 2, 4 and then every 8 seconds, until the run has ended.
let tries = 0;
function tell(words, connected) {
  byId("connection").textContent = words;
  byId("connection").dataset.live = connected ? "yes" : "no";
}

function connect() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const socket = new WebSocket(`${scheme}://${location.host}/ws/runs/${live.run}/`);
  socket.addEventListener("message", ({ data }) => { tries = 0; tell("", true); show(JSON.parse(data)); });
  socket.addEventListener("close", ({ code }) => {
    if (code === NORMAL && ENDED.includes(frame.state)) return;
    if (code === NOT_LOGGED_IN) { tell("Logged out. Reload the page to log in again.", false); return; }
    if (code === UNKNOWN_RUN) { tell("This run was deleted.", false); return; }
    tell("Not connected; trying again.", false);
    setTimeout(connect, Math.min(500 * 2 ** tries++, 8000));
  });
}
connect();
