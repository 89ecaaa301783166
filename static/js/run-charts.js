// The live charts of a run: their series and buttons. All share one cursor.
import { colour } from "./format.js";
import { LiveChart } from "./livechart.js";
import { ZoomReset } from "./zoom.js";

const UNITS = { us: "_us", perSecond: "_per_s" }; // in the names of columns of a CSV file

// All views of all charts, by name; the system declares them (telemetry/charts/live.py).
export function specsOf(kind, charts) {
  const main = colour(`series-${kind}`) ? `series-${kind}` : "series-custom";
  const named = (column, format) => (column.endsWith(UNITS[format] ?? "") ? column : column + UNITS[format]);
  const line = ({ column, label, colour: own, width, dash, band_to: bandTo }, format) => ({
    key: column, column: named(column, format), label, colour: own === "main" ? main : own, width, ...(dash ? { dash } : {}), ...(bandTo ? { bandTo } : {}) });
  const views = Object.assign({}, ...Object.values(charts));
  return Object.fromEntries(Object.entries(views).map(([name, { lines, ...view }]) => [name, { ...view, series: lines.map((one) => line(one, view.format)) }]));
}

export const press = (pressed) => pressed.parentElement.querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", String(button === pressed)));

export class RunCharts {
  constructor(live) {
    this.specs = specsOf(live.kind, live.charts);
    this.shown = [...document.querySelectorAll("[data-chart]")].map((figure) => this.make(figure, live));
    this.series = null;
    this.marks = [];
    this.resets = this.shown.map(({ figure }) => new ZoomReset(figure.querySelector(".panel-head .actions"), () => this.zoomTo(null)));
  }

  // All charts share the time axis: zooming one zooms all.
  zoomTo(range) {
    this.shown.forEach(({ chart }) => chart.zoomTo(range));
    this.resets.forEach((reset) => reset.show(range !== null));
  }

  make(figure, live) {
    const one = { figure, spec: figure.dataset.chart, chart: new LiveChart(figure.querySelector("[data-plot]"), this.specs[figure.dataset.chart], !live.ended) };
    one.chart.onZoom = (range) => this.zoomTo(range);
    figure.addEventListener("click", ({ target }) => {
      const { scale, save, view } = target.dataset;
      const name = `run-${live.run}-${live.engine === "simulated" ? "simulated-" : ""}${one.spec}`;
      if (save === "png") one.chart.savePicture(name);
      if (save === "svg") one.chart.saveSvg(name, `${figure.querySelector("h2").textContent}, run ${live.run}`);
      if (save === "csv") one.chart.saveData(name);
      if (scale) { press(target); one.chart.setLog(scale === "log"); }
      if (view) { press(target); one.spec = view; one.chart.setSpec(this.specs[view]); this.draw(one); }
    });
    return one;
  }

  // The work of showing these series, one function for each chart.
  parts(series, marks, isOver) {
    this.marks = marks;
    if (series?.t?.length) this.series = series;
    // A run may lack some data: a simulated one without a memory model.
    const sayEnded = () => document.querySelectorAll("[data-plot][data-empty]").forEach((plot) => plot.setAttribute("data-empty", "ended"));
    return [...this.shown.map((one) => () => this.draw(one)), ...(isOver ? [sayEnded] : [])];
  }

  draw({ spec, chart }) {
    const { series } = this;
    if (series) chart.show([series.t, ...this.specs[spec].series.map(({ key }) => series[key] || series.t.map(() => null))], this.marks);
  }

  // No more data will arrive: legends show only the values at the cursor.
  rest() { this.shown.forEach(({ chart }) => { chart.follows = false; }); }

  // Moves the cursor to a mark by its number, or to a second of the run; null hides it.
  choose(number) { this.shown.forEach(({ chart }) => chart.choose(number)); }

  pointAt(second) { this.shown.forEach(({ chart }) => chart.pointAt(second)); }
}
