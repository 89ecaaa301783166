// Charts of a page or of a report's file, from their description (telemetry/charts/charts.py).
import { EstimateChart } from "./estimates.js";

const charts = JSON.parse(document.getElementById("charts").textContent);

class ReportChart extends EstimateChart {
  constructor(figure) {
    const whole = charts[figure.dataset.reportChart];
    const { mode } = figure.dataset;
    const series = mode === "published" ? whole.series.filter((one) => one.role === "published") : whole.series;
    // The paper draws linear axes; measured values start with log axes.
    super(figure, { ...whole, mode, series }, (whole.x.log || whole.y.log) && mode !== "published", `${whole.id}${mode === "published" ? "-published" : ""}`);
    this.mark();
    figure.addEventListener("click", (event) => this.press(event.target.dataset));
    document.addEventListener("themechange", () => this.redraw());
    // The observer calls once initially, although nothing has changed.
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

// A chart is created when it comes into view, each in its own frame: a long report loads quickly and stays responsive.
const made = new Map();
function make(figure) {
  if (!made.has(figure)) made.set(figure, new ReportChart(figure));
  return made.get(figure);
}
let turn = Promise.resolve();
const watcher = new IntersectionObserver((entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => {
  watcher.unobserve(entry.target);
  turn = turn.then(() => new Promise(requestAnimationFrame));
  turn.then(() => make(entry.target)); // separate, so that a failure does not stop the others
}), { rootMargin: "200px" });
const figures = document.querySelectorAll("[data-report-chart]");
figures.forEach((figure) => watcher.observe(figure));

// Printing draws all charts, at the width of the paper (charts.css).
function layOut(onPaper) {
  document.documentElement.classList.toggle("on-paper", onPaper);
  figures.forEach((figure) => make(figure).resize());
}
addEventListener("beforeprint", () => layOut(true));
addEventListener("afterprint", () => layOut(false));
