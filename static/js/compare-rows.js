// A comparison by rows, one for each configuration, in the order of the table: box plots of the replicates, or
// differences from the baseline with their intervals. Shapes repeat what colours show.
import { above, decades, EChart, intervals, lines, ring, textStyle, tooltip } from "./echart.js";
import { axisTitle, format } from "./estimates.js";
import { brief, colour, sig3 } from "./format.js";

const ROW = 24, BOX_ROW = 32, BELOW = 9, AROUND = 94, NAMED_FROM = 640;
const VERDICTS = {
  worse: { tone: "state-red", symbol: "triangle" },
  better: { tone: "state-green", symbol: "path://M0,0L10,0L5,9Z" },
  "no difference shown": { tone: "state-grey", symbol: "circle" },
  unknown: { tone: "state-grey", symbol: "circle", hollow: true },
};
const ROLES = { measured: "", shaped: ", shaped links", simulated: ", simulated" };
const known = (value) => value !== null && value !== undefined;

function groupsOf(chart) {
  const found = new Map();
  const add = (name, one, row, at) => found.set(name, { name, ...one, rows: [...(found.get(name)?.rows || []), { ...row, at }] });
  chart.rows.forEach((row, at) => {
    if (chart.kind === "difference") add(row.verdict, VERDICTS[row.verdict], row, at);
    else add((row.topology.replaceAll("-", " ") || "several topologies") + ROLES[row.role], { tone: `series-${row.topology}`, hollow: row.role === "simulated" }, row, at);
  });
  const groups = [...found.values()];
  return chart.kind === "difference" ? Object.keys(VERDICTS).flatMap((name) => groups.filter((group) => group.name === name)) : groups;
}

// A box plot: quartiles, median, minimum and maximum; only the line for fewer than three values. It is drawn slightly
// above the middle of its row, to leave room for the estimate with its interval.
function box(tone, hollow) {
  return (params, api) => {
    const at = api.value(0);
    const [least, lower, middle, upper, most] = [1, 2, 3, 4, 5].map((place) => api.coord([api.value(place), at])).map(([x, y]) => [x, y - BELOW / 2]);
    const half = Math.min(api.size([0, 1])[1] * 0.25, 7);
    const style = { stroke: tone, lineWidth: 1.5 };
    const line = (x1, y1, x2, y2, width = 1.5) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: { ...style, lineWidth: width } });
    const end = ([x, y]) => line(x, y - half / 2, x, y + half / 2);
    if (!api.value(6)) return { type: "group", children: [line(least[0], least[1], most[0], most[1]), end(least), end(most)] };
    return { type: "group", children: [end(least), end(most), line(least[0], least[1], lower[0], lower[1]), line(upper[0], upper[1], most[0], most[1]),
      { type: "rect", shape: { x: lower[0], y: lower[1] - half, width: Math.max(upper[0] - lower[0], 1), height: 2 * half }, style: { ...style, fill: tone, fillOpacity: hollow ? 0 : 0.18, lineDash: hollow ? [3, 3] : null } },
      line(middle[0], middle[1] - half, middle[0], middle[1] + half, 2.5)] };
  };
}

export class RowsChart extends EChart {
  constructor(figure, chart, log) {
    super(figure, `comparison-${chart.id}`);
    this.chart = chart;
    this.log = log && chart.axis.log;
    this.groups = groupsOf(chart);
    figure.querySelector("[data-plot]").style.height = `${AROUND + (chart.kind === "difference" ? ROW : BOX_ROW) * chart.rows.length}px`;
    this.plot.resize();
    this.redraw();
  }

  keys() {
    return this.groups.map((group) => ({ words: `${group.name} (${group.rows.length} ${group.rows.length === 1 ? "row" : "rows"})`, name: group.name, tone: this.tone(group), shape: group.symbol === "triangle" ? "up" : group.name === "better" ? "down" : "dot", hollow: group.hollow }));
  }

  tone(group) { return colour(group.tone) || colour("other-1"); }

  // Few replicates have wide intervals: these extend the axis only up to a factor, so that the estimates stay separate.
  bounds(rows) {
    const usable = (value) => known(value) && (!this.log || value > 0);
    const near = rows.flatMap((row) => [row.y, ...(row.box || [])]).filter(usable);
    const ends = rows.flatMap((row) => [row.low, row.high]).filter(usable);
    if (!near.length) return {};
    if (this.chart.kind === "difference") {
      const most = 3 * Math.max(...near.map(Math.abs));
      return { ...(-Math.min(...ends) > most && most ? { min: -above(most) } : {}), ...(Math.max(...ends) > most && most ? { max: above(most) } : {}) };
    }
    const [least, most, far] = [Math.min(...near), Math.max(...near), this.log ? 3 : 2];
    const low = Math.min(least, ...ends.map((value) => (least > 0 ? Math.max(value, least / far) : value)));
    const high = Math.max(most, ...ends.map((value) => Math.min(value, most * far)));
    if (this.log) return decades(low, high);
    const from = low >= 0 && (this.chart.axis.zero || low / high < 0.6 || ends.some((value) => value < low)) ? { min: 0 } : {};
    return { ...from, ...(ends.some((value) => value > high) ? { max: above(high) } : {}) };
  }

