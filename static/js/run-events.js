// Events of a run, newest first: filtered by kind, each with its time, which moves the charts' cursor.
const MOST = 100;

export class Timeline {
  constructor(box, pointAt) {
    Object.assign(this, { box, pointAt, list: box.querySelector("ol"), empty: box.querySelector("[data-none]"), kind: "", told: "" });
    box.querySelector("select")?.addEventListener("change", ({ target }) => { this.kind = target.value; this.filter(); });
    for (const type of ["focusin", "mouseover", "click"]) this.list.addEventListener(type, ({ target }) => this.lead(target));
    for (const type of ["focusout", "mouseleave"]) this.list.addEventListener(type, () => pointAt(null));
    this.filter();
  }

  lead(target) {
    const button = target.closest?.("button[data-second]");
    if (button) this.pointAt(Number(button.dataset.second));
  }

  show(happened) {
    const told = JSON.stringify(happened?.at(-1) ?? null) + (happened?.length ?? 0);
    if (!happened?.length || told === this.told) return;
    this.told = told;
    const at = this.list.querySelector("button:focus")?.dataset.second;
    this.list.replaceChildren(...happened.slice(-MOST).reverse().map((event) => this.row(event)));
    this.filter();
    if (at !== undefined) this.list.querySelector(`button[data-second="${at}"]`)?.focus();
  }

  row({ t_s: second, words, kind }) {
    const item = document.createElement("li");
    item.dataset.kind = kind;
    const button = Object.assign(document.createElement("button"), { type: "button", className: "link-button at", textContent: `${second.toFixed(1)}\u202fs` });
    button.dataset.second = second;
    button.setAttribute("aria-label", `${second.toFixed(1)} seconds: show on the charts`);
    item.append(button, Object.assign(document.createElement("span"), { textContent: words }));
    return item;
  }

  filter() {
    let shown = 0;
    for (const item of this.list.children) {
      item.hidden = Boolean(this.kind) && item.dataset.kind !== this.kind;
      shown += !item.hidden;
    }
    if (this.empty) this.empty.hidden = shown > 0;
  }
}
