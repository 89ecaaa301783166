// The panel of the selection: a broker's name and position, link conditions. Invalid input is kept with an error and
// changes nothing.
import { sig3 } from "./format.js";

const $ = (id) => document.getElementById(id);
const counted = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

export class Panel {
  constructor(drawing, { limits, shapes }) {
    this.drawing = drawing;
    this.limits = limits;
    this.shapes = shapes;
    drawing.addEventListener("choice", () => this.show());
    drawing.addEventListener("change", () => this.show());
    $("broker-name").addEventListener("change", () => this.#rename());
    for (const axis of ["x", "y"]) $(`broker-${axis}`).addEventListener("change", () => this.#place(axis));
    $("links-form").addEventListener("submit", (event) => { event.preventDefault(); this.#shape(); });
    $("links-form").addEventListener("input", (event) => wrong(event.target, ""));
    this.show();
  }

  // Rebuilt only if the selection changed or its values did, so that input is kept.
  show() {
    const brokers = this.drawing.brokersChosen();
    const links = this.drawing.linksChosen();
    const shown = JSON.stringify([brokers, links]);
    if (shown === this.shown) return;
    this.shown = shown;
    const place = this.drawing.places();
    $("chosen-what").textContent = this.#words(brokers, links, place);
    $("broker-form").hidden = brokers.length !== 1;
    $("links-form").hidden = !links.length;
    $("chosen-help").textContent = brokers.length > 1 ? "Press Link to link them; use the arrow keys to move them." : "Select brokers and links in the graph or in the tables below.";
    $("chosen-help").hidden = brokers.length === 1 || links.length > 0;
    $("link-these").disabled = brokers.length < 2;
    $("remove").disabled = !brokers.length && !links.length;
    for (const field of document.querySelectorAll("#chosen input")) wrong(field, "");
    if (brokers.length === 1) {
      $("broker-name").value = brokers[0].name;
      $("broker-name").placeholder = String(place.get(brokers[0].id));
      for (const axis of ["x", "y"]) $(`broker-${axis}`).value = brokers[0][axis];
    }
    for (const { name } of this.shapes) {
      const values = new Set(links.map((link) => link[name]));
      $(`link-${name}`).value = values.size === 1 ? [...values][0] : "";
      $(`link-${name}`).placeholder = values.size > 1 ? "several values; leave empty to keep them" : "";
    }
    $("links-apply").textContent = links.length === 1 ? "Apply to this link" : `Apply to ${links.length} links`;
  }

  #words(brokers, links, place) {
    const called = (id) => this.drawing.called(id, place);
    if (brokers.length === 1 && !links.length) return `Broker ${called(brokers[0].id)}`;
    if (links.length === 1 && !brokers.length) return `Link ${called(links[0].a)} – ${called(links[0].b)}`;
    return [brokers.length && counted(brokers.length, "broker"), links.length && counted(links.length, "link")].filter(Boolean).join(" and ") || "No selection";
  }

  #rename() {
    const field = $("broker-name");
    const [broker] = this.drawing.brokersChosen();
    const name = field.value.trim();
    const place = this.drawing.places();
    const other = name && this.drawing.state.brokers.find((one) => one.id !== broker.id && (one.name || String(place.get(one.id))) === name);
    if (other) return wrong(field, `Broker ${place.get(other.id)} already has this name.`);
    if (name.length > this.limits.name) return wrong(field, `Must be at most ${this.limits.name} characters.`);
    wrong(field, "");
    const own = name === String(place.get(broker.id)) ? "" : name;
    if (own !== broker.name) this.drawing.rename(broker.id, own);
    return undefined;
  }

  #place(axis) {
    const field = $(`broker-${axis}`);
    const value = number(field.value);
    if (value === null || value < 0 || value > 1) return wrong(field, "Must be a number from 0 to 1.");
    const [broker] = this.drawing.brokersChosen();
    wrong(field, "");
    if (value !== broker[axis]) this.drawing.move(new Map([[broker.id, { x: broker.x, y: broker.y, [axis]: value }]]));
    return undefined;
  }

  #shape() {
    const links = this.drawing.linksChosen();
    const values = {};
    let first = null;
    for (const { name, kind, unit, low, high } of this.shapes) {
      const field = $(`link-${name}`);
      const value = number(field.value);
      const told = unit === "fraction" ? "" : ` ${unit}`;
      const amiss = field.value.trim() === "" ? (links.length === 1 ? "Must be a number." : "")
        : value === null ? "Must be a number." : kind === "integer" && !Number.isInteger(value) ? "Must be a whole number." : value < low || value > high ? `Must be from ${low} to ${high}${told}.` : "";
      wrong(field, amiss);
      if (amiss) first ??= field;
      else if (field.value.trim() !== "") values[name] = value;
    }
    const over = links.map((link) => ({ ...link, ...values })).find((link) => link.jitter_ms > link.delay_ms);
    if (!first && over) {
      first = $("link-jitter_ms");
      wrong(first, `${sig3(over.jitter_ms)} ms exceeds the delay of ${sig3(over.delay_ms)} ms.`);
    }
    if (first) first.focus();
    else if (links.some((link) => Object.entries(values).some(([name, value]) => link[name] !== value))) this.drawing.shape(links.map((link) => link.id), values);
  }

  // Focuses the first field of the selection, for keyboard users.
  focus() { (document.querySelector("#chosen form:not([hidden]) input") || $("chosen")).focus(); }

  // Shows the server's error for a broker or a link.
  blame(name, sentence) { const field = $(name); if (field) { wrong(field, sentence); field.focus(); } }
}

export const number = (text) => { const value = Number(text.trim().replace(",", ".")); return text.trim() !== "" && Number.isFinite(value) ? value : null; };

export function wrong(field, sentence) {
  const told = $(`${field.id}-wrong`);
  if (!told) return;
  told.textContent = sentence;
  told.hidden = !sentence;
  field.closest(".field").classList.toggle("bad", Boolean(sentence));
  if (sentence) field.closest("details")?.setAttribute("open", "");
  if (sentence) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
}
