// Charts of estimates with intervals, described by telemetry/charts/charts.py: in reports and comparisons.
// Replicates are faint marks, the estimate has its interval, published values are black diamonds with dashed lines,
// simulated values are hollow. Each series has its own mark and dash (looks.js).
import { above, band, decades, EChart, intervals, lines, paths, ring, textStyle, tooltip, zoomedAxis } from "./echart.js";
import { brief, colour, sig3, size, us } from "./format.js";
import { lookOf } from "./looks.js";

const BY_METRIC = { rss_bytes: "ink-soft", pss_bytes: "state-violet", uss_bytes: "state-blue", over_idle_bytes: "state-amber" };
const FORMATS = { "µs": us, ms: (value) => us(value * 1000), kB: (value) => size(value * 1000), bytes: size, "%": (value) => `${sig3(value)}\u202f%`, "/s": (value) => `${sig3(value)}/s` };
export const format = (axis) => FORMATS[axis.unit] || ((value) => `${sig3(value)}${axis.unit ? "\u202f" + axis.unit : ""}`);
const SAID_BY_VALUES = ["µs", "ms", "kB", "bytes", "%", "/s"];
const ticks = (axis) => (SAID_BY_VALUES.includes(axis.unit) ? format(axis) : sig3); // a unit stands at the values or in the title
export const axisTitle = (axis) => (axis.unit && !SAID_BY_VALUES.includes(axis.unit) ? `${axis.label}, ${axis.unit}` : axis.label);

// The hue is that of the topology or strategy; metrics on one chart differ by their line. Series without a hue of their
// own use the next spare colour.
const isNamed = (series) => Boolean(series.topology && colour(`series-${series.topology}`));
const OTHERS = 8;

function toneOf(chart, series) {
  if (isNamed(series)) return colour(`series-${series.topology}`);
  if (series.role === "published") return colour("published");
  if (BY_METRIC[series.metric]) return colour(BY_METRIC[series.metric]);
  const unnamed = chart.series.filter((one) => one.role !== "published" && !isNamed(one) && !BY_METRIC[one.metric]);
  return colour(`other-${(unnamed.indexOf(series) % OTHERS) + 1}`) || colour("series-structured");
}

// The index of a series among those with the same hue and metric, or without a hue of their own.
function turnOf(chart, series) {
  const isSame = (one) => one.role !== "published" && one.metric === series.metric && (isNamed(series) ? one.topology === series.topology : !isNamed(one));
  return Math.max(chart.series.filter(isSame).indexOf(series), 0);
}

const looksLike = (chart, series) => lookOf(series, turnOf(chart, series));

const known = (point) => point.y !== null && point.y !== undefined;
const counts = (series) => {
  const n = [...new Set(series.points.filter(known).map((point) => point.n))];
  return n.length === 0 ? "" : n.length === 1 ? `n = ${n[0]}` : `n = ${Math.min(...n)}–${Math.max(...n)}`;
};

// Whether a series of a chart with a band has one.
const isBanded = (series) => series.points.some((point) => known(point) && Number.isFinite(point.x_low));

function legendName(chart, series) {
  const about = [series.role !== "measured" && !series.name.includes(series.role) ? series.role : "", counts(series), chart.band && (isBanded(series) ? `band: ${chart.band}` : "no band")].filter(Boolean);
  return about.length ? `${series.name} (${about.join(", ")})` : series.name;
}

// Series with common x values are dodged by this many pixels, so that no interval covers another; published values stay
// at their x.
const NEXT_PX = 9, SPREAD_PX = 36, OF_CATEGORY = 0.6, CAP_PX = 5;
const CURVE = 12; // of a line with more points only the intervals are dodged

function dodges(chart, shown, width) {
  const side = shown.filter((series) => series.role !== "published");
  const places = new Map();
  for (const series of side) for (const point of series.points) places.set(point.x, (places.get(point.x) || 0) + 1);
  const crowded = Math.max(0, ...places.values());
  if (crowded < 2) return { step: 0, reach: 0, of: () => 0, cap: CAP_PX };
  const step = chart.x.categories ? Math.min(16, (OF_CATEGORY * width) / chart.x.categories.length / side.length) : Math.min(NEXT_PX, SPREAD_PX / side.length);
  return { step, reach: (step * side.length) / 2, of: (series) => (side.includes(series) ? (side.indexOf(series) - (side.length - 1) / 2) * step : 0), cap: Math.max(Math.min(CAP_PX, step / 2 - 0.5), 1) };
}

