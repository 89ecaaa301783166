// Draws the charts of telemetry.charts.charts with ECharts. Colour, mark and dash tell the series; what was simulated is hollow,
// what was published a diamond. The pages of the product draw the same (static/js/looks.js, static/js/estimates.js).
"use strict";
const COLOURS = { ring: "#0072B2", "full-mesh": "#D55E00", waxman: "#009E73", central: "#CC79A7", structured: "#E69F00" };
const METRICS = { uss_bytes: "#009E73", rss_bytes: "#56B4E9", pss_bytes: "#E69F00", over_idle_bytes: "#D55E00" };
const OTHERS = ["#56B4E9", "#999999", "#B8860B", "#7B68AE"];
const MARKS = ["circle", "rect", "triangle", "path://M0 1.1L1.05 -.8H-1.05Z", "path://M-.6 -1H.6L1.15 0L.6 1H-.6L-1.15 0Z",
  "path://M-.4 -1.1H.4V-.4H1.1V.4H.4V1.1H-.4V.4H-1.1V-.4H-.4Z"];
const DASHES = ["solid", [9, 4], [2, 3], [9, 3, 2, 3], [14, 4], [5, 3, 2, 3, 2, 3]];
const NAMED = [...Object.keys(COLOURS), "star", "line", "grid"];

function theme() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  return { text: value("--text"), quiet: value("--quiet"), line: value("--line"), surface: value("--surface") };
}

// Which of those that would look alike a series is.
function turn(series, chart) {
  const alike = (one) => one.role !== "published" && one.metric === series.metric && one.topology === series.topology;
  return Math.max(chart.series.filter(alike).indexOf(series), 0);
}

function look(series, index, chart, ink) {
  const metric = METRICS[series.metric];
  if (series.role === "published") return { color: COLOURS[series.topology] && series.line ? COLOURS[series.topology] : ink, symbol: "diamond", dash: [4, 4], ink };
  const own = Math.max(NAMED.indexOf(series.topology), 0) + Math.max(Object.keys(METRICS).indexOf(series.metric), 0) + (series.topology || metric ? turn(series, chart) : index);
  const color = (series.topology && COLOURS[series.topology]) || (!series.topology && metric) || OTHERS[index % OTHERS.length];
  return { color, symbol: MARKS[own % MARKS.length], dash: DASHES[own % DASHES.length], hollow: series.role === "simulated" };
}

function figures(value) {
  if (value === null || value === undefined) return "–";
  return Number(value.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 6 });
}

function withUnit(value, unit) {
  if (unit === "µs" && value >= 1000) return figures(value / 1000) + " ms";
  if (unit === "kB" && value >= 1000) return figures(value / 1000) + " MB";
  return figures(value) + (unit ? " " + unit : "");
}

function legendName(series) {
  const counts = series.points.map((point) => point.n);
  const low = Math.min(...counts), high = Math.max(...counts);
  const shaped = series.role === "shaped" && !series.name.includes("shaped") ? ", shaped links" : "";
  return `${series.name}${shaped} (n = ${low === high ? low : `${low} to ${high}`})`;
}

function interval(data, colour, cap) {
  return { type: "custom", data, encode: { x: 0, y: [1, 2] }, z: 3, tooltip: { show: false }, silent: true, clip: true,
    renderItem(params, api) {
      const low = api.coord([api.value(0), api.value(1)]), high = api.coord([api.value(0), api.value(2)]);
      const style = { stroke: colour, lineWidth: 1.5, fill: "none" };
      const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
      return { type: "group", children: [line(low[0], low[1], high[0], high[1]),
        line(low[0] - cap, low[1], low[0] + cap, low[1]), line(high[0] - cap, high[1], high[0] + cap, high[1])] };
    } };
}

// Series that share places stand next to each other, so that no interval covers another; what was published stays.
const NEXT_PX = 9, SPREAD_PX = 36, OF_CATEGORY = 0.6, CAP_PX = 4, CURVE = 12;

