// Common to all ECharts: a legend of buttons that isolate a series, a scale, and the export of picture and data.
import { colour, saveAs, toCsv } from "./format.js";
import { keyOf } from "./looks.js";
import { ZoomReset, dragToZoom } from "./zoom.js";

// Font names get single quotes, because ECharts writes them unescaped into attributes of the SVG.
export const textStyle = () => ({ color: colour("ink-soft"), fontSize: 12, fontFamily: getComputedStyle(document.body).fontFamily.replaceAll('"', "'") });

// Drawn on the chart, not as HTML, which would need style attributes.
export const tooltip = (formatter) => ({ renderMode: "richText", trigger: "item", confine: true, backgroundColor: colour("surface-raised"),
  borderColor: colour("edge"), textStyle: { ...textStyle(), color: colour("ink") }, formatter });

export const lines = () => ({ axisLine: { onZero: false, lineStyle: { color: colour("edge") } }, splitLine: { lineStyle: { color: colour("edge") } } });

// The mark of simulated or unknown values: a ring, in both themes.
export const ring = (tone) => ({ color: colour("surface"), borderColor: tone, borderWidth: 2 });

// The next 1, 2 or 5 times a power of ten: a bound that is a tick of its axis.
const STEPS = [1, 2, 5, 10];
const LOG_STEPS = [1, 1.5, 2, 3, 5, 7, 10]; // for a log axis, on which 2 to 5 is as long as 1 to 2.5
const decade = (value) => 10 ** Math.floor(Math.log10(value) + 1e-12);
export const above = (value, steps = STEPS) => decade(value) * steps.find((step) => step * decade(value) >= value * (1 - 1e-9));
const below = (value, steps = STEPS) => decade(value) * steps.findLast((step) => step * decade(value) <= value * (1 + 1e-9));

// Ticks of a log axis: enough to read a value, at the roundest numbers.
const LEAST_TICKS = 4;
const ROUND = [[1], [1, 2, 5], [1, 1.5, 2, 3, 5, 7], [1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9]];
const WIDE = 3;
const ROOM = 0.06; // between two ticks, as a share of the axis

export function logTicks(min, max) {
  for (const steps of Math.log10(max / min) > WIDE ? ROUND : ROUND.slice(1)) {
    const ticks = [];
    for (let power = decade(min); power <= max; power *= 10) ticks.push(...steps.map((step) => step * power));
    const within = ticks.filter((tick) => tick >= min * (1 - 1e-9) && tick <= max * (1 + 1e-9));
    if (within.length >= LEAST_TICKS) return within;
  }
  const step = above((max - min) / LEAST_TICKS) / 2;
  return Array.from({ length: 20 }, (_, at) => (Math.ceil(min / step) + at) * step).filter((tick) => tick <= max);
}

const ticked = (min, max, customValues) => ({ min, max, axisLabel: { customValues }, axisTick: { customValues } });

// A log axis between two round numbers; both are ticks if there is room.
export function decades(low, high) {
  const steps = Math.log10(high / low) > WIDE ? STEPS : LOG_STEPS, [min, end] = [below(low, steps), above(high, steps)];
  const max = end > min ? end : min * 10, ticks = logTicks(min, max);
  const hasRoom = (tick) => ticks.every((other) => Math.abs(Math.log(tick / other)) > ROOM * Math.log(max / min));
  return ticked(min, max, [...[min].filter(hasRoom), ...ticks, ...[max].filter(hasRoom)]);
}

// A zoomed axis; a log axis has its own ticks, the ends of a linear one are not labelled, as they are not round.
export const zoomedAxis = ([min, max], log) => (log ? ticked(min, max, logTicks(min, max)) : { min, max, axisLabel: { showMinLabel: false, showMaxLabel: false } });

// Interval bars, all of a series as one path, because browsers are slow with thousands of lines: vertical, or horizontal
// (`lies`) and `below` their rows by that many pixels. Caps are 2 × `half` wide. `rows` are [position, low and high as
// drawn, low and high]. A bar clipped by the chart has no cap.
export function intervals(tone, rows, lies = false, below = 0, half = 5) {
  return (params, api) => {
    if (params.dataIndex) return undefined;
    const place = (at, end) => (lies ? api.coord([end, at]).map((one, axis) => one + axis * below) : api.coord([at, end]));
    const line = ([x1, y1], [x2, y2]) => `M${x1} ${y1}L${x2} ${y2}`;
    const cap = ([x, y]) => (lies ? line([x, y - half], [x, y + half]) : line([x - half, y], [x + half, y]));
    const bars = rows.map(([at, low, high, least, most]) => {
      const [start, end] = [place(at, low), place(at, high)];
      return line(start, end) + (low === least ? cap(start) : "") + (high === most ? cap(end) : "");
    });
    return { type: "path", shape: { pathData: bars.join("") }, style: { stroke: tone, lineWidth: 1.5, fill: "none" } };
  };
}

