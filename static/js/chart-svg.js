// Exports a uPlot chart as SVG, for papers and for editing, with the scales of the chart on the page. The legend and the
// list of marks are below it. A series is a line of its `width`, or `points` of that size; `zero` adds a dashed vertical
// line at x = 0.
import { colour } from "./format.js";
import { lookOf, timeOf } from "./marks.js";
import { NS, node } from "./svg.js";

const DASHES = { dashed: "6 4", dotted: "2 3", dashdot: "9 3 2 3" };
const LINE = 16, PAD = 12, TITLE = 24;

const round = (value) => Math.round(value * 100) / 100;

// The contiguous segments of a series (no missing value), in coordinates of the picture.
function stretches(values, point) {
  const found = [[]];
  values.forEach((value, at) => {
    if (value === null || value === undefined) { if (found.at(-1).length) found.push([]); } else found.at(-1).push(point(at, value));
  });
  return found.filter((one) => one.length);
}

const path = (points) => points.map(([x, y], at) => `${at ? "L" : "M"}${round(x)} ${round(y)}`).join("");

export function svgOf({ plot, spec, data, marks = [], isolated = null, zero = false, stroke }, title) {
  const ratio = devicePixelRatio, box = plot.bbox;
  const left = box.left / ratio, top = box.top / ratio + TITLE, width = box.width / ratio, height = box.height / ratio;
  const whole = { width: plot.width, height: plot.height + TITLE + (spec.series.length + marks.length) * LINE + PAD };
  const x = (t) => left + plot.valToPos(t, "x"), y = (value) => top + plot.valToPos(value, "y");
  const svg = node("svg", { xmlns: NS, viewBox: `0 0 ${whole.width} ${whole.height}`, ...whole, "font-family": "system-ui, sans-serif", "font-size": 12 });
  svg.append(node("rect", { ...whole, fill: colour("surface") }), node("text", { x: PAD, y: LINE, fill: colour("ink"), "font-weight": 600 }, title));

  const [soft, edge] = [colour("ink-soft"), colour("edge")];
  plot.axes[0]._splits.forEach((t, at) => {
    if (t === null || !plot.axes[0]._values[at]) return;
    svg.append(node("line", { x1: x(t), x2: x(t), y1: top, y2: top + height, stroke: edge }),
      node("text", { x: x(t), y: top + height + LINE + 2, fill: soft, "text-anchor": "middle" }, plot.axes[0]._values[at]));
  });
  plot.axes[1]._splits.forEach((value, at) => {
    if (value === null || !plot.axes[1]._values[at]) return;
    svg.append(node("line", { x1: left, x2: left + width, y1: y(value), y2: y(value), stroke: edge }),
      node("text", { x: left - 8, y: y(value) + 4, fill: soft, "text-anchor": "end" }, plot.axes[1]._values[at]));
  });

  if (zero && x(0) >= left && x(0) <= left + width) svg.append(node("line", { x1: x(0), x2: x(0), y1: top, y2: top + height, stroke: colour("ink"), "stroke-dasharray": "4 4" }));

  const shown = spec.series.map((series, at) => ({ series, values: data[at + 1], tone: stroke(series) })).filter((_, at) => isolated === null || isolated === at);
  for (const { series, values, tone } of shown) {
    const lines = stretches(values, (at, value) => [x(data[0][at]), y(value)]);
    const below = series.bandTo && shown.find((other) => other.series.key === series.bandTo);
    if (below) {
      const floor = (at) => [x(data[0][at]), y(below.values[at] ?? values[at])];
      for (const points of stretches(values, (at, value) => [[x(data[0][at]), y(value)], floor(at)])) {
        svg.append(node("path", { d: `${path([...points.map(([up]) => up), ...points.map(([, down]) => down).reverse()])}Z`, fill: tone, "fill-opacity": 0.22 }));
      }
    }
    if (series.points) lines.flat().forEach(([cx, cy]) => svg.append(node("circle", { cx: round(cx), cy: round(cy), r: series.points / 2, fill: tone })));
    if (series.width) lines.forEach((points) => svg.append(node("path", { d: path(points), fill: "none", stroke: tone, "stroke-width": series.width, "stroke-dasharray": DASHES[series.dash] })));
  }

  let line = plot.height + TITLE + 4;
  for (const { series, tone } of shown) {
    if (series.points) svg.append(node("circle", { cx: PAD + 12, cy: line - 4, r: series.points / 2, fill: tone }));
    else svg.append(node("line", { x1: PAD, x2: PAD + 24, y1: line - 4, y2: line - 4, stroke: tone, "stroke-width": series.width || 8, "stroke-opacity": series.width ? 1 : 0.35, "stroke-dasharray": DASHES[series.dash] }));
    svg.append(node("text", { x: PAD + 32, y: line, fill: colour("ink") }, series.label));
    line += LINE;
  }
  marks.forEach((mark, at) => {
    const tone = colour(lookOf(mark).tone), here = x(mark.at_s);
    if (here >= left && here <= left + width) {
      svg.append(node("line", { x1: here, x2: here, y1: top, y2: top + height, stroke: tone, "stroke-dasharray": "3 3" }), node("text", { x: here + 3, y: top - 3, fill: tone, "font-size": 11 }, at + 1));
    }
    svg.append(node("text", { x: PAD, y: line, fill: tone }, `${at + 1}   ${timeOf(mark)}   ${mark.label}`));
    line += LINE;
  });
  return new XMLSerializer().serializeToString(svg);
}
