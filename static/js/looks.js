// Marks and dashes, which distinguish series by more than colour. Series with a fixed hue have the same mark and dash on
// every chart; the others use the next ones.
import { node } from "./svg.js";

const MARKS = [
  "M-1 0A1 1 0 1 1 1 0A1 1 0 1 1 -1 0Z", // circle
  "M-.88 -.88H.88V.88H-.88Z", // square
  "M0 -1.1L1.05 .8H-1.05Z", // triangle
  "M0 1.1L1.05 -.8H-1.05Z", // inverted triangle
  "M-.6 -1H.6L1.15 0L.6 1H-.6L-1.15 0Z", // hexagon
  "M-.4 -1.1H.4V-.4H1.1V.4H.4V1.1H-.4V.4H-1.1V-.4H-.4Z", // cross
];
export const DIAMOND = "M0 -1.2L1.2 0L0 1.2L-1.2 0Z"; // published values
const DASHES = [[], [9, 4], [2, 3], [9, 3, 2, 3], [14, 4], [5, 3, 2, 3, 2, 3]];
const NAMED = ["ring", "full-mesh", "waxman", "central", "structured", "star", "line", "grid", "random-regular", "barabasi-albert", "watts-strogatz", "custom",
  "walk", "k-walkers", "lookahead", "flood", "normalized-flood", "expanding-ring"];
const METRICS = ["uss_bytes", "rss_bytes", "pss_bytes", "over_idle_bytes"];

// {mark, dash} of a series; `turn` is its index among those with the same hue and metric.
export function lookOf({ role, topology, metric }, turn = 0) {
  if (role === "published") return { mark: DIAMOND, dash: [4, 4] };
  const own = Math.max(NAMED.indexOf(topology), 0) + Math.max(METRICS.indexOf(metric), 0) + turn;
  return { mark: MARKS[own % MARKS.length], dash: DASHES[own % DASHES.length] };
}

export const markOf = (turn) => MARKS[turn % MARKS.length];
export const dashOf = (turn) => DASHES[turn % DASHES.length];

// For the legend: a line segment with the mark.
export function keyOf({ tone, edge = "", hollow = false, line = true, width = 2, mark = "", dash = [] }) {
  const width_px = line ? 30 : 12;
  const svg = node("svg", { class: "key key-look", viewBox: `${(30 - width_px) / 2} 0 ${width_px} 12`, width: width_px, height: 12, "aria-hidden": "true" });
  if (line) svg.append(node("line", { x1: 0, x2: 30, y1: 6, y2: 6, stroke: edge || tone, "stroke-width": width, "stroke-dasharray": dash.join(" ") || undefined }));
  if (mark) svg.append(node("path", { d: mark, transform: "translate(15 6) scale(4.2)", fill: hollow ? "var(--surface)" : tone, stroke: edge || tone, "stroke-width": hollow || edge ? 0.4 : 0, "data-mark": hollow ? "hollow" : "filled" }));
  return svg;
}

// Marks along the lines of a canvas, at intervals, and offset from those of the other lines.
export function drawMarks(u, series, apart = 96) {
  const { ctx, bbox } = u, ratio = devicePixelRatio;
  ctx.save();
  series.forEach(({ mark, tone, values, shown }, at) => {
    if (!mark || !shown) return;
    const path = new Path2D(mark);
    let last = -Infinity;
    u.data[0].forEach((t, i) => {
      const x = u.valToPos(t, "x", true), value = values[i];
      if (value === null || value === undefined || x < bbox.left || x > bbox.left + bbox.width || x - last < apart * ratio) return;
      if (last === -Infinity && x - bbox.left < (12 + 22 * at) * ratio) return;
      last = x;
      const y = u.valToPos(value, "y", true);
      if (y < bbox.top || y > bbox.top + bbox.height) return;
      ctx.setTransform(4 * ratio, 0, 0, 4 * ratio, x, y);
      ctx.fillStyle = tone;
      ctx.fill(path);
    });
  });
  ctx.restore();
}
