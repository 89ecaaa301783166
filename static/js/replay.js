// Replay of a recorded run: a clock that plays, pauses and steps. The URL holds the state.
import { size, us } from "./format.js";
import { graphData } from "./graph.js";
import { areOff } from "./keys.js";
import { Density } from "./replay-density.js";
import { Feed } from "./replay-feed.js";
import { Picture } from "./replay-picture.js";

const data = JSON.parse(document.getElementById("replay-data").textContent);
const marks = JSON.parse(document.getElementById("marks-data").textContent);
const box = document.getElementById("overlay");
const by = (id) => document.getElementById(id);
const [slider, clock, playButton, paceChoice, speedSlider, list] = ["time", "clock", "play", "pace", "speed", "messages"].map(by);
const still = window.matchMedia("(prefers-reduced-motion: reduce)");

const SHOWN_MS = 350; // minimum time on screen of a message
const STEP_MS = 500; // duration of a step's animation
const LISTED = 24;
const MOST_DOTS = 600;
const LISTED_EVERY_MS = 200;
const SAVED_EVERY_MS = 500;

const asked = new URLSearchParams(location.search);
const picture = new Picture(box, graphData(box));
const feed = new Feed(data);
const density = new Density(by("density"), data, marks);
const hidden = new Set((asked.get("hide") || "").split(",").filter(Boolean));
const isShown = (row) => !hidden.has(row.family);

const state = {
  now: data.first_us, // µs since the launch
  current: { part: 0, place: -1 }, // the last message sent; a row once loaded
  playing: false,
  pace: asked.get("pace") === "clock" ? "clock" : "step",
  exponent: exponentOf(asked.get("speed")),
  steppedAt: 0, // start of the current message's animation; 0 if none
  busy: false, // waiting for rows
};

function exponentOf(text) {
  const speed = Number(text);
  return text && speed > 0 ? Math.min(2, Math.max(-3, Math.log10(speed))) : 0;
}
const speed = () => 10 ** state.exponent;
const perSecond = () => Math.min(20, Math.max(0.2, 2 * speed())); // messages, in message-by-message mode
const brief = (number) => String(Number(number.toPrecision(2)));
const seconds = (time) => `${(time / 1e6).toFixed(6)}\u202fs`;
const end = (broker) => (broker === null ? "a client" : data.servers[broker] || `broker ${broker}`);
const short = (broker) => (broker === null ? "client" : data.servers[broker] || broker);

// ---- moving

// Seeks to the last message sent at or before a time; of several at the same time to the one with this number.
async function seek(time, nth = Infinity) {
  state.now = Math.min(data.last_us, Math.max(data.first_us, time));
  const moment = state.now;
  await waiting(async () => {
    const before = await feed.placeAt(moment, nth);
    const row = await feed.neighbour({ part: before.part, place: before.place + 1 }, -1, isShown);
    if (state.now === moment) state.current = row || before;
  });
  draw();
  tell(true);
}

async function step(direction) {
  if (state.busy) return false;
  const row = await waiting(() => feed.neighbour(state.current, direction, isShown));
  if (!row) return false;
  state.current = row;
  state.now = row.at_us;
  state.steppedAt = still.matches ? 0 : performance.now();
  draw();
  tell(!state.playing);
  if (!state.playing && state.steppedAt) requestAnimationFrame(finishStep);
  return true;
}

function finishStep() {
  draw();
  if (state.playing) return;
  if (performance.now() - state.steppedAt < STEP_MS) requestAnimationFrame(finishStep);
}

async function waiting(work) {
  state.busy = true;
  try {
    const found = await work();
    by("wrong").textContent = "";
    return found;
  } catch (error) {
    by("wrong").textContent = error.message;
    play(false);
    return null;
  } finally {
    state.busy = false;
  }
}

function play(on) {
  state.playing = on;
  playButton.textContent = on ? "Pause" : "Play";
  playButton.setAttribute("aria-pressed", String(on));
  by("message").setAttribute("aria-live", on ? "off" : "polite"); // screen readers cannot follow five messages a second
  if (on) {
    if (state.now >= data.last_us) seek(data.first_us);
    ticked = performance.now();
    requestAnimationFrame(tick);
  } else {
    tell(true);
  }
}