// An x value shifted right by some pixels; an approximate axis width suffices.
const aside = ([low, high], log, width) => (log ? (x, px) => x * (high / low) ** (px / width) : (x, px) => x + (px * (high - low || 1)) / width);

// The ends of the x axis: its own, else those of the data; the caller adds room for dodged series.
function endsOf(chart, sides) {
  if (chart.x.categories) return [-0.5, chart.x.categories.length - 0.5];
  if (sides.min !== undefined) return [sides.min, sides.max];
  const xs = chart.series.flatMap((series) => series.points.map((point) => point.x));
  return [chart.x.zero ? Math.min(0, ...xs) : Math.min(...xs), Math.max(...xs)];
}

// Published values are black diamonds with dashed lines; if hues show topologies, their line and edge have that hue.
const hasHueEdge = (chart, series) => series.role === "published" && chart.mode !== "published" && isNamed(series);

function keyTone(chart, series) {
  return series.role === "published" && chart.mode !== "published" ? colour("published") : toneOf(chart, series);
}

// Overlapping marks are unreadable and slow to draw: many replicates are reduced to the interval, many lines to the line,
// until one is isolated.
const MANY_LINES = 24;
const joins = (series) => series.line && series.role !== "published"; // published lines stay separate
const isCrowded = (all) => all.filter(joins).length > MANY_LINES;
const MOST_REPLICATES = 2_000;
const tooMany = (chart) => chart.series.reduce((sum, series) => sum + series.points.reduce((inner, point) => inner + (point.replicates?.length || 0), 0), 0) > MOST_REPLICATES;

const typeOf = (chart, series) => { const { dash } = looksLike(chart, series); return dash.length ? dash : "solid"; };
const lineTone = (chart, series) => (series.role === "published" && isNamed(series) ? toneOf(chart, series) : keyTone(chart, series));

// Hundreds of lines: those of the same colour and dash are drawn as one path.
function together(chart, all) {
  const byLook = new Map();
  for (const series of all) {
    const look = [lineTone(chart, series), typeOf(chart, series)];
    const key = String(look);
    if (!byLook.has(key)) byLook.set(key, [look, []]);
    byLook.get(key)[1].push(series.points.map((point) => [point.x, known(point) ? point.y : NaN]));
  }
  return [...byLook.values()].map(([[tone, type], lines]) => paths(tone, type === "solid" ? null : type, lines));
}

function drawn(chart, series, limits, place, cap) {
  const published = series.role === "published";
  const simulated = series.role === "simulated";
  const [tone, hue, name, { mark }] = [keyTone(chart, series), toneOf(chart, series), legendName(chart, series), looksLike(chart, series)];
  const own = series.line && series.points.length > CURVE ? (point) => point.x : place;
  const estimates = { name, type: "line", symbol: `path://${mark}`, symbolSize: published ? 11 : 9, connectNulls: false, clip: true,
    showSymbol: !series.line || series.points.length < 40, z: published ? 4 : 3,
    data: series.points.map((point) => ({ value: [own(point), known(point) ? point.y : null], point })),
    itemStyle: hasHueEdge(chart, series) ? { color: tone, borderColor: hue, borderWidth: 2 } : simulated ? ring(tone) : { color: tone }, lineStyle: series.line ? { color: lineTone(chart, series), width: 2, type: typeOf(chart, series) } : { width: 0, opacity: 0 } };
  const ranges = series.points.filter((point) => known(point) && point.low !== null && point.high !== null)
    .map((point) => [place(point), Math.max(point.low, limits.min ?? -Infinity), Math.min(point.high, limits.max ?? Infinity), point.low, point.high]);
  const whiskers = { name, type: "custom", renderItem: intervals(tone, ranges, false, 0, cap), silent: true, clip: true, z: 2, encode: { x: 0, y: [1, 2] }, data: ranges };
  const ends = series.points.filter((point) => known(point) && Number.isFinite(point.x_low) && Number.isFinite(point.x_high));
  const area = { name, type: "custom", renderItem: band(tone, ends), silent: true, clip: true, z: 1, encode: { x: 0, y: 1 },
    data: ends.flatMap((point) => [[point.x_low, point.y], [point.x_high, point.y]]) };
  const replicates = { name, type: "scatter", symbolSize: 5, itemStyle: { color: tone, opacity: 0.35 }, silent: true, z: 1,
    data: (tooMany(chart) ? [] : series.points).flatMap((point) => (point.replicates || []).filter((y) => y !== null).map((y) => [place(point), y])) };
  return [estimates, whiskers, area, replicates].filter((one) => one.data.length);
}

