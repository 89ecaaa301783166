// The search palette (Ctrl-K), a combobox after the ARIA practices: the focus stays in the text field, arrows move the
// active option, Enter opens it. The dialog traps and restores the focus.
const dialog = document.getElementById("palette");
const text = dialog.querySelector("input");
const list = dialog.querySelector("[role=listbox]");
const says = document.getElementById("palette-says");
const WAIT_MS = 120;
const HINT = "↑ ↓ to select, Enter to open, Ctrl Enter for a new tab.";
let asked = null, waiting = null, active = -1, opens = null;

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  event.preventDefault();
  if (dialog.open) dialog.close();
  else open();
});

document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-palette-open]");
  if (!opener || event.ctrlKey || event.metaKey || event.shiftKey) return; // a new tab shows the search page
  event.preventDefault();
  open();
});

function open() {
  dialog.showModal();
  text.select();
  ask();
}

dialog.addEventListener("close", () => { clearTimeout(waiting); asked?.abort(); busy(false); });

// Between a keystroke and its response, the list still shows results of the previous text. Enter then waits.
function busy(yes) {
  list.setAttribute("aria-busy", String(yes));
  opens = null;
}

text.addEventListener("input", () => {
  clearTimeout(waiting);
  asked?.abort(); // the response belongs to the previous text
  busy(true);
  waiting = setTimeout(ask, WAIT_MS);
});

// Only the latest request counts; earlier ones are aborted.
async function ask() {
  asked?.abort();
  asked = new AbortController();
  const { signal } = asked;
  try {
    const answer = await fetch(`${dialog.dataset.from}?q=${encodeURIComponent(text.value)}`, { signal, headers: { Accept: "application/json" } });
    const told = await answer.json();
    if (signal.aborted) return;
    if (answer.ok) show(told.results);
    else say(answer.status === 401 || answer.status === 403 ? "You are logged out. Reload the page to log in." : told.sentence);
  } catch (error) {
    if (error.name !== "AbortError") say("The search is unavailable. Type to try again.");
  }
}

function say(words) {
  show([]);
  says.textContent = words;
}

function show(results) {
  list.replaceChildren(...results.map((one, at) => option(one, at)));
  text.setAttribute("aria-expanded", String(results.length > 0));
  says.textContent = results.length ? HINT : "No results. A name must contain every word.";
  activate(results.length ? 0 : -1);
  const open = opens;
  busy(false);
  open?.();
}

function option({ kind, name, about, address }, at) {
  const item = Object.assign(document.createElement("li"), { id: `palette-${at}`, className: "palette-option" });
  item.setAttribute("role", "option");
  item.dataset.address = address;
  const part = (className, words) => Object.assign(document.createElement("span"), { className, textContent: words });
  item.append(part("palette-name", name), part("palette-about", about), part("palette-kind", kind));
  return item;
}

function activate(at) {
  active = at;
  [...list.children].forEach((item, here) => item.setAttribute("aria-selected", String(here === at)));
  const item = list.children[at];
  if (item) text.setAttribute("aria-activedescendant", item.id);
  else text.removeAttribute("aria-activedescendant");
  item?.scrollIntoView({ block: "nearest" });
}

function go(item, elsewhere) {
  if (!item) return;
  if (elsewhere) { window.open(item.dataset.address, "_blank", "noopener"); return; }
  dialog.close();
  location.assign(item.dataset.address);
}

text.addEventListener("keydown", (event) => {
  const last = list.children.length - 1;
  if (event.isComposing) return;
  if (event.key === "ArrowDown") activate(active >= last ? 0 : active + 1);
  else if (event.key === "ArrowUp") activate(active <= 0 ? last : active - 1);
  else if (event.key === "PageDown") activate(Math.min(active + 5, last));
  else if (event.key === "PageUp") activate(Math.max(active - 5, Math.min(0, last)));
  else if (event.key === "Enter") {
    const elsewhere = event.ctrlKey || event.metaKey, enter = () => go(list.children[active], elsewhere);
    if (list.getAttribute("aria-busy") === "true") opens = enter;
    else enter();
  }
  else return;
  event.preventDefault();
});

list.addEventListener("pointermove", ({ target }) => {
  const at = [...list.children].indexOf(target.closest("li"));
  if (at >= 0 && at !== active) activate(at);
});
list.addEventListener("click", (event) => go(event.target.closest("li"), event.ctrlKey || event.metaKey));
