// Distribution of the differences between two runs over their requests; negative is faster.
import { svgOf } from "./chart-svg.js";
import { brief, colour, saveAs, toCsv, us } from "./format.js";

function draw(figure) {
  const { differences } = JSON.parse(document.getElementById("difference-data").textContent);
  const element = figure.querySelector("[data-plot]");
  const shares = differences.map((_, at) => (100 * at) / (differences.length - 1));
  const name = `run-${figure.dataset.difference}-difference`;
  let plot = null;
  const axis = (size, write) => ({ stroke: colour("ink-soft"), font: "12px system-ui, sans-serif", size, grid: { stroke: colour("edge"), width: 1 }, ticks: { stroke: colour("edge") }, values: (u, splits) => splits.map(write) });

  // A line at zero: no change.
  function zero(u) {
    const x = Math.round(u.valToPos(0, "x", true));
    if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return;
    u.ctx.save();
    u.ctx.strokeStyle = colour("ink");
    u.ctx.setLineDash([4, 4]);
    u.ctx.beginPath();
    u.ctx.moveTo(x, u.bbox.top);
    u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
    u.ctx.stroke();
    u.ctx.restore();
  }

  function build() {
    plot?.destroy();
    plot = new uPlot({
      width: Math.max(element.clientWidth, 100), height: element.clientHeight, legend: { show: false }, padding: [8, 22, 0, 0], cursor: { show: false },
      scales: { x: { time: false, range: (u, min, max) => { const room = 0.04 * (max - min) || 1; return [min - room, max + room]; } }, y: { range: [0, 100] } },
      axes: [axis(34, (value) => brief(us(value))), axis(52, (value) => `${value}\u202f%`)],
      series: [{}, { stroke: colour("accent"), width: 2, points: { show: false } }],
      hooks: { draw: [zero] },
    }, [differences, shares], element);
  }

  figure.addEventListener("click", (event) => {
    const { save } = event.target.dataset;
    if (save === "png") plot.ctx.canvas.toBlob((blob) => saveAs(`${name}.png`, blob));
    if (save === "svg") {
      const series = [{ label: "requests with at most this difference; negative is faster", width: 2 }];
      const drawn = { plot, spec: { series }, data: [differences, shares], zero: true, stroke: () => colour("accent") };
      saveAs(`${name}.svg`, svgOf(drawn, `${figure.querySelector("h3").textContent}, run ${figure.dataset.difference.split("-")[0]}`), "image/svg+xml");
    }
    if (save === "csv") saveAs(`${name}.csv`, toCsv(["share_percent", "difference_us"], differences.map((value, at) => [shares[at], value])));
  });
  document.addEventListener("themechange", build);
  new ResizeObserver(() => plot.setSize({ width: Math.max(element.clientWidth, 100), height: element.clientHeight })).observe(element);
  build();
}

// The fragment of a run's page is loaded after it; on a page of its own it is there.
function drawNew() {
  const figure = document.querySelector("[data-difference]:not([data-drawn])");
  if (!figure) return;
  figure.dataset.drawn = "yes";
  draw(figure);
}

document.addEventListener("htmx:afterSettle", drawNew);
drawNew();