  drawn(group, limits) {
    const tone = this.tone(group);
    const inside = (value) => Math.min(Math.max(value, limits.min ?? -Infinity), limits.max ?? Infinity);
    const rows = group.rows.filter((row) => known(row.y));
    const marks = { name: group.name, type: "scatter", z: 4, symbol: group.symbol || "circle", symbolSize: 9, itemStyle: group.hollow ? ring(tone) : { color: tone },
      data: rows.map((row) => ({ value: [row.y, row.at], row })) };
    const ranges = rows.filter((row) => known(row.low)).map((row) => [row.at, inside(row.low), inside(row.high), row.low, row.high]);
    const bars = (below) => ({ name: group.name, type: "custom", z: 3, silent: true, encode: { x: [1, 2], y: 0 }, renderItem: intervals(tone, ranges, true, below), data: ranges });
    if (this.chart.kind === "difference") return [marks, bars(0)];
    const boxes = rows.filter((row) => row.box && row.n > 1).map((row) => [row.at, ...row.box, row.n > 2 ? 1 : 0]);
    const faint = rows.flatMap((row) => row.replicates.map((value) => [value, row.at]));
    return [{ ...marks, symbolSize: 6, symbolOffset: [0, BELOW] }, bars(BELOW), { name: group.name, type: "custom", z: 3, silent: true, encode: { x: [1, 2, 3, 4, 5], y: 0 }, renderItem: box(tone, group.hollow), data: boxes },
      { name: group.name, type: "scatter", z: 2, silent: true, symbolSize: 4, symbolOffset: [0, -BELOW / 2], itemStyle: { color: tone, opacity: 0.35 }, data: faint }];
  }

  option() {
    const groups = this.alone === null ? this.groups : [this.groups[this.alone]];
    const rows = groups.flatMap((group) => group.rows);
    const text = textStyle();
    const write = format(this.chart.axis);
    const limits = this.bounds(rows);
    const named = this.figure.clientWidth > NAMED_FROM;
    const label = ({ number, short }) => (named ? `${number}    ${short}` : String(number));
    const range = (row) => (known(row.low) ? `\n95 % interval ${write(row.low)} to ${write(row.high)}, n = ${row.n}` : `\nn = ${row.n}, no interval`);
    const share = (row) => (known(row.share) ? ` (${sig3(100 * row.share)}\u202f%)` : "");
    return {
      animation: false,
      aria: { enabled: true },
      textStyle: text,
      grid: { left: 8, right: 8, top: 26, bottom: 28, containLabel: true },
      tooltip: tooltip(({ data }) => (data.row ? `${data.row.number}  ${data.row.label}\n${write(data.row.y)}${share(data.row)}${data.row.verdict ? `, ${data.row.verdict}` : ""}${range(data.row)}` : "")),
      xAxis: { type: this.log ? "log" : "value", name: axisTitle(this.chart.axis), nameLocation: "middle", nameGap: 28, nameTextStyle: text, scale: this.chart.kind !== "difference", ...lines(), ...limits, axisLabel: { ...text, hideOverlap: true, ...limits.axisLabel, formatter: (value) => (value === 0 ? "0" : brief(write(value))) } },
      yAxis: [{ type: "category", inverse: true, data: this.chart.rows.map(label), name: named ? this.chart.legend : "no.", nameLocation: "start", nameTextStyle: { ...text, align: "right", padding: [0, 8, 0, 0] }, axisTick: { show: false }, axisLine: { show: false },
        axisLabel: { ...text, interval: 0, width: named ? Math.min(this.figure.clientWidth * 0.34, 420) : 40, overflow: "truncate" } },
        // The number of replicates of each row, at its other end.
        { type: "category", inverse: true, position: "right", data: this.chart.rows.map((row) => String(row.n)), name: "n", nameLocation: "start", nameTextStyle: text, axisTick: { show: false }, axisLine: { show: false }, axisLabel: { ...text, interval: 0 } }],
      series: groups.flatMap((group) => this.drawn(group, limits)).concat(this.chart.kind === "difference" ? [{ type: "scatter", data: [], silent: true, markLine: { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: colour("ink"), type: "dashed" }, data: [{ xAxis: 0 }] } }] : []),
    };
  }

  table() {
    const more = this.chart.kind === "difference" ? ["verdict"] : ["least", "lower_quartile", "median", "upper_quartile", "most"];
    const rows = this.chart.rows.map((row) => [row.number, row.label, row.y, row.low, row.high, row.n, ...(this.chart.kind === "difference" ? [row.verdict] : row.box || [])]);
    return [["number", "configuration", this.chart.kind === "difference" ? "difference" : "value", "low", "high", "n", ...more], rows];
  }
}
