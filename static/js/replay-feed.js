// The messages of a run, loaded in chunks as the clock approaches them; a chunk covers neighbouring bins of the
// density.

const ROWS = 1000; // approximate messages per chunk
const KEPT = 24; // cached chunks; the oldest is evicted

export class Feed {
  constructor({ messages, page_size, first_us, last_us, bins }) {
    this.url = messages;
    this.size = page_size;
    this.first = first_us;
    this.last = last_us;
    this.query = "";
    const span = last_us - first_us + 1;
    const edge = (bin) => first_us + Math.floor((span * bin) / bins.length);
    this.whole = [];
    let [from, count] = [0, 0];
    bins.forEach((number, bin) => {
      count += number;
      if (count < ROWS && bin < bins.length - 1) return;
      this.whole.push({ from: edge(from), to: edge(bin + 1) });
      [from, count] = [bin + 1, 0];
    });
    this.follow("");
  }

  // Limits the feed to one query, or removes the limit.
  follow(query) {
    this.query = query;
    this.parts = query ? [{ from: this.first, to: this.last + 1 }] : this.whole;
    this.loaded = new Map();
    this.asked = new Map();
  }

  partAt(time) {
    let [low, high] = [0, this.parts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.parts[middle].from <= time) low = middle; else high = middle - 1;
    }
    return low;
  }

  // The rows of a chunk if loaded; otherwise starts loading it.
  rows(part) {
    if (part < 0 || part >= this.parts.length) return [];
    if (!this.loaded.has(part)) this.load(part).catch(() => {}); // notifies waiting callers
    return this.loaded.get(part) || null;
  }

  load(part) {
    if (this.loaded.has(part)) return Promise.resolve(this.loaded.get(part));
    if (!this.asked.has(part)) this.asked.set(part, this.fetched(part));
    return this.asked.get(part);
  }

  async fetched(part) {
    const { parts, loaded, asked } = this;
    const { from, to } = parts[part];
    const rows = [];
    const chosen = { from_us: from, to_us: to, page_size: this.size, ...(this.query && { query: this.query }) };
    const address = (page) => `${this.url}?${new URLSearchParams({ ...chosen, page })}`;
    let next = address(1);
    try {
      while (next) {
        const answer = await fetch(next, { headers: { Accept: "application/json" } });
        if (!answer.ok) throw new Error(`Messages could not be loaded: HTTP status ${answer.status}.`);
        const page = await answer.json();
        rows.push(...page.results);
        next = page.next || (page.page < page.pages && address(page.page + 1));
      }
    } finally {
      asked.delete(part);
    }
    rows.forEach((row, place) => { row.part = part; row.place = place; });
    loaded.set(part, rows);
    if (loaded.size > KEPT) loaded.delete(loaded.keys().next().value);
    return rows;
  }

  // The next (direction 1) or previous (-1) visible message; null at an end.
  async neighbour({ part, place }, direction, isShown) {
    for (let at = part; at >= 0 && at < this.parts.length; at += direction) {
      const rows = await this.load(at);
      const from = at === part ? place + direction : direction > 0 ? 0 : rows.length - 1;
      for (let i = from; i >= 0 && i < rows.length; i += direction) if (isShown(rows[i])) return rows[i];
    }
    return null;
  }

  // Position in its chunk of the last message sent at or before a time; of several at the same time the nth.
  async placeAt(time, nth) {
    const part = this.partAt(time);
    const rows = await this.load(part);
    const last = countUpTo(rows, time) - 1;
    return { part, place: Math.min(last, countUpTo(rows, time - 1) + nth) };
  }

  // The number of a message, from 0, among those sent at the same time.
  nth({ part, place, at_us: time }) {
    return place - countUpTo(this.rows(part) || [], time - 1);
  }

  // Loaded messages sent within a time range.
  between(from, to) {
    const found = [];
    for (let part = this.partAt(from); part <= this.partAt(to); part += 1) {
      const rows = this.rows(part);
      if (rows) found.push(...rows.slice(countUpTo(rows, from - 1), countUpTo(rows, to)));
    }
    this.rows(this.partAt(to) + 1); // prefetch
    return found;
  }
}

// Number of rows, sorted by time, sent at or before a time.
function countUpTo(rows, time) {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].at_us <= time) low = middle + 1; else high = middle;
  }
  return low;
}