let ticked = 0;
async function tick(at) {
  if (!state.playing) return;
  const passed = Math.min(250, Math.max(0, at - ticked)); // no jump after the tab was hidden
  ticked = at;
  if (state.pace === "step" || still.matches) {
    if (performance.now() - state.steppedAt >= 1000 / perSecond() && !state.busy) {
      const moved = await step(1);
      if (!moved && !state.busy) play(false);
      state.steppedAt = performance.now();
    }
    draw();
  } else if (!state.busy) {
    const next = Math.min(data.last_us, state.now + passed * 1000 * speed());
    if (feed.rows(feed.partAt(next))) advance(next); // otherwise the clock waits for messages
  }
  if (state.playing) requestAnimationFrame(tick);
}

function advance(time) {
  state.now = time;
  const sent = feed.between(Math.max(state.current.at_us ?? data.first_us, time - 1e6 * Math.max(1, speed())), time).filter(isShown);
  if (sent.length) state.current = sent[sent.length - 1];
  state.steppedAt = 0;
  draw();
  tell(false);
  if (time >= data.last_us) play(false);
}

// ---- showing

function flights() {
  const current = state.current.at_us === undefined ? null : state.current;
  if (!state.playing || state.pace === "step" || still.matches) {
    if (!current) return [];
    const share = state.steppedAt ? Math.min(1, (performance.now() - state.steppedAt) / Math.min(STEP_MS, 1000 / perSecond())) : 1;
    return [{ row: current, share, current: true }];
  }
  const least = SHOWN_MS * 1000 * speed();
  const under = feed.between(state.now - Math.max(least, data.longest_us), state.now).filter((row) => isShown(row) && state.now < endOf(row, least));
  const every = Math.ceil(under.length / MOST_DOTS);
  by("thinned").hidden = every < 2;
  by("thinned").textContent = `Too many messages at once: 1 in ${every} is drawn`;
  return under.filter((_, at) => at % every === 0).map((row) => ({ row, share: (state.now - row.at_us) / (endOf(row, least) - row.at_us) }));
}

const endOf = (row, least) => Math.max(row.arrived_us ?? row.at_us, row.at_us + least);

function draw() {
  picture.fly(flights());
  clock.textContent = seconds(state.now);
  slider.value = Math.round((10_000 * (state.now - data.first_us)) / Math.max(1, data.last_us - data.first_us));
  slider.setAttribute("aria-valuetext", seconds(state.now));
}

let listedAt = 0;
let savedAt = 0;
function tell(atOnce) {
  const at = performance.now();
  if (atOnce || at - listedAt > LISTED_EVERY_MS) { listedAt = at; listMessages(); }
  if (atOnce || at - savedAt > SAVED_EVERY_MS) { savedAt = at; save(); }
}

function listMessages() {
  const { current } = state;
  const rows = [];
  for (let part = current.part, at = current.place; part >= 0 && rows.length < LISTED; part -= 1) {
    const known = feed.rows(part);
    if (!known) break;
    if (part !== current.part) at = known.length - 1;
    for (; at >= 0 && rows.length < LISTED; at -= 1) if (isShown(known[at])) rows.push(known[at]);
  }
  list.replaceChildren(...rows.map(item));
  const row = current.at_us === undefined ? null : current;
  by("description").textContent = row ? inWords(row) : "No message sent yet.";
  by("text").textContent = row ? row.text + (data.begins && row.bytes > row.text.length ? "…" : "") : "";
}

function inWords(row) {
  const way = `${row.kind}, from ${end(row.sender)} to ${end(row.receiver)}`;
  let took = row.sender === null || row.receiver === null ? "" : `in transit for ${us(row.arrived_us - row.at_us)}`;
  if (took && row.arrived_us === null) took = row.lost ? "lost in transit" : "arrival not recorded";
  return [`${seconds(row.at_us)}: ${way}`, size(row.bytes), took].filter(Boolean).join(", ");
}

function item(row) {
  const element = document.createElement("li");
  element.className = `message family-${row.family}`;
  if (row === state.current) element.setAttribute("aria-current", "true");
  const go = Object.assign(document.createElement("button"), { type: "button", className: "go" });
  const at = Object.assign(document.createElement("span"), { className: "at", textContent: (row.at_us / 1e6).toFixed(6) });
  go.append(at, `${short(row.sender)} → ${short(row.receiver)}`, Object.assign(document.createElement("span"), { textContent: row.kind + (row.lost ? ", lost" : "") }));
  go.addEventListener("click", () => { play(false); goTo(row); });
  element.append(go);
  if (row.query && !feed.query) {
    const follow = Object.assign(document.createElement("button"), { type: "button", className: "follow", textContent: "follow" });
    follow.setAttribute("aria-label", `Follow the query of this ${row.kind}`);
    follow.addEventListener("click", () => followFrom(row));
    element.append(follow);
  }
  return element;
}

