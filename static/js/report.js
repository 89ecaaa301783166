// A report's charts, from the same shape that the API gives (telemetry/charts.py).
// Replicates are faint marks, the estimate carries its interval, published values are black diamonds, dashed;
// what was simulated is hollow and dotted.
import { brief, colour, count, saveAs, sig3, size, toCsv, us } from "./format.js";

const charts = JSON.parse(document.getElementById("charts").textContent);
const NAMED = new Set(["ring", "full-mesh", "waxman", "central", "structured"]);
const BY_METRIC = { rss_bytes: "ink-soft", pss_bytes: "state-violet", uss_bytes: "state-blue", over_idle_bytes: "state-amber" };
const FORMATS = { "µs": us, kB: (value) => `${sig3(value)}\u202fkB`, bytes: size, "%": (value) => `${sig3(value)}\u202f%` };
const format = (axis) => FORMATS[axis.unit] || ((value) => `${sig3(value)}${axis.unit ? "\u202f" + axis.unit : ""}`);

// The hue is the topology's; metrics drawn together on one chart differ by their line.
function toneOf(series) {
  if (NAMED.has(series.topology)) return colour(`series-${series.topology}`);
  if (series.role === "published") return colour("published");
  return colour(BY_METRIC[series.metric] || "series-structured");
}

const known = (point) => point.y !== null && point.y !== undefined;
const counts = (series) => {
  const n = [...new Set(series.points.filter(known).map((point) => point.n))];
  return n.length === 0 ? "" : n.length === 1 ? `n = ${n[0]}` : `n = ${Math.min(...n)}–${Math.max(...n)}`;
};

function legendName(series) {
  const about = [series.role !== "measured" && !series.name.includes(series.role) ? series.role : "", counts(series)].filter(Boolean);
  return about.length ? `${series.name} (${about.join(", ")})` : series.name;
}

// Series of one chart that share a place on a category axis stand beside each other.
function shift(chart, at) {
  if (!chart.x.categories) return 0;
  const crowded = Math.max(...chart.x.categories.map((_, x) => chart.series.filter((series) => series.points.some((point) => point.x === x)).length), 1);
  return crowded < 2 ? 0 : (at - (chart.series.length - 1) / 2) * Math.min(0.16, 0.6 / chart.series.length);
}

function interval(tone) {
  return (params, api) => {
    const [x, low, high] = [api.value(0), api.value(1), api.value(2)];
    const [left, bottom] = api.coord([x, low]);
    const [, top] = api.coord([x, high]);
    // An interval that runs out of the chart ends without a cap, as a bar that goes on.
    const [lowEnds, highEnds] = [low === api.value(3), high === api.value(4)];
    const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { stroke: tone, lineWidth: 1.5 } });
    return { type: "group", children: [line(left, bottom, left, top),
      ...(lowEnds ? [line(left - 5, bottom, left + 5, bottom)] : []), ...(highEnds ? [line(left - 5, top, left + 5, top)] : [])] };
  };
}

// Published values are black diamonds, dashed; where topologies are told apart, their line and edge have its hue.
const isBeside = (chart, series) => series.role === "published" && chart.mode !== "published" && NAMED.has(series.topology);

function keyTone(chart, series) {
  return series.role === "published" && chart.mode !== "published" ? colour("published") : toneOf(series);
}

function drawn(chart, series, at, limits) {
  const published = series.role === "published";
  const simulated = series.role === "simulated";
  const tone = keyTone(chart, series);
  const hue = toneOf(series);
  const name = legendName(series);
  const moved = shift(chart, at);
  const place = (point) => point.x + moved;
  const estimates = { name, type: "line", symbol: published ? "diamond" : simulated ? "emptyCircle" : "circle", symbolSize: published ? 10 : 7, connectNulls: false,
    showSymbol: series.points.length < 40, z: published ? 4 : 3,
    data: series.points.map((point) => [place(point), known(point) ? point.y : null]),
    itemStyle: isBeside(chart, series) ? { color: tone, borderColor: hue, borderWidth: 2 } : { color: tone }, lineStyle: series.line ? { color: published && NAMED.has(series.topology) ? hue : tone, width: 2, type: published ? "dashed" : simulated || series.metric === "uss_bytes" ? "dotted" : "solid" } : { width: 0, opacity: 0 } };
  const whiskers = { name, type: "custom", renderItem: interval(tone), silent: true, z: 2, encode: { x: 0, y: [1, 2] },
    data: series.points.filter((point) => known(point) && point.low !== null && point.high !== null)
      .map((point) => [place(point), Math.max(point.low, limits.min ?? -Infinity), Math.min(point.high, limits.max ?? Infinity), point.low, point.high]) };
  const replicates = { name, type: "scatter", symbolSize: 5, itemStyle: { color: tone, opacity: 0.35 }, silent: true, z: 1,
    data: series.points.flatMap((point) => (point.replicates || []).filter((y) => y !== null).map((y) => [place(point), y])) };
  return [estimates, whiskers, replicates].filter((one) => one.data.length);
}

