// What maps over time share: the square with its scale, and a player. A page has #map, #time, #clock, #play, #back, #step, #speed
// and perhaps #notes, a table whose rows are the moments. Nothing is interpolated.
import { areOff } from "./keys.js";
import { node } from "./svg.js";

const by = (id) => document.getElementById(id);
const still = window.matchMedia("(prefers-reduced-motion: reduce)");
const STEP_US = 1e6; // of a player without motion
const ARROW_US = 1e5; // of an arrow key
const LINES = 5; // of the scale

// The index of the last row at or before a time.
export function lastAt(list, time, key) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle][key] <= time) low = middle + 1; else high = middle;
  }
  return low - 1;
}

// A square with sides of so many km, of which `width()` km are seen; y grows upwards. `resized` gets the length of a pixel in km
// whenever it changes: now, and after `resize`, which is to be called when the width has changed.
export function drawSquare(side, resized, { hasGrid = false, width = () => side } = {}) {
  const svg = node("svg", { viewBox: `0 0 ${side} ${side}`, preserveAspectRatio: "xMidYMid meet" }), labels = [];
  for (let at = 0; at < LINES; at += 1) {
    const where = (side / LINES) * at, shown = at === 0 ? "0" : `${Number(where.toPrecision(4))}\u202fkm`;
    if (at && hasGrid) svg.append(node("line", { class: "grid-line", x1: where, x2: where, y1: 0, y2: side }), node("line", { class: "grid-line", y1: where, y2: where, x1: 0, x2: side }));
    labels.push(node("text", { x: where, y: side }, shown));
    if (at) labels.push(node("text", { x: 0, y: side - where }, shown));
  }
  svg.append(node("rect", { class: "edge-line", x: 0, y: 0, width: side, height: side }), ...labels);
  by("map").append(svg);
  function resize() {
    const unit = width() / Math.max(320, svg.clientWidth);
    labels.forEach((one) => { one.setAttribute("font-size", 11 * unit); one.setAttribute("dx", 4 * unit); one.setAttribute("dy", -4 * unit); });
    resized(unit);
  }
  new ResizeObserver(resize).observe(svg);
  return { svg, resize };
}

// Plays `moments` (chronological, with the time `key`) of a window {begin_us, from_us, until_us}; `draw` gets the time, and
// the index of the last moment. `address` adds to the parameters that keep what is seen. Returns `again`, which draws and keeps.
export function startPlayer({ window: data, moments, key, draw, address = () => {} }) {
  const [slider, clock, playButton, speed, rows] = ["time", "clock", "play", "speed", "notes"].map(by);
  const state = { now: data.from_us, playing: false };
  let current = null, ticked = 0;

  function seek(time) {
    state.now = Math.min(data.until_us, Math.max(data.from_us, time));
    const last = lastAt(moments, state.now, key), since = (state.now - data.begin_us) / 1e6;
    slider.value = since;
    slider.setAttribute("aria-valuetext", `${since.toFixed(2)} seconds`);
    clock.textContent = `${since.toFixed(2)}\u202fs`;
    draw(state.now, last);
    tell(last);
  }

  function tell(last) {
    const row = rows?.children[Math.min(last, rows.children.length - 1)] || null;
    if (!rows || row === current) return;
    current?.removeAttribute("aria-current");
    [...rows.children].forEach((one, at) => one.classList.toggle("ahead", at > last));
    current = row;
    if (!row) return;
    row.setAttribute("aria-current", "true");
    const box = rows.closest(".map-list");
    box.scrollTop = row.offsetTop - box.clientHeight / 2;
  }

  function step(direction) {
    const at = lastAt(moments, direction > 0 ? state.now : state.now - 1, key) + (direction > 0 ? 1 : 0);
    if (moments[at]) seek(moments[at][key]);
    keep();
  }

  function play(on) {
    state.playing = on;
    playButton.textContent = on ? "Pause" : "Play";
    playButton.setAttribute("aria-pressed", String(on));
    if (!on) { keep(); return; }
    if (state.now >= data.until_us) state.now = data.from_us;
    ticked = performance.now();
    requestAnimationFrame(tick);
  }

  function tick(at) {
    if (!state.playing) return;
    const passed = Math.min(250, Math.max(0, at - ticked)) * 1000 * Number(speed.value);
    if (!still.matches) {
      ticked = at;
      seek(state.now + passed);
    } else if (at - ticked >= 1000) {
      ticked = at;
      seek(state.now + STEP_US * Number(speed.value));
    }
    if (state.now >= data.until_us) play(false);
    else requestAnimationFrame(tick);
  }

  // The address has the moment.
  function keep() {
    const found = new URL(location.href);
    found.searchParams.set("t_s", ((state.now - data.begin_us) / 1e6).toFixed(2));
    address(found.searchParams);
    history.replaceState(null, "", found);
  }

  slider.addEventListener("input", () => seek(data.begin_us + Number(slider.value) * 1e6));
  slider.addEventListener("change", keep);
  slider.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (!way) return;
    event.preventDefault();
    seek(state.now + way * ARROW_US);
    keep();
  });
  playButton.addEventListener("click", () => play(!state.playing));
  by("back").addEventListener("click", () => step(-1));
  by("step").addEventListener("click", () => step(1));
  rows?.addEventListener("click", ({ target }) => { if (target.dataset.us) { seek(Number(target.dataset.us)); keep(); } });
  document.addEventListener("keydown", (event) => {
    if (event.key !== " " || areOff() || event.target.closest("button, select, a, input:not([type=range]), textarea, [contenteditable]")) return;
    event.preventDefault();
    play(!state.playing);
  });
  [slider, playButton, by("back"), by("step")].forEach((one) => { one.disabled = false; });
  const asked = Number(new URLSearchParams(location.search).get("t_s") || NaN);
  seek(Number.isFinite(asked) ? data.begin_us + asked * 1e6 : data.from_us);
  return { again() { seek(state.now); keep(); } };
}
