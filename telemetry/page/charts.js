// Draws the charts of telemetry.charts with ECharts. Colour tells the topology, shape tells what the value is.
"use strict";
const COLOURS = { ring: "#0072B2", "full-mesh": "#D55E00", waxman: "#009E73", central: "#CC79A7", structured: "#E69F00" };
const METRICS = { rss_bytes: ["#56B4E9", "rect"], pss_bytes: ["#E69F00", "triangle"], uss_bytes: ["#009E73", "circle"],
  over_idle_bytes: ["#D55E00", "pin"] };
const OTHERS = ["#56B4E9", "#999999", "#B8860B", "#7B68AE"];

function theme() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  return { text: value("--text"), quiet: value("--quiet"), line: value("--line"), surface: value("--surface") };
}

function look(series, index, ink) {
  const metric = METRICS[series.metric];
  if (series.role === "published") return { color: COLOURS[series.topology] && series.line ? COLOURS[series.topology] : ink, symbol: "diamond", dash: "dashed", ink };
  if (series.topology) return { color: COLOURS[series.topology] || OTHERS[index % OTHERS.length], symbol: metric ? metric[1] : "circle", dash: { shaped: [8, 3, 2, 3], simulated: [2, 3] }[series.role] || "solid", hollow: series.role === "simulated" };
  return { color: metric ? metric[0] : OTHERS[index % OTHERS.length], symbol: metric ? metric[1] : "circle", dash: "solid" };
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

function interval(data, colour) {
  return { type: "custom", data, encode: { x: 0, y: [1, 2] }, z: 3, tooltip: { show: false }, silent: true,
    renderItem(params, api) {
      const low = api.coord([api.value(0), api.value(1)]), high = api.coord([api.value(0), api.value(2)]);
      const style = { stroke: colour, lineWidth: 1.5, fill: "none" };
      const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
      return { type: "group", children: [line(low[0], low[1], high[0], high[1]),
        line(low[0] - 4, low[1], low[0] + 4, low[1]), line(high[0] - 4, high[1], high[0] + 4, high[1])] };
    } };
}

function drawn(series, index, chart, log, ink) {
  const style = look(series, index, ink);
  const dodge = chart.x.categories ? (index - (chart.series.length - 1) / 2) * Math.min(0.12, 0.6 / chart.series.length) : 0;
  const positive = (value) => value !== null && (!log || value > 0);
  const points = series.points.map((point) => ({ ...point, x: point.x + dodge, at: point.x }));
  const marks = points.map((point) => ({ value: [point.x, positive(point.y) ? point.y : null], point }));
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
  return [main, { ...interval(bars, style.color), name: main.name },
    { type: "scatter", name: main.name, data: faint, symbolSize: 5, z: 2, silent: true, tooltip: { show: false }, itemStyle: { color: style.color, opacity: 0.35 } }];
}

// Few configurations are named under the axis, many are numbered as the tables number them; many series share a line.
const NAMED_UNDER_AXIS = 10, LEGEND_LINES = 16;

function legendRows(chart, width) {
  if (chart.series.length > LEGEND_LINES) return 1;
  const needed = chart.series.map((series) => legendName(series).length * 6.2 + 36);
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
  const unit = (axis) => axis.label + (axis.unit ? `, ${axis.unit}` : "");
  const across = { name: unit(chart.x), nameLocation: "middle", nameGap: categories ? 64 : 28, nameTextStyle: text, type: "value",
    scale: !chart.x.zero, axisLabel: text, splitLine: { show: false }, axisLine: { show: true, onZero: false, lineStyle: { color: ink.line } } };
  if (categories) Object.assign(across, { min: -1, max: categories.length, minInterval: 1, maxInterval: 1, name: "", axisTick: { show: false },
    axisLabel: { ...text, rotate: tilted ? 30 : 0, width: tilted ? 130 : undefined, overflow: tilted ? "truncate" : "none", lineHeight: 14,
      hideOverlap: tilted, formatter: (value) => (categories[value] ?? "").replaceAll(", ", tilted ? ", " : "\n") } });
  if (numbered) Object.assign(across, { name: "Configuration, by its number in the tables", nameGap: 28,
    axisLabel: { ...text, hideOverlap: true, formatter: (value) => (categories[value] === undefined ? "" : String(value + 1)) } });
  return { animation: false, textStyle: { fontFamily: "system-ui, sans-serif" }, aria: { enabled: true },
    grid: { left: 64, right: 24, top: 16, bottom: below + (categories && !numbered ? (tilted ? 96 : lines * 14 + 12) : 44) },
    legend: { type: chart.series.length > LEGEND_LINES ? "scroll" : "plain", bottom: 0, left: 0, textStyle: { color: ink.text, fontSize: 11 }, itemWidth: 16, itemGap: 8 },
    tooltip: { trigger: "item", backgroundColor: ink.surface, borderColor: ink.line, textStyle: { color: ink.text, fontSize: 12 }, confine: true,
      formatter: (hit) => tooltip(hit, chart) },
    xAxis: across,
    yAxis: { type: log ? "log" : "value", name: unit(chart.y), nameLocation: "middle", nameGap: 48, nameTextStyle: text, scale: !chart.y.zero && !log,
      min: chart.y.zero && !log ? 0 : undefined, axisLine: { show: false, onZero: false }, axisTick: { show: false }, axisLabel: { ...text, formatter: figures }, splitLine: { lineStyle: { color: ink.line, opacity: 0.6 } } },
    series: chart.series.flatMap((series, index) => drawn(series, index, chart, log, ink.text)) };
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