// The area between the lower and upper ends of points along x, as one polygon. The data of its series are both ends, so
// that the axes include them.
export function band(tone, ends) {
  return (params, api) => {
    if (params.dataIndex) return undefined;
    const points = [...ends.map((point) => api.coord([point.x_low, point.y])), ...[...ends].reverse().map((point) => api.coord([point.x_high, point.y]))];
    return { type: "polygon", shape: { points: points.filter((point) => point.every(Number.isFinite)) }, style: { fill: tone, opacity: 0.16 } };
  };
}

// Lines drawn as one path; missing points leave gaps.
export function paths(tone, dash, lines) {
  const points = lines.flat().filter((point) => point.every(Number.isFinite));
  const end = (of, axis) => points.reduce((most, point) => of(most, point[axis]), points[0][axis]);
  const draw = (line, api) => {
    let [path, pen] = ["", "M"];
    for (const [x, y] of line.map((point) => (point.every(Number.isFinite) ? api.coord(point) : [NaN, NaN]))) {
      if (Number.isFinite(x) && Number.isFinite(y)) path += `${pen}${x} ${y}`;
      pen = Number.isFinite(x) && Number.isFinite(y) ? "L" : "M";
    }
    return path;
  };
  const renderItem = (params, api) => (params.dataIndex ? undefined
    : { type: "path", shape: { pathData: lines.map((line) => draw(line, api)).join("") }, style: { stroke: tone, lineWidth: 1, opacity: 0.6, fill: "none", lineDash: dash } });
  // The extent that the axes must include.
  const data = points.length ? [Math.min, Math.max].map((of) => [end(of, 0), end(of, 1)]) : [];
  return { type: "custom", silent: true, clip: true, encode: { x: 0, y: 1 }, data, renderItem };
}

// A legend wraps; with more keys than this it scrolls.
const MANY_KEYS = 48;

// Subclasses have `keys()` (the legend), `option()` and `table()` (the data as [header, rows]).
export class EChart {
  constructor(figure, name) {
    this.figure = figure;
    this.name = name;
    this.alone = null;
    this.zoomed = null;
    const place = figure.querySelector("[data-plot]");
    this.plot = echarts.init(place, null, { renderer: "svg" });
    this.reset = new ZoomReset(figure.querySelector(".panel-head .actions"), () => this.zoomTo(null));
    if (this.canZoom()) {
      dragToZoom(place, { inside: (point) => this.plot.containPixel({ gridIndex: 0 }, point), select: (from, to) => this.select(from, to), reset: () => this.zoomTo(null) });
    }
  }

  // True for charts with two numeric axes.
  canZoom() { return false; }

  // Zooms to a dragged rectangle, in pixels.
  select(from, to) {
    const [one, other] = [from, to].map((point) => this.plot.convertFromPixel({ gridIndex: 0 }, point));
    const ends = (axis) => [Math.min(one[axis], other[axis]), Math.max(one[axis], other[axis])];
    this.zoomTo({ x: ends(0), y: ends(1) });
  }

  zoomTo(zoomed) {
    this.zoomed = zoomed;
    this.reset.show(zoomed !== null);
    this.draw();
  }

  get width() { return Math.max(this.figure.clientWidth - 120, 200); }

  buildLegend() {
    const keys = this.keys(), legend = this.figure.querySelector("[data-legend]");
    legend.classList.toggle("many", keys.length > MANY_KEYS);
    legend.replaceChildren(this.hint(), ...keys.map(({ words, name, tone, shape, hollow, look }, at) => {
      const button = Object.assign(document.createElement("button"), { type: "button", title: `Show only ${name}. Click again to show all.` });
      const key = look ? keyOf(look) : Object.assign(document.createElement("span"), { className: `key key-${shape}` });
      if (!look && hollow) key.style.boxShadow = `inset 0 0 0 2px ${tone}`;
      else if (!look) key.style.background = tone;
      button.append(key, words);
      button.setAttribute("aria-pressed", String(this.alone === null || this.alone === at));
      button.addEventListener("click", () => this.isolate(at));
      return button;
    }));
  }

  // An element before the legend.
  hint() { return ""; }

  // A click on a key isolates its series; a second click shows all.
  isolate(at) {
    this.alone = this.alone === at ? null : at;
    this.buildLegend();
    this.draw();
  }

  draw() { this.plot.setOption(this.option(), true); }

  redraw() {
    this.buildLegend();
    this.draw();
  }

  resize() {
    this.plot.resize();
    this.draw();
  }

  dispose() {
    this.reset.button.remove();
    this.plot.dispose();
  }

  save(kind) {
    if (kind === "svg") saveAs(`${this.name}.svg`, this.plot.renderToSVGString(), "image/svg+xml");
    if (kind === "png") this.savePng();
    if (kind === "csv") saveAs(`${this.name}.csv`, toCsv(...this.table()));
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
}
