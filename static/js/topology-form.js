// The form of a new topology: changing the kind or preset reloads it with the input in the URL.
import { isChanged, leave } from "./guard.js";

const LONGEST = 16_000;
const form = document.getElementById("topology-form");

function typed() {
  const before = [...new URLSearchParams(location.search)].filter(([name]) => name !== "kind" && name !== "preset");
  const fields = [...form.elements].filter((field) => field.name && field.matches("input:not([type=hidden]), select, textarea"));
  const now = fields.filter((field) => "typed" in form.dataset || isChanged(field));
  return new Map([...before, ...now.map((field) => [field.name, field.value])]);
}

const nameOf = (name) => document.getElementById(name)?.labels[0]?.firstChild.textContent.trim() ?? name;

function follow(event, link, address) {
  const along = typed();
  const replaced = (link.dataset.sets ?? "").split(" ").filter((name) => along.has(name));
  replaced.forEach((name) => along.delete(name));
  const to = new URL(address);
  for (const [name, value] of along) to.searchParams.set(name, value);
  const isTooLong = to.href.length > LONGEST;
  if (isTooLong) to.searchParams.delete("links");
  const asked = replaced.length ? `The preset replaces what you typed for ${replaced.map(nameOf).join(", ")}. Use it?` : "";
  const question = isTooLong ? "There are too many links to keep. Change the kind and discard them?" : asked;
  if (question && !window.confirm(question)) { event.preventDefault(); return; }
  link.href = to.href;
  if (!event.ctrlKey && !event.metaKey && !event.shiftKey) leave();
}

for (const link of form.querySelectorAll("a[data-carries]")) {
  const address = link.href;
  link.addEventListener("click", (event) => follow(event, link, address));
}
