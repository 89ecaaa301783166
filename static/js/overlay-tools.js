// The tools above every picture of an overlay: nearer and farther, all of it, one broker by its number or name, and the
// picture to take away. They come into the strip that `charts.css` keeps free above it, so nothing moves, and stand beside
// the picture, which is one image to a screen reader.
import { colour, saveAs } from "./format.js";

const STEP = 1.4;
const SHARPER = 2; // pixels of the file for one on the screen
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
    Object.assign(this, { graph, id: `go-to-broker-${++made}` });
    this.told = element("p", { className: "graph-told", id: `${this.id}-told` });
    this.told.setAttribute("role", "status");
    const bar = element("div", { className: "graph-tools" }, this.zoomers(), this.finder(), this.saver(), this.told);
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Tools of the picture");
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
      this.button("Fit", "Fit: the whole overlay", () => this.graph.fit()));
  }

  saver() {
    return this.button("PNG", "PNG: take the picture away", () => this.save(), "link-button small");
  }

  finder() {
    this.field = element("input", { id: this.id, className: "form-control", autocomplete: "off", spellcheck: false, maxLength: 100, enterKeyHint: "go", placeholder: "Broker" });
    this.field.setAttribute("aria-describedby", this.told.id);
    // `/` leads here where the page has nothing else to search.
    if (!document.querySelector("[data-search]")) this.field.dataset.search = "";
    this.field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key !== "Enter") return;
      event.preventDefault(); // the picture may stand in a form of something else
      this.go();
    });
    // What is typed here is no business of a form around it, or of keys of the page.
    for (const type of ["input", "change", "keyup"]) this.field.addEventListener(type, (event) => event.stopPropagation());
    this.field.addEventListener("input", () => this.say(""));
    const label = element("label", { htmlFor: this.id, textContent: "Go to broker" });
    return element("span", { className: "graph-finder" }, label, this.field, this.button("Go", "Go to this broker", () => this.go(), "btn btn-plain btn-sm"));
  }

  go() {
    const typed = this.field.value.trim();
    if (!typed) { this.say("Type a broker's number or name.", true); return; }
    const found = this.graph.find(typed);
    if (found === null) { this.say(`No broker here is called “${typed.slice(0, 40)}”. ${this.graph.numbers()}`, true); return; }
    this.graph.goTo(found);
    this.say(`Broker ${found} is chosen, in the middle of the picture.`);
  }

  say(words, isWrong = false) {
    this.told.textContent = words;
    this.told.classList.toggle("wrong", isWrong);
    this.told.classList.toggle("visually-hidden", !isWrong); // the picture shows it
    this.field.setAttribute("aria-invalid", String(isWrong));
  }

  save() {
    const page = location.pathname.split("/").filter(Boolean).join("-");
    saveAs(`${page}-overlay.png`, this.graph.cy.png({ output: "blob", scale: SHARPER, bg: colour("surface-sunk") }));
  }
}