// Few replicates have wide intervals: these extend the axis only up to a factor, so that the estimates stay separate.
const FAR = { log: 3, linear: 2 };

function bounds(chart, log) {
  const points = chart.series.flatMap((series) => series.points).filter(known);
  const usable = (value) => value !== null && value !== undefined && (!log || value > 0);
  const near = points.flatMap((point) => [point.y, ...(point.replicates || [])]).filter(usable);
  if (!near.length) return {};
  const [least, most] = [Math.min(...near), Math.max(...near)];
  const low = Math.min(least, ...points.map((point) => point.low).filter(usable).map((value) => (log ? Math.max(value, least / FAR.log) : value)));
  const high = Math.max(most, ...points.map((point) => point.high).filter(usable).map((value) => Math.min(value, most * FAR[log ? "log" : "linear"])));
  if (log) return decades(low, high);
  const max = points.some((point) => point.high > high) ? { max: above(high) } : {};
  return { min: low < 0 ? undefined : chart.y.zero || low / high < 0.6 ? 0 : undefined, ...max };
}

// Few configurations are named under the axis; many, or those with names that do not fit, have the numbers of the tables
// below. Values of a parameter have no numbers: if they do not fit side by side, they are rotated.
const NAMED_UNDER_AXIS = 10;
const ROOM = 80, LINES = 3, LETTER = 6.5; // pixels, lines, pixels
const roomOf = (categories, width) => width / categories.length - 10;

// Whether each name fits below its tick, in few lines and with no word broken.
function haveRoom(categories, width) {
  const letters = roomOf(categories, width) / LETTER;
  return categories.every((name) => name.length <= LINES * letters && name.split(" ").every((word) => word.length <= letters));
}

const areNamed = (chart) => chart.told || chart.x.named;
const areNumbered = (chart, width) => !areNamed(chart) && (chart.x.categories.length > NAMED_UNDER_AXIS || !haveRoom(chart.x.categories, width));

function valuesOf(x, text, width) {
  const label = { ...text, customValues: x.categories.map((_, at) => at), hideOverlap: x.categories.length > NAMED_UNDER_AXIS, formatter: (at) => x.categories[Math.round(at)] ?? "" };
  const room = roomOf(x.categories, width);
  if (room >= ROOM && haveRoom(x.categories, width)) return { name: "", axisLabel: { ...label, width: room, overflow: "break", lineHeight: 15 } };
  return { name: "", axisLabel: { ...label, rotate: 40, width: 110, overflow: "truncate" } };
}

function configurationsOf(chart, text, width) {
  const { categories } = chart.x;
  const customValues = categories.map((_, x) => x);
  if (areNumbered(chart, width)) {
    return { name: "Configuration (number in the tables)", axisLabel: { ...text, customValues, hideOverlap: true, formatter: (x) => String(Math.round(x) + 1) } };
  }
  return { name: "", axisLabel: { ...text, customValues, hideOverlap: false, formatter: (x) => categories[Math.round(x)] ?? "", width: roomOf(categories, width), overflow: "break", lineHeight: 15 } };
}

// The tooltip's line for a point's interval and number of replicates.
function about(point, write, across) {
  if (point.n === undefined) return "";
  if (Number.isFinite(point.x_low)) return `\n${across(point.x_low)} to ${across(point.x_high)} over the replicates, n = ${point.n}`;
  const range = point.low === null || point.low === undefined ? "" : `95 % interval ${write(point.low)} to ${write(point.high)}, `;
  return `\n${range}n = ${point.n}`;
}

