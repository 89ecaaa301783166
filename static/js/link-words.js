// Link conditions as text. Counterpart: overlay/core/link_shapes.py.
import { sig3 } from "./format.js";

const SIZES = [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]];
const share = (number, what) => (number ? `${sig3(100 * number)} % ${what}` : "");

function bytes(number) {
  const [unit, size] = SIZES.find(([, least]) => number >= least) || ["bytes", 1];
  return `${Number((number / size).toPrecision(4))} ${unit}`;
}

function lost({ loss, loss_burst: burst, loss_burst_limit: limit }) {
  return loss ? `${share(loss, "lost")}${burst ? ` in runs of ${sig3(burst)}` : ""}${limit ? `, at most ${limit} in a row` : ""}` : "";
}

export function words(link) {
  const jitter = link.jitter_ms ? ` ± ${sig3(link.jitter_ms)}` : "";
  return [
    link.delay_ms ? `${sig3(link.delay_ms)}${jitter} ms` : "",
    lost(link),
    share(link.duplication, "duplicated"),
    link.reordering ? `${share(link.reordering, "reordered")} ${sig3(link.reordering_ms)} ms` : "",
    share(link.corruption, "damaged"),
    link.rate_bytes_per_s ? `${bytes(link.rate_bytes_per_s)}/s with a queue of ${bytes(link.queue_bytes)}` : "",
  ].filter(Boolean).join(", ");
}

// Short form for graphs: delay and loss, and a mark if there is more.
export function brief(link) {
  const { delay_ms, jitter_ms, loss } = link;
  const said = words({ delay_ms, jitter_ms, loss });
  return moreWords(link) ? `${said} …`.trim() : said;
}

// Conditions other than delay, jitter and loss.
export const moreWords = (link) => words({ ...link, delay_ms: 0, jitter_ms: 0, loss: link.loss_burst || link.loss_burst_limit ? link.loss : 0 });