function dodge(chart, width) {
  const side = chart.series.filter((series) => series.role !== "published"), places = {};
  for (const series of side) for (const point of series.points) places[point.x] = (places[point.x] || 0) + 1;
  const crowded = Math.max(0, ...Object.values(places)) > 1, xs = chart.series.flatMap((series) => series.points.map((point) => point.x));
  const [low, high] = chart.x.categories ? [-1, chart.x.categories.length] : [chart.x.zero ? Math.min(0, ...xs) : Math.min(...xs), Math.max(...xs)];
  const step = !crowded ? 0 : chart.x.categories ? Math.min(16, (OF_CATEGORY * width) / (high - low) / side.length) : Math.min(NEXT_PX, SPREAD_PX / side.length);
  const unit = ((high - low) || 1) / width, reach = (step * side.length * unit) / 2;
  return { by: (series) => (side.includes(series) ? (side.indexOf(series) - (side.length - 1) / 2) * step * unit : 0), low: low - reach, high: high + reach,
    isOn: step > 0, cap: step ? Math.max(1, Math.min(CAP_PX, step / 2 - 0.5)) : CAP_PX };
}

function drawn(series, index, chart, log, ink, dodged) {
  const style = look(series, index, chart, ink), by = dodged.by(series), isCurve = series.line && series.points.length > CURVE;
  const positive = (value) => value !== null && (!log || value > 0);
  const points = series.points.map((point) => ({ ...point, x: point.x + by, at: point.x }));
  const marks = points.map((point) => ({ value: [isCurve ? point.at : point.x, positive(point.y) ? point.y : null], point }));
  const published = { color: style.ink, borderColor: style.color, borderWidth: 1.5 };
  const simulated = { color: theme().surface, borderColor: style.color, borderWidth: 2 };
  const hollow = series.role === "published" ? published : style.hollow ? simulated : { color: style.color };
  const main = { type: series.line ? "line" : "scatter", name: legendName(series), data: marks, symbol: style.symbol,
    symbolSize: series.role === "published" ? 11 : 9, z: 4, itemStyle: hollow, connectNulls: false,
    lineStyle: { color: style.color, type: style.dash, width: 1.5 }, color: style.color };
  // A lower bound at or below zero has no place on a log axis: the bar then ends at a tenth of the estimate.
  const bars = points.filter((point) => point.low !== null && positive(point.y))
    .map((point) => [point.x, log ? Math.max(point.low, point.y / 10) : point.low, point.high]);
  const faint = points.flatMap((point) => point.replicates.filter(positive).map((value) => [point.x, value]));
  return [main, { ...interval(bars, style.color, dodged.cap), name: main.name },
    { type: "scatter", name: main.name, data: faint, symbolSize: 5, z: 2, silent: true, tooltip: { show: false }, itemStyle: { color: style.color, opacity: 0.35 } }];
}

// Ticks of a log axis: as many as it takes to read a value, at the roundest numbers that are so many.
const LEAST_TICKS = 4, ROUND = [[1], [1, 2, 5], [1, 1.5, 2, 3, 5, 7], [1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9]];

function logAxis(chart) {
  const values = chart.series.flatMap((series) => series.points.flatMap((point) => [point.y, point.high, point.low && Math.max(point.low, point.y / 10)])).filter((value) => value > 0);
  if (!values.length) return {};
  const decade = (value) => 10 ** Math.floor(Math.log10(value) + 1e-12), lowest = Math.min(...values), highest = Math.max(...values);
  const min = decade(lowest) * [1, 2, 5].findLast((step) => step * decade(lowest) <= lowest * (1 + 1e-9));
  const max = Math.max(decade(highest) * [1, 2, 5, 10].find((step) => step * decade(highest) >= highest * (1 - 1e-9)), min * 2);
  for (const steps of Math.log10(max / min) > 3 ? ROUND : ROUND.slice(1)) {
    const customValues = [];
    for (let power = decade(min); power <= max; power *= 10) customValues.push(...steps.map((step) => step * power).filter((tick) => tick >= min * (1 - 1e-9) && tick <= max * (1 + 1e-9)));
    if (customValues.length >= LEAST_TICKS) return { min, max, ticks: { customValues } };
  }
  return { min, max };
}

