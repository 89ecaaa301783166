// A heat map over two parameters: one cell for each pair, darker for larger values; one shade for all cells if the
// differences are within noise. A cell shows what fits: its value, then its interval and n. The table below the picture
// has all of them.
import { EChart, textStyle, tooltip } from "./echart.js";
import { axisTitle, format } from "./estimates.js";
import { UNKNOWN, brief, colour } from "./format.js";

const ROW = 34, WHOLE_ROW = 50, AROUND = 110, NUMBER_WIDTH = 58, WHOLE_WIDTH = 150, UPRIGHT_WIDTH = 90, MOST_ASLANT = 12, ASLANT = 60;

export class HeatChart extends EChart {
  constructor(figure, chart, log) {
    super(figure, "comparison-heat");
    this.chart = chart;
    this.log = log && chart.value.log && chart.cells.every((cell) => cell[2] > 0);
    this.fit();
    this.redraw();
  }

  get cellWidth() { return this.figure.clientWidth / (this.chart.x.categories.length + 3); }

  get isWhole() { return this.cellWidth > WHOLE_WIDTH; }

  // Few names, but too long to be side by side.
  get isAslant() {
    const { categories } = this.chart.x;
    return this.cellWidth < UPRIGHT_WIDTH && categories.length <= MOST_ASLANT && categories.some((name) => name.length > 5);
  }

  fit() {
    this.figure.querySelector("[data-plot]").style.height = `${AROUND + (this.isAslant ? ASLANT : 0) + (this.isWhole ? WHOLE_ROW : ROW) * this.chart.y.categories.length}px`;
    this.plot.resize();
  }

  resize() {
    this.fit();
    this.draw();
  }

  // The text below a cell's value: its interval and number of replicates.
  details([, , , low, high, n], write) { return `${low === null ? "" : `${brief(write(low))} to ${brief(write(high))}, `}n = ${n}`; }

  keys() { return []; }

  option() {
    const { x, y, value, cells } = this.chart;
    const text = textStyle();
    const write = format(value);
    const shade = (cell) => (this.log ? Math.log10(cell[2]) : cell[2]);
    const { within_noise: withinNoise, ...shades } = this.chart.shades;
    const [least, most] = this.log ? shades.log.map(Math.log10) : shades.linear;
    const back = (number) => brief(write(this.log ? 10 ** number : number));
    const numbers = this.cellWidth > NUMBER_WIDTH;
    const axis = (one) => ({ type: "category", data: one.categories, name: one.label, nameTextStyle: text, axisLabel: { ...text, width: 220, overflow: "truncate" }, axisLine: { show: false }, axisTick: { show: false } });
    const about = ([at, row, number, low, high, n]) => `${x.label}: ${x.categories[at]}\n${y.label}: ${y.categories[row]}\n${axisTitle(value)}: ${write(number)}\n${low === null ? "" : `95 % interval ${write(low)} to ${write(high)}, `}n = ${n}`;
    return {
      animation: false,
      aria: { enabled: true },
      textStyle: text,
      grid: { left: 8, right: 16, top: 26, bottom: 62, containLabel: true },
      tooltip: tooltip(({ data }) => about(data.cell)),
      xAxis: { ...axis(x), nameLocation: "middle", nameGap: 28, ...(this.isAslant ? { name: "", axisLabel: { ...text, interval: 0, rotate: 40, width: 110, overflow: "truncate" } } : {}) },
      yAxis: { ...axis(y), inverse: true, nameLocation: "start", nameTextStyle: { ...text, align: "left" } },
      visualMap: { show: !withinNoise, dimension: 2, min: least, max: most > least ? most : least + 1, calculable: false, orient: "horizontal", left: "center", bottom: 0, itemHeight: 160, itemWidth: 12, textStyle: text,
        text: [back(most), back(least)], inRange: { color: [colour("heat-least"), colour(withinNoise ? "heat-least" : "heat-most")] } },
      series: [{ type: "heatmap", data: cells.map((cell) => ({ value: [cell[0], cell[1], shade(cell)], cell,
        label: { color: colour(!withinNoise && (shade(cell) - least) / (most - least || 1) > 0.55 ? "heat-on-most" : "heat-on-least") } })),
        label: { show: numbers, fontSize: 12, lineHeight: 16, rich: { details: { fontSize: 11, lineHeight: 16 } }, formatter: ({ data }) => brief(write(data.cell[2])) + (this.isWhole ? `\n{details|${this.details(data.cell, write)}}` : "") },
        itemStyle: { borderColor: colour("surface"), borderWidth: 2 }, emphasis: { itemStyle: { borderColor: colour("ink") } } }],
    };
  }

  table() {
    const { x, y, cells } = this.chart;
    return [[x.label, y.label, "value", "low", "high", "n"], cells.map(([at, row, ...rest]) => [x.categories[at], y.categories[row], ...rest])];
  }

  // The cells as a table of texts: [heads, [[name of a row, a text for each column]]]; a dash for no measurement.
  matrix() {
    const { x, y, value, cells } = this.chart;
    const write = format(value);
    const found = new Map(cells.map((cell) => [`${cell[1]} ${cell[0]}`, `${write(cell[2])} (${this.details(cell, write)})`]));
    return [[`${y.label} / ${x.label}`, ...x.categories], y.categories.map((name, row) => [name, ...x.categories.map((_, at) => found.get(`${row} ${at}`) || UNKNOWN)])];
  }
}
