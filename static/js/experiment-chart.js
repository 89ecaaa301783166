// The chart on the page of an experiment, redrawn whenever its fragment is loaded: initially, for another figure, with
// more runs. The URL holds the selection.
import { RowsChart } from "./compare-rows.js";
import { EstimateChart } from "./estimates.js";

let plot = null, isLog = true;

function draw() {
  const figure = document.querySelector("[data-experiment-chart]:not([data-drawn])");
  if (!figure) return;
  figure.dataset.drawn = "";
  const before = plot;
  plot?.dispose();
  plot = null;
  const chart = JSON.parse(document.getElementById("experiment-chart-data").textContent);
  if (!chart) return;
  const name = `experiment-${figure.dataset.experimentChart}-${chart.id}`;
  const make = () => {
    plot?.dispose();
    plot = chart.rows ? new RowsChart(figure, chart, isLog) : new EstimateChart(figure, { ...chart, told: true }, isLog, name);
    figure.querySelectorAll("[data-scale]").forEach((button) => button.setAttribute("aria-pressed", String((button.dataset.scale === "log") === isLog)));
  };
  figure.addEventListener("click", ({ target: { dataset: { save, scale } } }) => {
    if (save) plot.save(save);
    if (scale) { isLog = scale === "log"; make(); }
  });
  let drawnAt = figure.clientWidth;
  new ResizeObserver(() => {
    if (figure.clientWidth === drawnAt || !figure.isConnected) return;
    drawnAt = figure.clientWidth;
    plot.resize();
  }).observe(figure);
  make();
  // The same chart with more runs: keep the zoom and the isolated series.
  if (before?.chart.title === chart.title && before.zoomed) plot.zoomTo(before.zoomed);
  if (before?.chart.title === chart.title && before.alone !== null) plot.isolate(before.alone);
}

document.addEventListener("change", ({ target }) => {
  if (!target.closest(".chart-choice")) return;
  const address = new URL(location.href);
  address.searchParams.set(target.name, target.value);
  history.replaceState(null, "", address);
});
document.addEventListener("themechange", () => plot?.redraw());
document.addEventListener("htmx:afterSettle", draw);
draw();
