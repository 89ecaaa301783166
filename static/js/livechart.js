// One live chart: lines with gaps, an optional band, labelled vertical marks, a cursor shared by all charts of the page.
import { svgOf } from "./chart-svg.js";
import { UNKNOWN, brief, colour, saveAs, toCsv, writer } from "./format.js";
import { drawMarks as drawLooks, keyOf, markOf } from "./looks.js";
import { HEAD, drawMarks, shadeMarks, withList } from "./marks.js";

const STEPS = [1, 2, 5, 10];
const NAME_HEIGHT = 18;
const LEAST_DRAG = 6;
const LEAST_NAMES = 4;
const CLOCK_SPACE = 72; // of hh:mm:ss
const clock = (t, exact = true) => new Date(t * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false, ...(exact ? { second: "2-digit" } : {}) });
const date = (t) => new Date(t * 1000).toLocaleDateString([], { day: "numeric", month: "short" });
const HALF_A_DAY_S = 43_200;
export const DASHES = { dashed: [6, 4], dotted: [2, 3], dashdot: [9, 3, 2, 3] };

export class LiveChart {
  // spec: {format, log, clock, top, series: [{key, column, label, colour, width, dash, bandTo}]}. Without a cursor the legend
  // shows the newest values, if the chart `follows` its data. Times are seconds of a run, or with `clock` Unix seconds,
  // shown as the time of day; `top` is the end of a linear axis.
  constructor(element, spec, follows = true) {
    this.element = element;
    this.spec = spec;
    this.follows = follows;
    this.log = spec.log || false;
    this.data = [[], ...spec.series.map(() => [])];
    this.marks = [];
    this.chosen = null;
    this.isolated = null;
    this.zoom = null;
    this.format = writer(spec.format);
    this.legend = element.parentElement.querySelector("[data-legend]");
    element.toggleAttribute("data-empty", true);
    this.buildLegend();
    this.build();
    document.addEventListener("themechange", () => { this.buildLegend(); this.build(); });
    new ResizeObserver(() => this.plot.setSize(this.box())).observe(element);
  }

  box() { return { width: Math.max(this.element.clientWidth, 100), height: this.element.clientHeight }; }

  // A mark for each line; a chart with one line, or a band, needs none.
  markOf(at) { return this.spec.series.length > 1 && !this.spec.series[at].bandTo ? markOf(at) : ""; }

  stroke(series) { return series.colour.startsWith("#") ? series.colour : colour(series.colour); }

  buildLegend() {
    if (!this.legend) return;
    this.time = Object.assign(document.createElement("span"), { className: "cursor-time" });
    this.keys = this.spec.series.map((series, at) => {
      const button = document.createElement("button");
      const key = series.bandTo ? Object.assign(document.createElement("span"), { className: "key key-band" })
        : keyOf({ tone: this.stroke(series), dash: DASHES[series.dash], width: series.width ?? 1.5, mark: this.markOf(at) });
      if (series.bandTo) key.style.background = this.stroke(series);
      const value = Object.assign(document.createElement("span"), { className: "value" });
      button.append(key, series.label, value);
      button.type = "button";
      button.setAttribute("aria-pressed", String(this.isShown(at)));
      button.title = `Show only ${series.label}. Click again to show all.`;
      button.addEventListener("click", () => this.isolate(at));
      return button;
    });
    this.legend.replaceChildren(...this.keys, this.time);
    this.readout(null);
  }

  isolate(at) {
    this.isolated = this.isolated === at ? null : at;
    this.spec.series.forEach((series, i) => {
      this.plot.setSeries(i + 1, { show: this.isShown(i) });
      this.keys[i].setAttribute("aria-pressed", String(this.isShown(i)));
    });
  }

  isShown(at) { return this.isolated === null || this.isolated === at; }

  readout(at) {
    const nowhere = at === null || at === undefined;
    this.time.textContent = nowhere ? "" : this.spec.clock ? `at ${this.instant(at)}` : `at ${this.data[0][at]}\u202fs`;
    this.spec.series.forEach((series, i) => {
      const value = nowhere ? this.data[i + 1].findLast((one) => one !== null && one !== undefined) : this.data[i + 1][at];
      const text = value === null || value === undefined ? UNKNOWN : this.format(value);
      const words = nowhere && !this.follows ? "" : text, shown = this.keys[i].lastElementChild;
      if (shown.textContent !== words) shown.textContent = words;
    });
  }

  // The time of day; with its date where the data are of several days.
  instant(at) {
    const times = this.data[0], t = times[at];
    return times.at(-1) - times[0] > 2 * HALF_A_DAY_S ? `${date(t)} ${clock(t, false)}` : clock(t);
  }

