// The chart of a comparison: one at a time, created when selected and in view. The URL holds the selection.
import { HeatChart } from "./compare-heat.js";
import { RowsChart } from "./compare-rows.js";
import { EstimateChart } from "./estimates.js";

const form = document.querySelector("[data-compare-form]");
const figure = document.querySelector("[data-compare]");
const matrix = figure?.querySelector("[data-matrix]");

// Omits unchanged fields from the URL.
form.addEventListener("formdata", ({ formData }) => {
  for (const [name, value] of [...formData]) if (!value && name !== "q") {
    const kept = formData.getAll(name).filter(Boolean);
    formData.delete(name);
    kept.forEach((one) => formData.append(name, one));
  }
});

class Comparison {
  constructor() {
    const { charts, shown, log } = JSON.parse(document.getElementById("compare-charts").textContent);
    Object.assign(this, { charts, shown, log, plot: null });
    figure.addEventListener("click", (event) => this.press(event));
    document.addEventListener("themechange", () => this.plot?.redraw());
    new ResizeObserver(() => this.plot?.resize()).observe(figure);
    this.show(shown);
  }

  press(event) {
    const { chartChoice, scale, save } = event.target.dataset;
    if (save) this.plot?.save(save);
    if (scale) {
      this.log = scale === "log";
      remember("log", this.log ? "1" : "0");
      this.show(this.shown);
    }
    if (chartChoice && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      remember("chart", chartChoice);
      this.show(chartChoice);
    }
  }

  async show(name) {
    this.shown = name;
    for (const choice of figure.querySelectorAll("[data-chart-choice]")) choice.toggleAttribute("aria-current", choice.dataset.chartChoice === name);
    figure.querySelector("[data-chart-choice][aria-current]")?.setAttribute("aria-current", "true");
    for (const field of form.querySelectorAll("[data-only-for]")) field.hidden = field.dataset.onlyFor !== name;
    this.clear();
    if (name === "ecdf" && !this.charts.ecdf) await this.readDistribution();
    const chart = this.charts[name];
    if (chart && this.shown === name) this.draw(name, chart);
  }

  clear() {
    this.plot?.dispose();
    this.plot = null;
    figure.querySelector("[data-plot]").style.height = "";
    figure.querySelector("[data-legend]").replaceChildren();
    figure.querySelector("[data-title]").textContent = "";
    figure.querySelector("[data-notes]").replaceChildren();
    matrix.hidden = true;
    this.offer(false);
    this.say("");
  }

  // The export buttons, if there is a chart.
  offer(can) { for (const button of figure.querySelectorAll("[data-save]")) button.hidden = !can; }

  say(words) {
    const line = figure.querySelector("[data-say]");
    line.textContent = words;
    line.hidden = !words;
  }

  async readDistribution() {
    this.say("Loading the samples of these runs…");
    try {
      const answer = await fetch(figure.dataset.distribution, { headers: { Accept: "application/json" } });
      const found = await answer.json();
      if (answer.ok) this.charts.ecdf = found;
      this.say(answer.ok ? "" : found.sentence);
    } catch {
      this.say("The samples could not be loaded. Select the chart again to retry.");
    }
  }

  draw(name, chart) {
    const can = [chart.y, chart.x, chart.axis, chart.value].some((axis) => axis?.log);
    const log = can && (this.log ?? true);
    figure.querySelector("[data-title]").textContent = chart.title;
    figure.querySelector("[data-plot]").setAttribute("aria-label", chart.title);
    figure.querySelector("[data-notes]").replaceChildren(...chart.notes.map((words) => Object.assign(document.createElement("p"), { textContent: words })));
    figure.querySelector("[data-scales]").hidden = !can;
    for (const button of figure.querySelectorAll("[data-scale]")) button.setAttribute("aria-pressed", String((button.dataset.scale === "log") === log));
    if (chart.series && !chart.series.length) {
      this.say(chart.empty || "There are no measurements for this chart.");
      return;
    }
    if (chart.rows) this.plot = new RowsChart(figure, chart, log);
    else if (chart.cells) this.plot = new HeatChart(figure, chart, log);
    else this.plot = new EstimateChart(figure, { ...chart, told: true }, log, `comparison-${name}`);
    this.offer(true);
    matrix.hidden = !chart.cells;
    if (chart.cells) tell(...this.plot.matrix());
  }
}

function tell(heads, rows) {
  const cell = (tag, words, attributes = {}) => Object.assign(document.createElement(tag), { textContent: words, ...attributes });
  matrix.querySelector("thead tr").replaceChildren(...heads.map((words, at) => cell("th", words, { scope: "col", className: at ? "num" : "" })));
  matrix.querySelector("tbody").replaceChildren(...rows.map(([name, ...texts]) => {
    const row = document.createElement("tr");
    row.append(cell("th", name, { scope: "row" }), ...texts.map((words) => cell("td", words, { className: "num" })));
    return row;
  }));
}

// Stores a selection of the chart in the URL, the form and the links of this page.
const chosen = {};
function remember(name, value) {
  chosen[name] = value;
  const address = new URL(location.href);
  address.searchParams.set(name, value);
  history.replaceState(null, "", address);
  let input = form.querySelector(`input[type=hidden][name=${name}]`);
  if (!input) form.append((input = Object.assign(document.createElement("input"), { type: "hidden", name })));
  input.value = value;
  for (const here of document.querySelectorAll("[data-here]")) here.value = address.search.slice(1);
}
document.querySelector("main").addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link || link.pathname !== location.pathname || !link.search) return;
  const address = new URL(link.href);
  for (const [name, value] of Object.entries(chosen)) if (!link.dataset.chartChoice) address.searchParams.set(name, value);
  link.href = address;
});

if (figure) {
  new IntersectionObserver((entries, watcher) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    watcher.disconnect();
    new Comparison();
  }, { rootMargin: "200px" }).observe(figure);
}
