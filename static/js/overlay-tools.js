// Tools above every overlay graph: zoom, fit, find a broker, and export. They fill the strip reserved in `charts.css`,
// so nothing moves, and are siblings of the graph, which is one image to a screen reader.
import { colour, saveAs } from "./format.js";

const STEP = 1.4;
const SHARPER = 2; // pixels in the file per pixel on the screen
let made = 0;

const element = (tag, properties, ...children) => {
  const one = Object.assign(document.createElement(tag), properties);
  one.append(...children);
  return one;
};

export function addTools(graph) {
  new Tools(graph);
}

class Tools {
  constructor(graph) {
    const { server = "Broker", serverInText = "broker", serverWithArticle = "a broker" } = graph.element.dataset;
    Object.assign(this, { graph, one: server, word: serverInText, aWord: serverWithArticle, id: `go-to-broker-${++made}` });
    this.status = element("p", { className: "graph-status", id: `${this.id}-status` });
    this.status.setAttribute("role", "status");
    const bar = element("div", { className: "graph-tools" }, this.zoomers(), this.finder(), this.saver(), this.status);
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Graph tools");
    const frame = element("div", { className: "graph-frame" });
    graph.element.replaceWith(frame);
    frame.append(bar, graph.element);
  }

  button(text, says, press, className = "") {
    const button = element("button", { type: "button", className, textContent: text, title: says });
    if (says !== text) button.setAttribute("aria-label", says);
    button.addEventListener("click", press);
    return button;
  }

  zoomers() {
    return element("span", { className: "switch" },
      this.button("−", "Zoom out", () => this.graph.zoom(1 / STEP)),
      this.button("+", "Zoom in", () => this.graph.zoom(STEP)),
      this.button("Fit", "Fit to view", () => this.graph.fit()));
  }

  saver() {
    return this.button("PNG", "Download as PNG", () => this.save(), "link-button small");
  }

  finder() {
    this.field = element("input", { id: this.id, className: "form-control", autocomplete: "off", spellcheck: false, maxLength: 100, enterKeyHint: "go", placeholder: this.one });
    this.field.setAttribute("aria-describedby", this.status.id);
    // `/` focuses this field if the page has no other search.
    if (!document.querySelector("[data-search]")) this.field.dataset.search = "";
    this.field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key !== "Enter") return;
      event.preventDefault(); // the graph may be inside another form
      this.go();
    });
    // Input here must not reach a surrounding form or page shortcuts.
    for (const type of ["input", "change", "keyup"]) this.field.addEventListener(type, (event) => event.stopPropagation());
    this.field.addEventListener("input", () => this.say(""));
    const label = element("label", { htmlFor: this.id, textContent: `Go to ${this.word}` });
    return element("span", { className: "graph-finder" }, label, this.field, this.button("Go", `Show ${this.word}`, () => this.go(), "btn btn-plain btn-sm"));
  }

  go() {
    const typed = this.field.value.trim();
    if (!typed) { this.say(`Enter ${this.aWord}'s number or name.`, true); return; }
    const found = this.graph.find(typed);
    if (found === null) { this.say(`No ${this.word} is named “${typed.slice(0, 40)}”. ${this.graph.numbers()}`, true); return; }
    this.graph.goTo(found);
    this.say(`${this.graph.titleOf(found) ?? `${this.one} ${found}`} is selected and centred.`);
  }

  say(words, isWrong = false) {
    this.status.textContent = words;
    this.status.classList.toggle("wrong", isWrong);
    this.status.classList.toggle("visually-hidden", !isWrong); // the graph shows it
    this.field.setAttribute("aria-invalid", String(isWrong));
  }

  save() {
    const page = location.pathname.split("/").filter(Boolean).join("-");
    saveAs(`${page}-overlay.png`, this.graph.cy.png({ output: "blob", scale: SHARPER, bg: colour("surface-sunk") }));
  }
}
