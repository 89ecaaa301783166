// Probes, load and memory of a network: charts of all brokers or of one, refreshed while the page is visible. Each response
// is complete, so a failed request loses nothing. Range and broker are in the address.
import { remember } from "./address.js";
import { LiveChart } from "./livechart.js";
import { press, specsOf } from "./run-charts.js";
import { ZoomReset } from "./zoom.js";

const LEAST_WAIT_MS = 2_000, MOST_WAIT_MS = 15_000;
const STEP_MS = { "15m": 1_000, "3h": 10_000, "1d": 60_000, "14d": 600_000 };
const COARSER = { "15m": "3h" }; // drawn in its steps: 900 points a line are a blur
const FINE_S = 300; // up to which a view is drawn in the steps of its own range
const TOPS = { answered: 1.05 };

export class NetworkCharts {
  constructor(box) {
    Object.assign(this, { box, range: box.dataset.range, latest: 0, found: null, known_s: 0 });
    this.specs = specsOf("", JSON.parse(document.getElementById("network-charts").textContent));
    for (const [name, spec] of Object.entries(this.specs)) Object.assign(spec, { clock: true, ...(TOPS[name] ? { top: TOPS[name] } : {}) });
    this.of = box.querySelector("#course-of");
    this.charts = [...box.querySelectorAll("[data-chart]")].map((figure) => this.make(figure));
    this.resets = this.charts.map(({ figure }) => new ZoomReset(figure.querySelector(".panel-head .actions"), () => this.zoomTo(null)));
    this.show(this.zoomed());
    this.of.addEventListener("change", () => { this.address(); this.refresh(); });
    box.addEventListener("click", ({ target }) => {
      if (!target.dataset.range || target === box) return;
      press(target);
      this.range = target.dataset.range;
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
    remember({ range: this.range, of: this.of.value, zoom: this.zoom?.map(Math.round).join("-") }, "course");
  }

  // The zoom of a shared address: `zoom=FROM-TO`, Unix seconds. Once the range no longer reaches as far back, a longer one.
  zoomed() {
    const ends = new URL(location).searchParams.get("zoom")?.match(/^(\d{9,11})-(\d{9,11})$/)?.slice(1).map(Number);
    if (!ends || ends[0] >= ends[1]) return null;
    const age = Date.now() / 1000 - ends[0], isEnough = (button) => Number(button.dataset.coversS) >= age;
    const buttons = [...this.box.querySelectorAll("button[data-range]")], now = buttons.find((button) => button.dataset.range === this.range);
    const chosen = isEnough(now) ? now : buttons.find(isEnough) ?? buttons.at(-1);
    press(chosen);
    this.range = chosen.dataset.range;
    return ends;
  }

  query() { return `?range=${this.drawn()}${this.of.value === "" ? "" : `&broker=${this.of.value}`}`; }

  // The range whose steps are drawn.
  drawn() {
    const span = this.zoom ? this.zoom[1] - this.zoom[0] : this.known_s;
    return span > FINE_S ? COARSER[this.range] ?? this.range : this.range;
  }

  // The end of longer columns that the chosen range covers.
  cut(found) {
    const covers = Number(this.box.querySelector(`button[data-range="${this.range}"]`).dataset.coversS);
    const from = found.t.findIndex((t) => t > found.t.at(-1) - covers);
    return from <= 0 ? found : Object.fromEntries(Object.entries(found).map(([name, column]) => [name, Array.isArray(column) ? column.slice(from) : column]));
  }

  zoomTo(range) {
    const before = this.drawn();
    this.show(range);
    this.address();
    if (this.drawn() !== before) this.refresh();
  }

  show(range) {
    this.zoom = range;
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
      if (found && turn === this.latest && this.take(found)) return;
    } catch { /* unavailable: the next response is complete */ }
    const wait = Math.min(Math.max(STEP_MS[this.range], LEAST_WAIT_MS), MOST_WAIT_MS);
    if (turn === this.latest && !document.hidden) this.timer = setTimeout(() => this.refresh(), wait);
  }

  // Draws it; true if other steps are asked for instead, now that it is known how much there is.
  take(found) {
    const before = this.drawn();
    this.known_s = found.t.length ? found.t.at(-1) - found.t[0] : 0;
    if (this.drawn() !== before) { this.refresh(); return true; }
    this.found = this.cut(found);
    this.charts.forEach((one) => this.draw(one));
    return false;
  }

  draw({ name, chart }) {
    if (this.found) chart.show([this.found.t, ...this.specs[name].series.map(({ key }) => this.found[key])], []);
  }
}
