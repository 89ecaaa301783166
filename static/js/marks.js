// Event marks of a run's charts: their appearance, the position of their labels or numbers, and their list.
import { colour } from "./format.js";

const LOOKS = {
  fault: { tone: "state-red", dash: [], words: "fault" },
  membership: { tone: "state-amber", dash: [4, 3], words: "brokers" },
  phase: { tone: "ink-soft", dash: [1, 3], words: "phase" },
};
const FIRST = ["fault", "phase", "membership"];
// Labels are above the plot, in lanes.
const LANES = 2, LANE = 14;
const GAP = 6;
export const HEAD = LANES * LANE + 4;

const fontOf = (ratio) => `${11 * ratio}px system-ui, sans-serif`;
export const lookOf = (mark) => LOOKS[mark.kind] || LOOKS.phase;
const seconds = (t) => t.toFixed(1);
export const timeOf = ({ at_s: at, until_s: until }) => (until === null ? `${seconds(at)}\u202fs` : `${seconds(at)}–${seconds(until)}\u202fs`);

// Assigns each text a lane where it covers no other text and no mark of a text above; -1 if there is none. From right to
// left, because a text is to the right of its mark: a text moved up then has its mark left of the others.
function laid(shown, textOf, ctx, ratio, right) {
  const taken = Array.from({ length: LANES }, () => []);
  const isFree = (lane, from, to) => taken[lane].every(([begin, end]) => from > end || to < begin);
  const lanes = [...taken.keys()].reverse();
  return shown.map(({ mark, number, x }) => {
    const text = textOf(mark, number), room = ctx.measureText(text).width;
    const start = x + 3 * ratio + room > right ? x - 3 * ratio - room : x + 3 * ratio;
    const end = start + room + GAP * ratio;
    const lane = lanes.find((one) => isFree(one, start, end) && lanes.every((below) => below <= one || isFree(below, x, x))) ?? -1;
    if (lane >= 0) taken.forEach((texts, at) => { if (at >= lane) texts.push(at === lane ? [Math.min(start, x), end] : [x, x]); });
    return { mark, number, x, text, start, lane };
  });
}

// Labels if all fit, else the numbers of the list, faults first.
function written(shown, ctx, ratio, right) {
  const fromRight = [...shown].sort((a, b) => b.x - a.x);
  const words = laid(fromRight, (mark) => mark.label, ctx, ratio, right);
  if (words.every(({ lane }) => lane >= 0)) return words;
  const inTurn = fromRight.sort((a, b) => FIRST.indexOf(a.mark.kind) - FIRST.indexOf(b.mark.kind));
  return laid(inTurn, (mark, number) => String(number), ctx, ratio, right);
}

// Tints the plot for the duration of a fault.
export function shadeMarks(u, marks) {
  const { ctx, bbox: { left, top, width, height } } = u;
  const inside = (t) => Math.min(Math.max(u.valToPos(t, "x", true), left), left + width);
  ctx.save();
  ctx.globalAlpha = 0.12;
  for (const mark of marks.filter(({ kind, until_s: until }) => kind === "fault" && until !== null)) {
    ctx.fillStyle = colour(lookOf(mark).tone);
    ctx.fillRect(inside(mark.at_s), top, inside(mark.until_s) - inside(mark.at_s), height);
  }
  ctx.restore();
}

export function drawMarks(u, marks, chosen) {
  const { ctx, bbox: { left, top, width, height } } = u;
  const ratio = devicePixelRatio;
  const shown = marks.map((mark, at) => ({ mark, number: at + 1, x: Math.round(u.valToPos(mark.at_s, "x", true)) + 0.5 }))
    .filter(({ x }) => x >= left && x <= left + width);
  ctx.save();
  ctx.font = fontOf(ratio);
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  for (const { mark, number, x, text, start, lane } of written(shown, ctx, ratio, left + width)) {
    const look = lookOf(mark);
    const foot = lane < 0 ? top : top - (LANES - 1 - lane) * LANE * ratio - 4 * ratio;
    ctx.strokeStyle = ctx.fillStyle = colour(look.tone);
    ctx.lineWidth = (number === chosen ? 3 : 1) * ratio;
    ctx.setLineDash(look.dash.map((length) => length * ratio));
    ctx.beginPath();
    ctx.moveTo(x, lane < 0 ? top : foot - 8 * ratio);
    ctx.lineTo(x, top + height);
    ctx.stroke();
    if (lane >= 0) ctx.fillText(text, start, foot);
  }
  ctx.restore();
}

// The exported picture of a chart: a list below it explains its numbers.
export function withList(picture, marks) {
  const line = 16 * devicePixelRatio;
  const canvas = Object.assign(document.createElement("canvas"), { width: picture.width, height: picture.height + (marks.length + 0.5) * line });
  const ctx = canvas.getContext("2d");
  ctx.fillStyle = colour("surface");
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.drawImage(picture, 0, 0);
  ctx.font = fontOf(devicePixelRatio);
  marks.forEach((mark, at) => {
    ctx.fillStyle = colour(lookOf(mark).tone);
    ctx.fillText(`${at + 1}   ${timeOf(mark)}   ${mark.label}`, line / 2, picture.height + (at + 0.75) * line);
  });
  return canvas;
}

const element = (name, className, text = "") => Object.assign(document.createElement(name), { className, textContent: text });

// The list of marks with their times, common to all charts. Hover or focus on a row moves the charts' cursor.
export class MarkList {
  constructor(box, planned, choose) {
    Object.assign(this, { box, planned, list: box.querySelector("ol") });
    const tell = ({ target, type }) => {
      const button = target.closest?.("button");
      choose(["focusout", "mouseout"].includes(type) || !button ? null : Number(button.dataset.number));
    };
    for (const type of ["focusin", "focusout", "mouseover", "mouseout", "click"]) this.list.addEventListener(type, tell);
  }

  // Updates in place, so that the focus stays.
  show(marks, isOver) {
    const begun = marks.filter(({ kind }) => kind === "fault").length;
    const waiting = isOver ? [] : this.planned.slice(begun);
    for (const planned of this.list.querySelectorAll("li.soft")) planned.remove(); // added again below, after the recorded marks
    while (this.list.children.length > marks.length) this.list.lastElementChild.remove();
    marks.forEach((mark, at) => this.fill(this.list.children[at] || this.list.appendChild(this.row(at + 1)), mark));
    for (const fault of waiting) {
      const item = element("li", "soft");
      item.append(element("span", "at", `measuring + ${timeOf(fault)}`), ` ${fault.label}, planned`);
      this.list.append(item);
    }
    this.box.hidden = !this.list.children.length;
  }

  row(number) {
    const item = element("li", ""), button = element("button", "");
    button.type = "button";
    button.dataset.number = number;
    button.append(element("span", "mark-number", number), element("span", "visually-hidden"), element("span", "at"), element("span", "mark-label"));
    item.append(button);
    return item;
  }

  fill(item, mark) {
    const [badge, kind, at, label] = item.firstElementChild.children;
    badge.className = `mark-number mark-${mark.kind}`;
    for (const [part, text] of [[kind, `, ${lookOf(mark).words}, `], [at, timeOf(mark)], [label, mark.label]]) {
      if (part.textContent !== text) part.textContent = text;
    }
  }
}
