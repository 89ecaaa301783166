// The live page of a run. Frames are complete, so a page opened late or reconnected misses nothing.
import { showFigures } from "./figures.js";
import { percent, timeLeft } from "./format.js";
import { MarkList } from "./marks.js";
import { BrokerPanel } from "./run-broker.js";
import { RunCharts } from "./run-charts.js";
import { Timeline } from "./run-events.js";
import { looksOf, overlayIn, writeScales } from "./run-overlay.js";
import { BrokerTable } from "./run-table.js";
import { follow } from "./run-socket.js";
import { Spread } from "./spread.js";
import { toast } from "./toast.js";

const live = JSON.parse(document.getElementById("live").textContent);
const byId = (id) => document.getElementById(id);
const ENDED = ["done", "failed", "cancelled"];
const ASK_AGAIN_MS = 3_000;

const charts = new RunCharts(live);
const marks = new MarkList(byId("marks"), live.planned, (number) => charts.choose(number));
const timeline = new Timeline(byId("timeline"), (second) => charts.pointAt(second));
const overlay = overlayIn(byId("overlay"), live.traffic, (index) => panel.open(index));
const panel = new BrokerPanel(byId("broker"), overlay);
const table = new BrokerTable(byId("broker-rows"), live.servers);
const spread = new Spread();
let frame = {};

function show(next) {
  frame = next;
  showState();
  if (!live.ended) showFigures(byId("figures"), frame);
  const isOver = ENDED.includes(frame.state);
  spread.run([
    () => marks.show(frame.marks || [], isOver),
    ...charts.parts(frame.series, frame.marks || [], isOver),
    () => timeline.show(frame.happened),
    () => showBrokers(live.memory ? measured(frame) : frame),
  ]);
}

// Memory of a collected run comes from its summary; frames have the value at its end.
function measured(last) {
  const known = live.memory.map((row) => row.uss_bytes ?? row.rss_bytes).filter((bytes) => bytes !== null);
  const all = known.length ? known.reduce((sum, bytes) => sum + bytes, 0) : null;
  return { ...last, memory: { brokers: live.memory }, totals: { ...last.totals, private_bytes: all } };
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
  if (ended && !live.ended) { live.ended = true; htmx.trigger(byId("run-end"), "ended"); }
}

// When the run has ended, verdict, summary and other parts are loaded and replace the old ones, without disturbing
// input. Requested until successful.
byId("run-end")?.addEventListener("htmx:afterRequest", ({ target, detail }) => {
  if (!detail.successful) {
    if (detail.xhr?.status !== 404) setTimeout(() => htmx.trigger(target, "ended"), ASK_AGAIN_MS);
    return;
  }
  Object.assign(live, JSON.parse(byId("live").textContent));
  overlay.thicken(live.traffic);
  charts.rest();
  show(frame);
  if (byId("copies-data")) import("./copies.js");
  toast(`This run has ended: ${frame.state}.`, { kind: "info" });
});

function showBrokers(source) {
  const looks = looksOf(source);
  if (looks.size) overlay.show(looks);
  writeScales(looks);
  table.show(source);
  showFigures(byId("broker"), source);
}

// A broker was closed: show the totals again.
byId("broker").addEventListener("htmx:afterSwap", () => showBrokers(live.memory ? measured(frame) : frame));

follow(live.run, (words, connected) => {
  if (byId("connection").textContent !== words) byId("connection").textContent = words;
  byId("connection").dataset.live = connected ? "yes" : "no";
}, show);
