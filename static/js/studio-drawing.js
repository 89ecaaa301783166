// The edited topology: brokers and links with stable ids, the selection, and undo. States are immutable, so that the
// saved one is recognised after an undo.

const MOST_STEPS = 200;
const within = (value) => Math.min(1, Math.max(0, Math.round(value * 1e6) / 1e6));

export class Drawing extends EventTarget {
  constructor(drawn) {
    super();
    this.made = 0;
    this.shapes = drawn.shapes; // link conditions: {name, usual}; documents omit default values
    this.state = this.#read(drawn);
    this.kept = this.state;
    this.past = [];
    this.future = [];
    this.chosen = new Set();
  }

  // In the format of REST: links refer to positions in the list.
  #read({ nodes, links }) {
    const brokers = nodes.map((node) => ({ id: `b${this.made++}`, name: node.name || "", x: node.x, y: node.y }));
    return { brokers, links: links.map((link) => ({ id: `l${this.made++}`, a: brokers[link.a].id, b: brokers[link.b].id, ...this.#shaped(link) })) };
  }

  written() {
    const place = this.places();
    return {
      nodes: this.state.brokers.map(({ name, x, y }) => ({ name, x, y })),
      links: this.state.links.map((link) => ({ a: place.get(link.a), b: place.get(link.b), ...this.#unusual(link) })),
    };
  }

  #shaped(link) { return Object.fromEntries(this.shapes.map(({ name, usual }) => [name, link[name] ?? usual])); }
  #unusual(link) { return Object.fromEntries(this.shapes.filter(({ name, usual }) => link[name] !== usual).map(({ name }) => [name, link[name]])); }

  places() { return new Map(this.state.brokers.map((broker, at) => [broker.id, at])); }
  called(id, place = this.places()) { return this.broker(id)?.name || String(place.get(id)); }
  broker(id) { return this.state.brokers.find((broker) => broker.id === id); }
  brokersChosen() { return this.state.brokers.filter((broker) => this.chosen.has(broker.id)); }
  linksChosen() { return this.state.links.filter((link) => this.chosen.has(link.id)); }
  linked(a, b) { return this.state.links.some((link) => (link.a === a && link.b === b) || (link.a === b && link.b === a)); }

  get changed() { return this.state !== this.kept; }
  keep() { this.kept = this.state; this.#tell("change"); }

  #become(state) {
    this.past.push(this.state);
    if (this.past.length > MOST_STEPS) this.past.shift();
    this.future = [];
    this.#show(state);
  }

  #show(state) {
    this.state = state;
    const there = new Set([...state.brokers, ...state.links].map((one) => one.id));
    this.chosen = new Set([...this.chosen].filter((id) => there.has(id)));
    this.#tell("change");
    this.#tell("choice");
  }

  #tell(what) { this.dispatchEvent(new Event(what)); }

  undo() {
    if (!this.past.length) return;
    this.future.push(this.state);
    this.#show(this.past.pop());
  }

  redo() {
    if (!this.future.length) return;
    this.past.push(this.state);
    this.#show(this.future.pop());
  }

  choose(ids) {
    const wanted = new Set(ids);
    if (wanted.size === this.chosen.size && [...wanted].every((id) => this.chosen.has(id))) return;
    this.chosen = wanted;
    this.#tell("choice");
  }

  add(x, y) {
    const broker = { id: `b${this.made++}`, name: "", x: within(x), y: within(y) };
    this.#become({ ...this.state, brokers: [...this.state.brokers, broker] });
    this.choose([broker.id]);
    return broker;
  }

  // places: Map of id -> {x, y}
  move(places) {
    this.#become({ ...this.state, brokers: this.state.brokers.map((broker) => {
      const to = places.get(broker.id);
      return to ? { ...broker, x: within(to.x), y: within(to.y) } : broker;
    }) });
  }

  rename(id, name) { this.#become({ ...this.state, brokers: this.state.brokers.map((broker) => (broker.id === id ? { ...broker, name } : broker)) }); }

  // Returns whether a link was added; self-links and duplicates are not.
  link(pairs) {
    const fresh = pairs.filter(([a, b]) => a !== b && !this.linked(a, b)).map(([a, b]) => ({ id: `l${this.made++}`, a, b, ...this.#shaped({}) }));
    if (!fresh.length) return false;
    this.#become({ ...this.state, links: [...this.state.links, ...fresh] });
    this.choose(fresh.map((link) => link.id));
    return true;
  }

  shape(ids, values) {
    const which = new Set(ids);
    this.#become({ ...this.state, links: this.state.links.map((link) => (which.has(link.id) ? { ...link, ...values } : link)) });
  }

  // Removes a broker's links, too.
  remove(ids) {
    const gone = new Set(ids);
    this.#become({
      brokers: this.state.brokers.filter((broker) => !gone.has(broker.id)),
      links: this.state.links.filter((link) => !gone.has(link.id) && !gone.has(link.a) && !gone.has(link.b)),
    });
  }

  // Replaces the drawing with another user's; undo restores this one.
  take(drawn) {
    this.#become(this.#read(drawn));
    this.keep();
  }
}