function option(chart, log, width, shown, zoomed) {
  const text = textStyle();
  const title = (axis) => ({ name: axisTitle(axis), nameTextStyle: text });
  const categories = chart.x.categories;
  const write = format(chart.y);
  const across = format(chart.x);
  const tick = (value) => (value === 0 ? "0" : brief(ticks(chart.y)(value)));
  const logs = { y: log && chart.y.log, x: log && chart.x.log };
  const limits = zoomed ? zoomedAxis(zoomed.y, logs.y) : bounds(chart, logs.y);
  const across_all = chart.series.flatMap((series) => series.points.flatMap((point) => [point.x, point.x_low, point.x_high])).filter((x) => x > 0);
  const sides = zoomed ? zoomedAxis(zoomed.x, logs.x) : logs.x && across_all.length ? decades(Math.min(...across_all), Math.max(...across_all)) : {};
  const isCrowd = isCrowded(shown);
  const dodged = dodges(chart, isCrowd ? [] : shown, width), ends = endsOf(chart, sides), move = aside(ends, logs.x, width);
  if (dodged.step && !categories && !zoomed) Object.assign(sides, { min: move(ends[0], -dodged.reach), max: move(ends[1], dodged.reach), axisLabel: sides.axisLabel || { showMinLabel: false, showMaxLabel: false } });
  const at = (series) => (point) => (dodged.step ? move(point.x, dodged.of(series)) : point.x);
  const place = (x) => (categories ? categories[Math.round(x)] : `${chart.x.label}: ${across(x)}`);
  return {
    animation: false,
    aria: { enabled: true },
    textStyle: text,
    grid: { left: 8, right: 20, top: 34, bottom: categories && !areNumbered(chart, width) ? 20 : 26, containLabel: true },
    tooltip: tooltip(({ seriesName, value, data }) => `${seriesName}\n${place(data.point ? data.point.x : value[0])}\n${chart.y.label}: ${write(value[1])}${data.point ? about(data.point, write, across) : ""}`),
    xAxis: { type: logs.x ? "log" : "value", ...title(chart.x), nameLocation: "middle", nameGap: 28, ...lines(), splitLine: { show: false },
      ...(categories ? { min: -0.5, max: categories.length - 0.5,
        ...(areNamed(chart) ? valuesOf(chart.x, text, width) : configurationsOf(chart, text, width)),
        axisTick: { show: false }, ...(zoomed ? { min: zoomed.x[0], max: zoomed.x[1] } : {}) } : { ...sides, axisLabel: { ...text, hideOverlap: true, ...sides.axisLabel, ...(chart.x.unit ? { formatter: (value) => brief(ticks(chart.x)(value)) } : {}) }, scale: !chart.x.zero, ...(chart.x.zero && sides.min === undefined ? { min: 0 } : {}) }) },
    yAxis: { type: logs.y ? "log" : "value", ...title(chart.y), nameTextStyle: { ...text, align: "left" }, nameLocation: "end", ...lines(), ...limits, axisLabel: { ...text, ...limits.axisLabel, formatter: tick } },
    series: [...(isCrowd ? together(chart, shown.filter(joins)) : []),
      ...shown.filter((series) => !(isCrowd && joins(series))).flatMap((series) => drawn(chart, series, limits, at(series), dodged.cap))],
  };
}

// `chart.mode`: "published" draws a figure of the paper as it is printed. `chart.told`: lines of one hue differ by dash.
export class EstimateChart extends EChart {
  constructor(figure, chart, log, name = chart.id) {
    super(figure, name);
    this.chart = chart;
    this.log = log;
    this.redraw();
  }

  canZoom() { return true; }

  keys() {
    return this.chart.series.map((series) => ({ words: legendName(this.chart, series), name: series.name, look: { ...looksLike(this.chart, series), tone: keyTone(this.chart, series),
      edge: hasHueEdge(this.chart, series) ? toneOf(this.chart, series) : "", hollow: series.role === "simulated", line: series.line } }));
  }

  hint() {
    return isCrowded(this.chart.series) ? Object.assign(document.createElement("p"), { className: "soft hint", textContent: `${this.chart.series.filter(joins).length} lines, drawn without markers. Select one in the legend to show it alone, with markers.` }) : "";
  }

  option() {
    const shown = this.alone === null ? this.chart.series : [this.chart.series[this.alone]];
    return option(this.chart, this.log, this.width, shown, this.zoomed);
  }

  table() {
    const { x, series } = this.chart;
    // Low and high of a band are x values.
    const [low, high] = this.chart.band ? ["x_low", "x_high"] : ["low", "high"];
    const rows = series.flatMap((one) => one.points.map((point) => [one.name, one.role, one.topology, x.categories ? x.categories[point.x] : point.x, point.y, point[low], point[high], point.n]));
    return [["series", "role", "topology", "x", "y", low, high, "n"], rows];
  }
}
