// Probes, load and memory of a network: charts of all brokers or of one, refreshed while the page is visible. Each response
// is complete, so a failed request loses nothing. Range and broker are in the address.
import { LiveChart } from "./livechart.js";
import { press, specsOf } from "./run-charts.js";
import { ZoomReset } from "./zoom.js";

const LEAST_WAIT_MS = 2_000, MOST_WAIT_MS = 15_000;
const STEP_MS = { "15m": 1_000, "3h": 10_000, "1d": 60_000, "14d": 600_000 };
const TOPS = { answered: 1.05 };

export class NetworkCharts {
  constructor(box) {
    Object.assign(this, { box, range: box.dataset.range, latest: 0, found: null });
    this.specs = specsOf("", JSON.parse(document.getElementById("network-charts").textContent));
    for (const [name, spec] of Object.entries(this.specs)) Object.assign(spec, { clock: true, ...(TOPS[name] ? { top: TOPS[name] } : {}) });
    this.of = box.querySelector("#course-of");
    this.charts = [...box.querySelectorAll("[data-chart]")].map((figure) => this.make(figure));
    this.resets = this.charts.map(({ figure }) => new ZoomReset(figure.querySelector(".panel-head .actions"), () => this.zoomTo(null)));
    this.of.addEventListener("change", () => { this.address(); this.refresh(); });
    box.addEventListener("click", ({ target }) => {
      if (!target.dataset.range || target === box) return;
      press(target);
      this.range = target.dataset.range;
      this.address();
      this.zoomTo(null);
      this.refresh();
    });
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.refresh(); });
    this.refresh();
  }

  make(figure) {
    const one = { figure, name: figure.dataset.chart, chart: new LiveChart(figure.querySelector("[data-plot]"), this.specs[figure.dataset.chart]) };
    one.chart.onZoom = (range) => this.zoomTo(range);
    figure.addEventListener("click", ({ target }) => {
      const { save, view } = target.dataset;
      const file = `network-${this.box.dataset.network}-${one.name}${this.of.value === "" ? "" : `-broker-${this.of.value}`}-${this.range}`;
      if (save === "svg") one.chart.saveSvg(file, figure.querySelector("h3").textContent);
      if (save === "png") one.chart.savePicture(file);
      if (save === "csv") one.chart.saveData(file);
      if (view) { press(target); one.name = view; one.chart.setSpec(this.specs[view]); this.draw(one); }
    });
    return one;
  }

  // What is shown, so that the page can be shared as it is.
  address() {
    const url = new URL(location);
    for (const [name, value] of [["range", this.range], ["of", this.of.value]]) {
      if (value) url.searchParams.set(name, value); else url.searchParams.delete(name);
    }
    url.hash = "course";
    history.replaceState(history.state, "", url);
  }

  query() { return `?range=${this.range}${this.of.value === "" ? "" : `&broker=${this.of.value}`}`; }

  zoomTo(range) {
    this.charts.forEach(({ chart }) => chart.zoomTo(range));
    this.resets.forEach((reset) => reset.show(range !== null));
  }

  // Of two concurrent requests the later one counts.
  async refresh() {
    clearTimeout(this.timer);
    const turn = ++this.latest, url = this.box.dataset.url + this.query();
    this.box.querySelector("#course-json").href = url;
    try {
      const answer = await fetch(url);
      const found = answer.ok ? await answer.json() : null;
      if (found && turn === this.latest) { this.found = found; this.charts.forEach((one) => this.draw(one)); }
    } catch { /* unavailable: the next response is complete */ }
    const wait = Math.min(Math.max(STEP_MS[this.range], LEAST_WAIT_MS), MOST_WAIT_MS);
    if (turn === this.latest && !document.hidden) this.timer = setTimeout(() => this.refresh(), wait);
  }

  draw({ name, chart }) {
    if (this.found) chart.show([this.found.t, ...this.specs[name].series.map(({ key }) => this.found[key])], []);
  }
}
