// The drawing as two tables, for keyboard and screen-reader users. Long tables are paged.
import { sig3 } from "./format.js";
import { moreWords } from "./link-words.js";

const ROWS = 25;
const $ = (id) => document.getElementById(id);

class Table {
  constructor(name, drawing, columns, onOpen) {
    Object.assign(this, { name, drawing, columns, onOpen, page: 0 });
    this.body = $(`${name}-rows`);
    this.find = $(`${name}-find`);
    this.find.addEventListener("input", () => { this.page = 0; this.show(); });
    $(`${name}-newer`).addEventListener("click", () => this.turn(-1));
    $(`${name}-older`).addEventListener("click", () => this.turn(1));
    this.body.addEventListener("change", ({ target }) => this.#choose(target));
    this.body.addEventListener("click", ({ target }) => { const opened = target.closest("[data-open]"); if (opened) { drawing.choose([opened.dataset.open]); onOpen(); } });
    drawing.addEventListener("change", () => this.show());
    drawing.addEventListener("choice", () => this.mark());
    this.show();
  }

  turn(by) { this.page += by; this.show(); this.body.querySelector("button")?.focus(); }

  #choose(box) {
    const chosen = new Set(this.drawing.chosen);
    chosen[box.checked ? "add" : "delete"](box.value);
    this.drawing.choose(chosen);
  }

  show() {
    const wanted = this.find.value.trim().toLowerCase();
    const rows = this.columns(this.drawing).filter((row) => !wanted || row.words.toLowerCase().includes(wanted));
    const pages = Math.max(1, Math.ceil(rows.length / ROWS));
    this.page = Math.min(Math.max(this.page, 0), pages - 1);
    const held = this.body.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
    this.body.replaceChildren(...rows.slice(this.page * ROWS, (this.page + 1) * ROWS).map((row) => this.#row(row)));
    if (held) this.body.querySelector(`[data-focus="${held}"]`)?.focus();
    $(`${this.name}-count`).textContent = rows.length ? `${this.page * ROWS + 1}–${Math.min(rows.length, (this.page + 1) * ROWS)} of ${rows.length}` : wanted ? "no match" : "none";
    $(`${this.name}-newer`).disabled = this.page === 0;
    $(`${this.name}-older`).disabled = this.page >= pages - 1;
  }

  #row({ id, words, cells }) {
    const row = document.createElement("tr");
    row.dataset.row = "";
    const box = Object.assign(document.createElement("input"), { type: "checkbox", className: "form-check-input", value: id, checked: this.drawing.chosen.has(id) });
    box.setAttribute("aria-label", `Select ${words}`);
    box.dataset.select = "";
    box.dataset.focus = `${id}-box`;
    const open = Object.assign(document.createElement("button"), { type: "button", className: "link-button", textContent: words });
    open.dataset.open = id;
    open.dataset.focus = `${id}-open`;
    row.append(cell(box, "", "choice-cell"), cell(open, "", "title-cell"), ...cells.map(([label, value, kind = "num"]) => cell(value, label, kind)));
    return row;
  }

  mark() { for (const box of this.body.querySelectorAll("input")) box.checked = this.drawing.chosen.has(box.value); }
}

function cell(content, label, kind) {
  const made = document.createElement("td");
  made.className = kind;
  made.append(content);
  if (label) made.dataset.label = label;
  return made;
}

export function tables(drawing, onOpen) {
  return [
    new Table("brokers", drawing, ({ state }) => {
      const degrees = new Map(state.brokers.map(({ id }) => [id, 0]));
      for (const { a, b } of state.links) { degrees.set(a, degrees.get(a) + 1); degrees.set(b, degrees.get(b) + 1); }
      return state.brokers.map((broker, at) => ({ id: broker.id, words: broker.name ? `broker ${at}, ${broker.name}` : `broker ${at}`,
        cells: [["Links", String(degrees.get(broker.id))], ["Across", broker.x.toFixed(3)], ["Down", broker.y.toFixed(3)]] }));
    }, onOpen),
    new Table("links", drawing, ({ state }) => {
      const called = new Map(state.brokers.map((broker, at) => [broker.id, broker.name || String(at)]));
      return state.links.map((link) => ({ id: link.id, words: `link ${called.get(link.a)} – ${called.get(link.b)}`,
        cells: [["Delay, ms", sig3(link.delay_ms)], ["Jitter, ms", sig3(link.jitter_ms)], ["Loss", sig3(link.loss)], ["More", moreWords(link), "more-cell"]] }));
    }, onOpen),
  ];
}
