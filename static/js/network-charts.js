// Probes, load and memory of a network: four charts of all brokers or of one, refreshed each step while the page is
// visible. Each response is complete, so a failed request loses nothing.
import { LiveChart } from "./livechart.js";
import { ZoomReset } from "./zoom.js";

const SPECS = {
  probes: { format: "us", log: true, clock: true, series: [
    { key: "p50_us", label: "p50", colour: "accent", width: 2.5 },
    { key: "p95_us", label: "p95", colour: "state-violet", width: 1.5, dash: "dashed" }] },
  answered: { format: "percent", clock: true, top: 1.05, series: [{ key: "share", label: "answered", colour: "state-green", width: 2 }] },
  load: { format: "perSecond", clock: true, series: [{ key: "load_per_s", label: "incoming messages", colour: "accent", width: 2 }] },
  memory: { format: "size", clock: true, series: [{ key: "private_bytes", label: "private memory", colour: "accent", width: 2 }] },
};
const MOST_WAIT_MS = 15_000;

export class NetworkCharts {
  constructor(box) {
    Object.assign(this, { box, step: 5, latest: 0 });
    this.of = box.querySelector("#course-of");
    this.charts = [...box.querySelectorAll("[data-chart]")].map((figure) => this.make(figure));
    this.resets = this.charts.map(({ figure }) => new ZoomReset(figure.querySelector(".panel-head .actions"), () => this.zoomTo(null)));
    this.of.addEventListener("change", () => this.refresh());
    box.addEventListener("click", ({ target }) => {
      if (!target.dataset.step) return;
      target.parentElement.querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", String(button === target)));
      this.step = Number(target.dataset.step);
      this.zoomTo(null);
      this.refresh();
    });
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.refresh(); });
    this.refresh();
  }

  make(figure) {
    const name = figure.dataset.chart, chart = new LiveChart(figure.querySelector("[data-plot]"), SPECS[name]);
    chart.onZoom = (range) => this.zoomTo(range);
    figure.addEventListener("click", ({ target }) => {
      const file = `network-${this.box.dataset.network}-${name}${this.of.value === "" ? "" : `-broker-${this.of.value}`}`;
      if (target.dataset.save === "svg") chart.saveSvg(file, figure.querySelector("h3").textContent);
      if (target.dataset.save === "png") chart.savePicture(file);
      if (target.dataset.save === "csv") chart.saveData(file);
    });
    return { figure, name, chart };
  }

  zoomTo(range) {
    this.charts.forEach(({ chart }) => chart.zoomTo(range));
    this.resets.forEach((reset) => reset.show(range !== null));
  }

  // Of two concurrent requests the later one counts.
  async refresh() {
    clearTimeout(this.timer);
    const turn = ++this.latest;
    try {
      const answer = await fetch(`${this.box.dataset.url}?step=${this.step}${this.of.value === "" ? "" : `&broker=${this.of.value}`}`);
      if (answer.ok && turn === this.latest) this.show(await answer.json());
    } catch { /* unavailable: the next response is complete */ }
    if (turn === this.latest && !document.hidden) this.timer = setTimeout(() => this.refresh(), Math.min(this.step * 1000, MOST_WAIT_MS));
  }

  show(found) {
    const columns = { ...found, share: found.asked.map((asked, at) => (asked ? found.answered[at] / asked : null)) };
    this.charts.forEach(({ name, chart }) => chart.show([found.t, ...SPECS[name].series.map(({ key }) => columns[key])], []));
  }
}
