// Charts of a page or of the file of a report, from their description (telemetry/charts/charts.py).
import { EstimateChart } from "./estimates.js";

const charts = JSON.parse(document.getElementById("charts").textContent);

class ReportChart extends EstimateChart {
  constructor(figure) {
    const whole = charts[figure.dataset.reportChart];
    const { mode } = figure.dataset;
    const series = mode === "published" ? whole.series.filter((one) => one.role === "published") : whole.series;
    // The paper draws linear axes; what was measured here is read on log axes first.
    super(figure, { ...whole, mode, series }, (whole.x.log || whole.y.log) && mode !== "published", `${whole.id}${mode === "published" ? "-published" : ""}`);
    this.mark();
    figure.addEventListener("click", (event) => this.press(event.target.dataset));
    document.addEventListener("themechange", () => this.redraw());
    // The observer calls once to begin with, when nothing has changed since the chart was drawn.
    let drawnAt = figure.clientWidth;
    new ResizeObserver(() => {
      if (figure.clientWidth === drawnAt) return;
      drawnAt = figure.clientWidth;
      this.resize();
    }).observe(figure);
  }

  mark() { this.figure.querySelectorAll("[data-scale]").forEach((button) => button.setAttribute("aria-pressed", String((button.dataset.scale === "log") === this.log))); }

  press({ scale, save }) {
    if (scale) { this.log = scale === "log"; this.draw(); this.mark(); }
    if (save) this.save(save);
  }
}

// A chart is made when it comes into view, each in a frame of its own: a long report costs nothing until it is read, and
// answers meanwhile.
const made = new Map();
function make(figure) {
  if (!made.has(figure)) made.set(figure, new ReportChart(figure));
  return made.get(figure);
}
let turn = Promise.resolve();
const watcher = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => {
  watcher.unobserve(entry.target);
  turn = turn.then(() => new Promise(requestAnimationFrame));
  turn.then(() => make(entry.target)); // apart: one that fails keeps none waiting
}), { rootMargin: "200px" });
const figures = document.querySelectorAll("[data-report-chart]");
figures.forEach((figure) => watcher.observe(figure));

// On paper there are all charts, as wide as the paper is (charts.css).
function layOut(onPaper) {
  document.documentElement.classList.toggle("on-paper", onPaper);
  figures.forEach((figure) => make(figure).resize());
}
addEventListener("beforeprint", () => layOut(true));
addEventListener("afterprint", () => layOut(false));
