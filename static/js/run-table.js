// The table of a run's brokers, with the same data as the graph. Rows are updated in place, so that the focus stays.
import { UNKNOWN, perSecond, sig3, size } from "./format.js";
import { looksOf } from "./run-overlay.js";

const SHOWN = 1000;

export class BrokerTable {
  constructor(body, servers) {
    const columns = body.dataset.columns.split(" ").filter(Boolean);
    Object.assign(this, { body, servers, columns, box: body.closest("details"), frame: null });
    this.box.addEventListener("toggle", () => { if (this.frame) this.show(this.frame); });
  }

  show(frame) {
    this.frame = frame;
    if (!this.box.open) return;
    const looks = looksOf(frame);
    if (!looks.size) return;
    const memory = new Map((frame.memory?.brokers || []).map((row) => [row.index, row]));
    const load = new Map((frame.load?.brokers || []).map((row) => [row.index, row]));
    const indices = [...looks.keys()].sort((a, b) => a - b).slice(0, SHOWN);
    if (this.body.querySelector("[data-none]")) this.body.replaceChildren();
    while (this.body.children.length > indices.length) this.body.lastElementChild.remove();
    indices.forEach((index, at) => {
      const row = this.body.children[at] || this.body.appendChild(this.row());
      const own = memory.get(index) || {}, busy = load.get(index) || {}, look = looks.get(index);
      this.fill(row, index, [look.state || UNKNOWN, perSecond(look.load), ...this.columns.map((name) => (name === "cores" ? sig3(busy.cores) : size(own[name])))]);
    });
  }

  row() {
    const row = document.getElementById("broker-row").content.firstElementChild.cloneNode(true);
    return row;
  }

  fill(row, index, words) {
    const button = row.querySelector("button");
    if (button.dataset.broker !== String(index)) {
      const { one, titles } = this.servers;
      button.dataset.broker = index;
      button.textContent = titles[index] ?? index;
      button.setAttribute("aria-label", titles[index] ?? `${one} ${index}`);
      delete button.dataset.url;
    }
    words.forEach((text, at) => {
      const cell = row.children[at + 1];
      if (cell.textContent !== text) cell.textContent = text;
    });
  }
}