  build() {
    this.plot?.destroy();
    const { spec } = this;
    const soft = colour("ink-soft"), edge = colour("edge");
    const font = "12px system-ui, sans-serif";
    const bands = spec.series.flatMap((series, i) => (series.bandTo
      ? [{ series: [i + 1, spec.series.findIndex((other) => other.key === series.bandTo) + 1], fill: this.stroke(series) + "38" }] : []));
    this.plot = new uPlot({
      ...this.box(),
      legend: { show: false },
      padding: [HEAD, spec.clock ? 30 : 22, 0, 0],
      cursor: { sync: { key: "run" }, points: { size: 5 }, drag: { x: true, y: false, setScale: false }, bind: { dblclick: () => () => { this.onZoom?.(null); return null; } } },
      scales: { x: { time: Boolean(spec.clock), range: (u, min, max) => this.zoom || [min, max] }, y: this.log ? { distr: 3, log: 10, range: (u, min, max) => this.logRange(min, max) } : { range: (u, min, max) => this.linearRange(min, max) } },
      axes: [
        { stroke: soft, font, size: 34, grid: { stroke: edge, width: 1 }, ticks: { stroke: edge }, ...(spec.clock ? { space: CLOCK_SPACE } : {}), values: (u, splits, axis, space, apart) => splits.map((t) => (!spec.clock ? `${t} s` : apart < HALF_A_DAY_S ? clock(t, apart < 60) : date(t))) },
        { stroke: soft, font, size: 66, grid: { stroke: edge, width: 1 }, ticks: { stroke: edge },
          ...(this.log ? { filter: this.named } : {}), values: (u, splits) => splits.map((y) => (y === null ? "" : brief(this.format(y)))) },
      ],
      series: [{}, ...spec.series.map((series, at) => ({
        show: this.isShown(at), label: series.label, stroke: this.stroke(series), width: series.width ?? 1.5, dash: DASHES[series.dash], spanGaps: false,
        points: { show: (u, seriesAt) => this.alone(seriesAt), size: 4 } }))],
      bands,
      hooks: { drawAxes: [(u) => shadeMarks(u, this.marks)], draw: [(u) => this.drawLooks(u), (u) => drawMarks(u, this.marks, this.chosen)], setSelect: [(u) => this.selected(u)], setCursor: [(u) => this.readout(u.cursor.idx)] },
    }, this.data, this.element);
  }

  drawLooks(u) {
    drawLooks(u, this.spec.series.map((series, at) => ({ mark: this.markOf(at), tone: this.stroke(series), values: this.data[at + 1], shown: this.isShown(at) })));
  }

  // The dragged time range is shown by all charts of the page (`onZoom`).
  selected(u) {
    const { left, width } = u.select;
    if (width < LEAST_DRAG) return;
    this.onZoom?.([u.posToVal(left, "x"), u.posToVal(left + width, "x")]);
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  }

  // [from, to] in seconds; null shows all. New data keep it.
  zoomTo(range) {
    this.zoom = range;
    this.plot.setData(this.data);
  }

  // Too few points for a visible line are drawn as points.
  alone(at) { return this.data[at].filter((value) => value !== null && value !== undefined).length < 3; }

  logRange(min, max) {
    if (!(min > 0) || !(max > 0)) return [100, 100_000];
    const decade = (value) => 10 ** Math.floor(Math.log10(value));
    const low = decade(min) * STEPS.findLast((step) => step * decade(min) <= min * 1.0001);
    const high = decade(max) * STEPS.find((step) => step * decade(max) >= max);
    return [low, Math.max(high, low * 5)];
  }

  linearRange(min, max) { return [min < 0 ? min * 1.1 : 0, this.spec.top ?? (max > 0 ? max * 1.1 : 1)]; }

  // Labels of a log axis: its ends, then powers of ten, then 2 and 5 times these, as they fit; if that is too few to read
  // a value, also the numbers between.
  named(u, splits) {
    const { min, max } = u.scales.y;
    const step = (value) => STEPS.find((one) => Math.abs(value / 10 ** Math.floor(Math.log10(value) + 1e-9) - one) < 1e-6);
    const rank = (value) => ([min, max].some((end) => Math.abs(value / end - 1) < 1e-6) ? 0 : step(value) ?? STEPS.at(-1) + 1);
    const found = [];
    for (const value of [...splits].sort((one, other) => rank(one) - rank(other))) {
      if (!step(value) && found.length >= LEAST_NAMES) break;
      if (found.every((other) => Math.abs(u.valToPos(value, "y") - u.valToPos(other, "y")) >= NAME_HEIGHT)) found.push(value);
    }
    return splits.map((value) => (found.includes(value) ? value : null));
  }

  setLog(on) { this.log = on; this.build(); }

  // Replaces the series; `show` then sets their data.
  setSpec(spec) {
    Object.assign(this, { spec, format: writer(spec.format), log: spec.log || false, isolated: null, data: [[], ...spec.series.map(() => [])] });
    this.buildLegend();
    this.build();
  }

  show(data, marks) {
    this.data = data;
    this.marks = marks;
    this.element.toggleAttribute("data-empty", data.slice(1).every((values) => values.every((value) => value === null || value === undefined)));
    this.plot.setData(data);
    this.readout(this.plot.cursor.idx);
  }

  // Highlights a mark by its number and moves the cursor there; null clears both.
  choose(number) {
    this.chosen = number;
    const mark = this.marks[number - 1];
    this.plot.setCursor({ left: mark ? this.plot.valToPos(mark.at_s, "x") : -10, top: mark ? 0 : -10 });
    this.plot.redraw(false);
  }

  // Moves the cursor to a second of the run; null hides it.
  pointAt(second) {
    this.plot.setCursor(second === null ? { left: -10, top: -10 } : { left: this.plot.valToPos(second, "x"), top: 0 }, true);
  }

  savePicture(name) { withList(this.plot.ctx.canvas, this.marks).toBlob((blob) => saveAs(`${name}.png`, blob)); }

  saveSvg(name, title) {
    const { plot, spec, data, marks, isolated } = this;
    saveAs(`${name}.svg`, svgOf({ plot, spec, data, marks, isolated, stroke: (series) => this.stroke(series) }, title), "image/svg+xml");
  }

  saveData(name) {
    const rows = this.data[0].map((t, i) => [t, ...this.spec.series.map((_, s) => this.data[s + 1][i])]);
    saveAs(`${name}.csv`, toCsv([this.spec.clock ? "unix_s" : "t_s", ...this.spec.series.map((series) => series.column || series.key)], rows));
  }
}