// Few replicates have intervals that run far: they widen the axis up to a factor, so that the estimates stay apart.
const FAR = { log: 3, linear: 2 };

function bounds(chart, log) {
  const points = chart.series.flatMap((series) => series.points).filter(known);
  const usable = (value) => value !== null && value !== undefined && (!log || value > 0);
  const near = points.flatMap((point) => [point.y, ...(point.replicates || [])]).filter(usable);
  if (!near.length) return {};
  const [least, most] = [Math.min(...near), Math.max(...near)];
  const low = Math.min(least, ...points.map((point) => point.low).filter(usable).map((value) => (log ? Math.max(value, least / FAR.log) : value)));
  const high = Math.max(most, ...points.map((point) => point.high).filter(usable).map((value) => Math.min(value, most * FAR[log ? "log" : "linear"])));
  if (log) return { min: 10 ** Math.floor(Math.log10(low) + 1e-9), max: 10 ** Math.ceil(Math.log10(high) - 1e-9) };
  const max = points.some((point) => point.high > high) ? { max: round(high) } : {};
  return { min: low < 0 ? undefined : chart.y.zero || low / high < 0.6 ? 0 : undefined, ...max };
}

// The next of 1, 2, 5 times a power of ten: a bound that is a tick of its axis.
function round(value) {
  const decade = 10 ** Math.floor(Math.log10(value));
  return decade * [1, 2, 5, 10].find((step) => step * decade >= value);
}

// Few configurations are named under the axis; many are numbered, as the tables below number them.
const NAMED_UNDER_AXIS = 10;

function axisOf(categories, text, width) {
  const customValues = categories.map((_, x) => x);
  if (categories.length > NAMED_UNDER_AXIS) {
    return { name: "Configuration, by its number in the tables", axisLabel: { ...text, customValues, hideOverlap: true, formatter: (x) => String(Math.round(x) + 1) } };
  }
  return { name: "", axisLabel: { ...text, customValues, hideOverlap: false, formatter: (x) => categories[Math.round(x)] ?? "", width: width / categories.length - 10, overflow: "break", lineHeight: 15 } };
}

function option(chart, log, width) {
  const soft = colour("ink-soft"), edge = colour("edge"), ink = colour("ink");
  const text = { color: soft, fontSize: 12, fontFamily: getComputedStyle(document.body).fontFamily };
  const title = (axis) => ({ name: axis.unit && !["µs"].includes(axis.unit) ? `${axis.label}, ${axis.unit}` : axis.label, nameTextStyle: text });
  const categories = chart.x.categories;
  const lines = { axisLine: { onZero: false, lineStyle: { color: edge } }, splitLine: { lineStyle: { color: edge } } };
  const write = format(chart.y);
  const tick = chart.y.unit === "kB" ? count : (value) => brief(write(value));
  const limits = bounds(chart, log);
  return {
    animation: false,
    aria: { enabled: true },
    textStyle: text,
    grid: { left: 8, right: 16, top: 34, bottom: categories && categories.length <= NAMED_UNDER_AXIS ? 20 : 26, containLabel: true },
    // Drawn on the chart and not as HTML, which would bring style attributes along.
    tooltip: { renderMode: "richText", trigger: "item", backgroundColor: colour("surface-raised"), borderColor: edge, textStyle: { ...text, color: ink },
      formatter: ({ seriesName, value }) => `${seriesName}\n${categories ? categories[Math.round(value[0])] : `${chart.x.label}: ${sig3(value[0])}`}\n${chart.y.label}: ${write(value[1])}` },
    xAxis: { type: "value", ...title(chart.x), nameLocation: "middle", nameGap: 28, ...lines, splitLine: { show: false },
      ...(categories ? { min: -0.5, max: categories.length - 0.5,
        ...axisOf(categories, text, width),
        axisTick: { show: false } } : { axisLabel: text, scale: !chart.x.zero, min: chart.x.zero ? 0 : undefined }) },
    yAxis: { type: log ? "log" : "value", ...title(chart.y), nameTextStyle: { ...text, align: "left" }, nameLocation: "end", ...lines, axisLabel: { ...text, formatter: tick }, ...limits },
    series: chart.shown.flatMap((series) => drawn(chart, series, chart.series.indexOf(series), limits)),
  };
}