function save() {
  const nth = state.now === state.current.at_us && { n: feed.nth(state.current) };
  const query = new URLSearchParams({ t: (state.now / 1e6).toFixed(6), ...nth, speed: brief(speed()), pace: state.pace });
  if (feed.query) query.set("query", feed.query);
  if (hidden.size) query.set("hide", [...hidden].join(","));
  history.replaceState(null, "", `?${query}`);
}

// Shows one query or all messages, from its first message unless a time is given.
async function followQuery(query, time, nth) {
  feed.follow(query);
  by("following").hidden = !query;
  by("query-id").textContent = query;
  state.current = { part: 0, place: -1 };
  const first = await waiting(() => feed.neighbour(state.current, 1, isShown));
  if (time !== undefined || !first) await seek(time ?? data.first_us, nth);
  else goTo(first);
  if (query && !first) by("wrong").textContent ||= "No recorded message belongs to this query.";
}

// Follows the query of a message, starting at that message.
async function followFrom(row) {
  await followQuery(row.query, row.at_us);
  const same = (other) => ["at_us", "sender", "receiver", "code"].every((name) => other[name] === row[name]);
  const found = feed.rows(0)?.find(same);
  if (found) goTo(found);
}

function goTo(row) {
  state.current = row;
  state.now = row.at_us;
  state.steppedAt = 0;
  draw();
  tell(true);
}

function showSpeed() {
  speedSlider.value = state.exponent;
  const words = state.pace === "step" ? `${brief(perSecond())} messages/s` : `${brief(speed())} ×`;
  by("speed-shown").textContent = words;
  speedSlider.setAttribute("aria-valuetext", words);
}

function setSpeed(exponent) {
  state.exponent = Math.min(2, Math.max(-3, exponent));
  showSpeed();
  tell(!state.playing);
}

// ---- events

slider.addEventListener("input", () => { play(false); seek(data.first_us + (Number(slider.value) / 10_000) * (data.last_us - data.first_us)); });
playButton.addEventListener("click", () => play(!state.playing));
by("step").addEventListener("click", () => { play(false); step(1); });
by("back").addEventListener("click", () => { play(false); step(-1); });
by("unfollow").addEventListener("click", () => followQuery("", state.now));
speedSlider.addEventListener("input", () => setSpeed(Number(speedSlider.value)));
paceChoice.addEventListener("change", () => { state.pace = paceChoice.value; showSpeed(); tell(true); });
by("marks")?.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (button) { play(false); seek(Number(button.dataset.t) * 1e6); }
});
for (const type of ["focusin", "focusout", "mouseover", "mouseout"]) {
  by("marks")?.addEventListener(type, ({ target }) => {
    const button = target.closest("button");
    density.choose(["focusout", "mouseout"].includes(type) || !button ? null : Number(button.dataset.number));
  });
}
by("families").addEventListener("change", (event) => {
  if (event.target.checked) hidden.delete(event.target.value); else hidden.add(event.target.value);
  seek(state.now);
});
const KEYS = {
  " ": () => play(!state.playing),
  ArrowRight: () => { play(false); step(1); },
  ArrowLeft: () => { play(false); step(-1); },
  "+": () => setSpeed(state.exponent + 0.2),
  "=": () => setSpeed(state.exponent + 0.2),
  "-": () => setSpeed(state.exponent - 0.2),
};
document.addEventListener("keydown", (event) => {
  const own = event.target.closest("button, select, a, input");
  const isOwn = own && (event.key === " " || event.key.startsWith("Arrow") && own.matches("select, input[type=range]"));
  if (isOwn || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  if (document.querySelector("dialog[open]") || ("+=-".includes(event.key) && areOff())) return;
  event.preventDefault();
  KEYS[event.key]();
});

paceChoice.value = state.pace;
by("families").querySelectorAll("input").forEach((input) => { input.checked = !hidden.has(input.value); });
showSpeed();
const from = asked.get("t") === null ? undefined : Number(asked.get("t")) * 1e6;
const [opens, nth] = from === undefined && !asked.get("query") && data.opens || [Number.isFinite(from) ? Math.round(from) : undefined, Number(asked.get("n") ?? Infinity)];
await followQuery(asked.get("query") || "", opens, nth);
[slider, playButton, by("step"), by("back")].forEach((control) => { control.disabled = false; }); // enabled now that listeners exist