// Few configurations are named under the axis, many are numbered as the tables number them; many series share a line.
const NAMED_UNDER_AXIS = 10, LEGEND_LINES = 16;

function legendRows(chart, width) {
  if (chart.series.length > LEGEND_LINES) return 1;
  const needed = chart.series.map((series) => legendName(series).length * 6.2 + 48);
  let rows = 1, used = 0;
  for (const one of needed) {
    if (used + one > width && used > 0) { rows += 1; used = 0; }
    used += one;
  }
  return rows;
}

function option(chart, log, width) {
  const ink = theme(), categories = chart.x.categories;
  const parts = (categories || [""]).map((words) => words.split(", "));
  const lines = Math.max(...parts.map((words) => words.length)), longest = Math.max(...parts.flat().map((word) => word.length));
  const numbered = categories && categories.length > NAMED_UNDER_AXIS;
  const below = legendRows(chart, width - 16) * 20 + 8;
  const across_px = categories ? (width - 88) / (categories.length + 1) : 0, tilted = !numbered && across_px < longest * 5.8;
  const text = { color: ink.quiet, fontSize: 11 };
  const dodged = dodge(chart, width - 88), { ticks, ...ends } = log ? logAxis(chart) : {};
  const unit = (axis) => axis.label + (axis.unit ? `, ${axis.unit}` : "");
  const across = { name: unit(chart.x), nameLocation: "middle", nameGap: categories ? 64 : 28, nameTextStyle: text, type: "value",
    scale: !chart.x.zero, axisLabel: text, splitLine: { show: false }, axisLine: { show: true, onZero: false, lineStyle: { color: ink.line } } };
  if (dodged.isOn && !categories) Object.assign(across, { min: dodged.low, max: dodged.high, axisLabel: { ...text, showMinLabel: false, showMaxLabel: false } });
  if (categories) Object.assign(across, { min: -1, max: categories.length, minInterval: 1, maxInterval: 1, name: "", axisTick: { show: false },
    axisLabel: { ...text, rotate: tilted ? 30 : 0, width: tilted ? 130 : undefined, overflow: tilted ? "truncate" : "none", lineHeight: 14,
      hideOverlap: tilted, formatter: (value) => (categories[value] ?? "").replaceAll(", ", tilted ? ", " : "\n") } });
  if (numbered) Object.assign(across, { name: "Configuration, by its number in the tables", nameGap: 28,
    axisLabel: { ...text, hideOverlap: true, formatter: (value) => (categories[value] === undefined ? "" : String(value + 1)) } });
  return { animation: false, textStyle: { fontFamily: "system-ui, sans-serif" }, aria: { enabled: true },
    grid: { left: 64, right: 24, top: 16, bottom: below + (categories && !numbered ? (tilted ? 96 : lines * 14 + 12) : 44) },
    legend: { type: chart.series.length > LEGEND_LINES ? "scroll" : "plain", bottom: 0, left: 0, textStyle: { color: ink.text, fontSize: 11 }, itemWidth: chart.series.some((series) => series.line) ? 28 : 12, itemGap: 8 },
    tooltip: { trigger: "item", backgroundColor: ink.surface, borderColor: ink.line, textStyle: { color: ink.text, fontSize: 12 }, confine: true,
      formatter: (hit) => tooltip(hit, chart) },
    xAxis: across,
    yAxis: { type: log ? "log" : "value", name: unit(chart.y), nameLocation: "middle", nameGap: 48, nameTextStyle: text, scale: !chart.y.zero && !log,
      min: chart.y.zero && !log ? 0 : undefined, ...ends, axisLine: { show: false, onZero: false }, axisTick: { show: false, ...ticks }, axisLabel: { ...text, ...ticks, formatter: figures }, splitLine: { lineStyle: { color: ink.line, opacity: 0.6 } } },
    series: chart.series.flatMap((series, index) => drawn(series, index, chart, log, ink.text, dodged)) };
}

