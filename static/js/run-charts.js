// The live charts of a run: their series and buttons. All share one cursor.
import { colour } from "./format.js";
import { LiveChart } from "./livechart.js";
import { ZoomReset } from "./zoom.js";

function specs(kind) {
  const main = colour(`series-${kind}`) ? `series-${kind}` : "series-custom";
  return {
    latency: { format: "us", log: true, series: [
      { key: "p50", column: "p50_us", label: "p50", colour: main, width: 2.5 },
      { key: "p95", column: "p95_us", label: "p50–p95", colour: main, width: 0, bandTo: "p50" },
      { key: "p99", column: "p99_us", label: "p99", colour: main, width: 1.5, dash: "dotted" },
      { key: "mean", column: "mean_us", label: "mean", colour: "ink-soft", width: 1, dash: "dashed" }] },
    outcomes: { format: "perSecond", series: [
      { key: "answered", column: "answered_per_s", label: "answered", colour: "state-blue", width: 2 },
      { key: "not_found", column: "not_found_per_s", label: "not found", colour: "state-amber", width: 1.5, dash: "dashed" },
      { key: "timed_out", column: "timed_out_per_s", label: "timed out", colour: "state-red", width: 1.5, dash: "dotted" },
      { key: "refused", column: "refused_per_s", label: "refused", colour: "state-slate", width: 1.5, dash: "dashdot" }] },
    updates: { format: "perSecond", series: [{ key: "updates", column: "updates_per_s", label: "updates stored", colour: "state-violet", width: 2 }] },
    memory: { format: "size", series: [
      { key: "rss_bytes", column: "rss_bytes", label: "RSS", colour: "ink-soft", width: 1.5, dash: "dashed" },
      { key: "pss_bytes", column: "pss_bytes", label: "PSS", colour: "state-violet", width: 1.5, dash: "dotted" },
      { key: "uss_bytes", column: "uss_bytes", label: "USS", colour: main, width: 2 }] },
    added: { format: "size", series: [{ key: "over_idle_bytes", column: "over_idle_bytes", label: "added over idle", colour: main, width: 2 }] },
    cores: { format: "sig3", series: [
      { key: "broker_cores", column: "broker_cores", label: "all brokers", colour: main, width: 2 },
      { key: "client_cores", column: "client_cores", label: "load generators", colour: "ink-soft", width: 1.5, dash: "dashed" }] },
  };
}

const press = (pressed) => pressed.parentElement.querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", String(button === pressed)));

export class RunCharts {
  constructor(live) {
    this.specs = specs(live.kind);
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
