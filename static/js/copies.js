// Copies of each entity against its query rate, on log-log axes; the reference line is the square root.
import { svgOf } from "./chart-svg.js";
import { logTicks } from "./echart.js";
import { brief, colour, count, perSecond, saveAs, sig3, toCsv } from "./format.js";

const { per_s: rates, copies, square_root: yardstick, fitted, entities } = JSON.parse(document.getElementById("copies-data").textContent);
const figure = document.querySelector("[data-copies]");
const element = figure.querySelector("[data-plot]"), legend = figure.querySelector("[data-legend]");
const SERIES = [
  { label: "entities", tone: "state-blue", points: 7, data: copies },
  { label: "square root", tone: "published", width: 1.5, dash: "dashed", data: yardstick },
  { label: "fitted", tone: "state-violet", width: 1.5, data: fitted },
].filter((series) => series.data);
const name = `run-${figure.dataset.copies}-copies`;
let plot = null;

// A margin around the points; a factor of two on both sides if all are equal.
function range(u, min, max) {
  const room = max > min ? Math.max((max / min) ** 0.05, 1.1) : 2;
  return [min / room, max * room];
}

const axis = (size, write) => ({ stroke: colour("ink-soft"), font: "12px system-ui, sans-serif", size, grid: { stroke: colour("edge"), width: 1 }, ticks: { stroke: colour("edge") },
  splits: (u, index, min, max) => logTicks(min, max), filter: (u, splits) => splits, values: (u, splits) => splits.map((value) => brief(write(value))) });

function tell(at) {
  const words = at === null || at === undefined ? "" : `${entities[at]}: ${perSecond(rates[at])}, ${count(copies[at])} ${copies[at] === 1 ? "copy" : "copies"}`;
  legend.lastElementChild.textContent = words;
}

function build() {
  plot?.destroy();
  legend.replaceChildren(...SERIES.map((series) => {
    const item = document.createElement("span");
    const key = Object.assign(document.createElement("span"), { className: `key d-inline-block me-1 align-middle ${series.dash ? "key-dashed" : series.points ? "key-dot" : ""}` });
    key.style.background = colour(series.tone);
    item.className = "me-2";
    item.append(key, series.label);
    return item;
  }), Object.assign(document.createElement("span"), { className: "value" }));
  plot = new uPlot({
    width: Math.max(element.clientWidth, 100), height: element.clientHeight, legend: { show: false }, padding: [8, 22, 0, 0],
    scales: { x: { time: false, distr: 3, log: 10, range }, y: { distr: 3, log: 10, range } },
    axes: [axis(34, perSecond), axis(46, sig3)],
    series: [{}, ...SERIES.map((series) => (series.points
      ? { label: series.label, stroke: colour(series.tone), paths: () => null, points: { show: true, size: series.points, fill: colour(series.tone) } }
      : { label: series.label, stroke: colour(series.tone), width: series.width, dash: series.dash && [6, 4], points: { show: false } }))],
    hooks: { setCursor: [(u) => tell(u.cursor.idx)] },
  }, [rates, ...SERIES.map((series) => series.data)], element);
}

figure.addEventListener("click", (event) => {
  const { save } = event.target.dataset;
  if (save === "png") plot.ctx.canvas.toBlob((blob) => saveAs(`${name}.png`, blob));
  if (save === "svg") {
    const drawn = { plot, spec: { series: SERIES }, data: [rates, ...SERIES.map((series) => series.data)], stroke: (series) => colour(series.tone) };
    saveAs(`${name}.svg`, svgOf(drawn, `${figure.querySelector("h3").textContent}, run ${figure.dataset.copies.split("-")[0]}`), "image/svg+xml");
  }
  if (save === "csv") saveAs(`${name}.csv`, toCsv(["entity", "queries_per_s", "copies"], entities.map((entity, i) => [entity, rates[i], copies[i]])));
});
document.addEventListener("themechange", build);
new ResizeObserver(() => plot.setSize({ width: Math.max(element.clientWidth, 100), height: element.clientHeight })).observe(element);
build();
