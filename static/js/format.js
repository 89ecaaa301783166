// Numbers as telemetry/formatting.py writes them: three significant figures, the unit next to the number.

export const UNKNOWN = "–";
const known = (value) => value !== null && value !== undefined && value !== "" && Number.isFinite(Number(value));

// Rounds before counting decimals: 9.996 is 10.0.
const significant = (number) => {
  const rounded = Number(number.toPrecision(3));
  const decimals = rounded === 0 ? 0 : 2 - Math.floor(Math.log10(Math.abs(rounded)));
  return rounded.toFixed(Math.min(Math.max(decimals, 0), 12));
};

export function sig3(value) {
  if (!known(value)) return UNKNOWN;
  const number = Number(value);
  if (number === 0) return "0";
  if (Number.isInteger(number) && Math.abs(number) < 1000) return String(number);
  return significant(number);
}

// For axis ticks: 2 MB instead of 2.00 MB.
export const brief = (text) => text.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, "");

export const count = (value) => (known(value) ? Math.round(value).toLocaleString("en").replaceAll(",", "\u202f") : UNKNOWN);

export function us(value) {
  if (!known(value)) return UNKNOWN;
  if (Math.abs(value) < 1e3) return `${sig3(value)}\u202fµs`;
  return Math.abs(value) < 1e6 ? `${significant(value / 1e3)}\u202fms` : `${significant(value / 1e6)}\u202fs`;
}

export function size(value) {
  if (!known(value)) return UNKNOWN;
  if (Math.abs(value) < 1e3) return `${sig3(value)}\u202fB`;
  if (Math.abs(value) < 1e6) return `${significant(value / 1e3)}\u202fkB`;
  return Math.abs(value) < 1e9 ? `${significant(value / 1e6)}\u202fMB` : `${significant(value / 1e9)}\u202fGB`;
}

export const ms = (value) => us(known(value) ? value * 1e3 : value);
export const seconds = (value) => us(known(value) ? value * 1e6 : value);

export function joules(value) {
  if (!known(value)) return UNKNOWN;
  for (const [factor, unit] of [[1e3, "kJ"], [1, "J"], [1e-3, "mJ"]]) if (Math.abs(value) >= factor) return `${significant(value / factor)}\u202f${unit}`;
  return Number(value) === 0 ? "0\u202fJ" : `${sig3(value * 1e6)}\u202fµJ`;
}

export const perSecond = (value) => (known(value) ? `${sig3(value)}/s` : UNKNOWN);
export const percent = (value) => (known(value) ? `${Math.round(value * 100)}\u202f%` : UNKNOWN);

// Three significant figures, but never 100 for a value below 100: 99.97 stays 99.9.
export function share(value) {
  if (!known(value)) return UNKNOWN;
  const rounded = sig3(value * 100);
  return `${value < 1 && Number(rounded) >= 100 ? Math.floor(value * 1e4) / 100 : rounded}\u202f%`;
}

export function duration(value) {
  if (!known(value)) return UNKNOWN;
  const seconds = Math.round(value);
  if (seconds < 90) return `${seconds}\u202fs`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes}\u202fmin`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 ? `${hours}\u202fh ${minutes % 60}\u202fmin` : `${hours}\u202fh`;
}

// Remaining time; above an hour, the time of day.
export function timeLeft(seconds, now = new Date()) {
  if (!known(seconds)) return "";
  if (seconds <= 3600) return `${duration(seconds)} left`;
  const end = new Date(now.getTime() + seconds * 1000);
  return `ends ${end.toLocaleString(undefined, { weekday: "short", hour: "2-digit", minute: "2-digit" })}`;
}

export const FORMATS = { us, ms, seconds, size, joules, perSecond, count, percent, share, sig3 };

// A writer by name; things that are counted follow it: `count packets`, `sig3 packets`.
export function writer(name) {
  const [write, ...thing] = name.split(" ");
  const after = thing.length ? `\u202f${thing.join(" ")}` : "";
  return (value) => (known(value) ? FORMATS[write](value) + after : UNKNOWN);
}

// Colours of the current theme, cached: charts read them thousands of times.
const colours = new Map();
document.addEventListener("themechange", () => colours.clear());

export function colour(name) {
  if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  return colours.get(name);
}

// Downloads a text or blob as a file.
export function saveAs(filename, content, type = "text/csv") {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: filename });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function toCsv(header, rows) {
  const cell = (value) => (value === null || value === undefined ? "" : /[",\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value);
  return [header, ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";
}