function tooltip(hit, chart) {
  const point = hit.data.point;
  if (!point) return "";
  const escape = (words) => echarts.format.encodeHTML(words);
  const where = chart.x.categories ? chart.x.categories[point.at] : `${chart.x.label} ${figures(point.at)}${chart.x.unit ? " " + chart.x.unit : ""}`;
  const range = point.low === null ? "" : `<br>95 % interval ${withUnit(point.low, chart.y.unit)} to ${withUnit(point.high, chart.y.unit)}`;
  return `<b>${escape(hit.seriesName)}</b><br>${escape(where)}<br>${withUnit(point.y, chart.y.unit)}${range}<br>n = ${point.n}`;
}

function save(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

function csv(chart) {
  const quote = (value) => `"${String(value ?? "").replaceAll('"', '""')}"`;
  const rows = chart.series.flatMap((series) => series.points.map((point) => [series.name, series.role,
    chart.x.categories ? chart.x.categories[point.x] : point.x, point.y, point.low, point.high, point.n]));
  const head = ["series", "role", chart.x.label, `${chart.y.label} (${chart.y.unit})`, "low", "high", "n"];
  return [head, ...rows].map((row) => row.map(quote).join(",")).join("\n");
}

function isolate(plot, chart) {
  plot.on("legendselectchanged", (event) => {
    const names = chart.series.map(legendName);
    const alone = names.every((name) => name === event.name || !event.selected[name]);
    for (const name of names) plot.dispatchAction({ type: alone || name === event.name ? "legendSelect" : "legendUnSelect", name });
  });
}

function mount(chart, into) {
  const figure = document.createElement("figure");
  figure.id = chart.id;
  figure.innerHTML = '<figcaption><h3></h3><span class="tools"></span></figcaption><div class="plot"></div>';
  figure.querySelector("h3").textContent = chart.title;
  for (const words of [chart.remark, ...chart.notes].filter(Boolean)) {
    const note = document.createElement("p");
    note.className = "quiet";
    note.textContent = words;
    figure.append(note);
  }
  into.append(figure);
  const plot = echarts.init(figure.querySelector(".plot"), null, { renderer: "svg" });
  let log = chart.y.log;
  const box = figure.querySelector(".plot");
  // The legend takes the rows that it needs; the plot above keeps its height.
  const draw = () => {
    box.style.height = `${340 + legendRows(chart, box.clientWidth - 16) * 20}px`;
    plot.resize();
    plot.setOption(option(chart, log, box.clientWidth), true);
  };
  const tool = (words, act) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.addEventListener("click", () => act(button));
    figure.querySelector(".tools").append(button);
    return button;
  };
  tool("Log", (button) => { log = !log; button.setAttribute("aria-pressed", String(log)); draw(); }).setAttribute("aria-pressed", String(log));
  tool("SVG", () => save(`${chart.id}.svg`, "image/svg+xml", plot.renderToSVGString()));
  tool("CSV", () => save(`${chart.id}.csv`, "text/csv", csv(chart)));
  isolate(plot, chart);
  draw();
  return { draw };
}

const plots = JSON.parse(document.getElementById("report-charts").textContent)
  .map((chart) => mount(chart, document.getElementById("charts")));

function choose(choice) {
  document.documentElement.dataset.theme = choice;
  for (const button of document.querySelectorAll("[data-theme-choice]"))
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === choice));
  for (const plot of plots) plot.draw();
}

for (const button of document.querySelectorAll("[data-theme-choice]"))
  button.addEventListener("click", () => choose(button.dataset.themeChoice));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plots.forEach((plot) => plot.draw()));
addEventListener("resize", () => plots.forEach((plot) => plot.draw()));
choose("auto");