class ReportChart {
  constructor(figure) {
    const whole = charts[figure.dataset.reportChart];
    const mode = figure.dataset.mode;
    this.chart = { ...whole, mode, series: mode === "published" ? whole.series.filter((series) => series.role === "published") : whole.series };
    this.name = `${whole.id}${mode === "published" ? "-published" : ""}`;
    // The paper draws linear axes; what was measured here is read on a log axis first.
    this.log = whole.y.log && mode !== "published";
    this.figure = figure;
    this.alone = null;
    this.build();
    this.mark();
    figure.addEventListener("click", (event) => this.press(event.target.dataset));
    document.addEventListener("themechange", () => { this.buildLegend(); this.draw(); });
    new ResizeObserver(() => { this.plot.resize(); this.draw(); }).observe(figure);
  }

  build() {
    this.plot = echarts.init(this.figure.querySelector("[data-plot]"), null, { renderer: "svg" });
    this.buildLegend();
    this.draw();
  }

  buildLegend() {
    this.legend = this.figure.querySelector("[data-legend]");
    this.legend.replaceChildren(...this.chart.series.map((series, at) => {
      const button = Object.assign(document.createElement("button"), { type: "button", title: `Show only ${series.name}; again to show all` });
      const key = Object.assign(document.createElement("span"), { className: `key key-${series.role === "published" ? "diamond" : "dot"}` });
      key.style.background = keyTone(this.chart, series);
      if (isBeside(this.chart, series)) key.style.outline = `2px solid ${toneOf(series)}`;
      button.append(key, legendName(series));
      button.setAttribute("aria-pressed", String(this.alone === null || this.alone === at));
      button.addEventListener("click", () => this.isolate(at));
      return button;
    }));
  }

  // A click on a legend isolates; another on the same one shows all again.
  isolate(at) {
    this.alone = this.alone === at ? null : at;
    this.buildLegend();
    this.draw();
  }

  draw() {
    const shown = this.alone === null ? this.chart.series : [this.chart.series[this.alone]];
    const width = Math.max(this.figure.clientWidth - 120, 200);
    this.plot.setOption(option({ ...this.chart, shown }, this.log, width), true);
  }

  mark() { this.figure.querySelectorAll("[data-scale]").forEach((button) => button.setAttribute("aria-pressed", String((button.dataset.scale === "log") === this.log))); }

  press({ scale, save }) {
    if (scale) { this.log = scale === "log"; this.draw(); this.mark(); }
    if (save === "svg") saveAs(`${this.name}.svg`, this.plot.renderToSVGString(), "image/svg+xml");
    if (save === "png") this.savePng();
    if (save === "csv") this.saveCsv();
  }

  savePng() {
    const { width, height } = this.figure.querySelector("[data-plot]").getBoundingClientRect();
    const canvas = Object.assign(document.createElement("canvas"), { width: width * 2, height: height * 2 });
    const picture = new Image();
    picture.onload = () => {
      const context = canvas.getContext("2d");
      context.fillStyle = colour("surface");
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.drawImage(picture, 0, 0, canvas.width, canvas.height);
      URL.revokeObjectURL(picture.src);
      canvas.toBlob((blob) => saveAs(`${this.name}.png`, blob));
    };
    picture.src = URL.createObjectURL(new Blob([this.plot.renderToSVGString()], { type: "image/svg+xml" }));
  }

  saveCsv() {
    const { x, series } = this.chart;
    const rows = series.flatMap((one) => one.points.map((point) => [one.name, one.role, one.topology, x.categories ? x.categories[point.x] : point.x, point.y, point.low, point.high, point.n]));
    saveAs(`${this.name}.csv`, toCsv(["series", "role", "topology", "x", "y", "low", "high", "n"], rows));
  }
}

// A chart is made when it comes into view: a long report costs nothing until it is read.
const watcher = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => {
  watcher.unobserve(entry.target);
  new ReportChart(entry.target);
}), { rootMargin: "200px" });
document.querySelectorAll("[data-report-chart]").forEach((figure) => watcher.observe(figure));
