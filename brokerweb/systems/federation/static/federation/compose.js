// Composes a subscription: the form and the text stay in step, and each change is tried on recent notifications. The
// server reads and writes the language, so that there is one description of it.
import { networksSubscriptionDryRun, networksSubscriptionsCreate } from "../js/api/client.js";
import { Conditions } from "./conditions.js";

const byId = (id) => document.getElementById(id);
const MOST_CHARACTERS = 300; // of a notification's data
const shortened = (text) =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}… (${text.length.toLocaleString("en")} characters)` : text;
const spaced = (data) => JSON.stringify(data, null, 1).replace(/\n\s*/g, " "); // so that a line breaks between values
const dataOf = (id) => JSON.parse(byId(id).textContent);
const network = byId("compose").dataset.network;
const SETTLES_MS = 250;

const conditions = new Conditions(byId("conditions"), dataOf("language"), () => later("form"));
let timer = 0, running = null;

// What is under way was asked before this change, and its answer would undo it.
function later(from) {
  clearTimeout(timer);
  running?.abort();
  timer = setTimeout(() => run(from), SETTLES_MS);
}

const scopes = () => byId("scopes").value.split(",").map((one) => one.trim()).filter(Boolean);

// What decides, with scopes and expression, which subscriptions cover it. Readers, who cannot subscribe, have no form for it.
function terms() {
  if (!byId("kind")) return {};
  const expires = new Date(Date.now() + 60_000 * Number(byId("minutes").value || 60)).toISOString();
  return { kind: byId("kind").value, priority: byId("priority").value, expires };
}

async function run(from) {
  if (from === "form" && !conditions.isComplete) { wrong("expression", ""); byId("result").textContent = "Complete the condition to try it"; return; }
  running?.abort();
  const mine = running = new AbortController();
  const expression = from === "form" ? conditions.read() : byId("expression").value;
  try {
    show(await networksSubscriptionDryRun(network, { scopes: scopes(), expression, ...terms() }, { signal: mine.signal }), from);
  } catch (error) {
    if (mine !== running || error.name === "AbortError") return;
    const field = error.field?.startsWith("scopes") ? "scopes" : error.field?.startsWith("expression") ? "expression" : "";
    for (const name of ["scopes", "expression"]) wrong(name, name === field ? error.message : "");
    byId("result").textContent = field ? "Correct the marked field" : error.message;
    byId("rows").replaceChildren();
    byId("warnings").replaceChildren();
    byId("covered").replaceChildren(said("Not known: this was not tried."));
  }
}

function wrong(name, sentence) {
  const place = byId(`${name}-wrong`);
  place.textContent = sentence;
  place.hidden = !sentence;
  byId(`${name}-field`).classList.toggle("bad", Boolean(sentence));
  byId(name).setAttribute("aria-invalid", String(Boolean(sentence)));
}

function show(found, from) {
  wrong("scopes", ""); wrong("expression", "");
  const text = found.text === "true" ? "" : found.text;
  if (from !== "text") byId("expression").value = text;
  if (from !== "form") conditions.show(found.expression);
  byId("warnings").replaceChildren(...found.warnings.map((sentence) => item(sentence)));
  knownScopes(found.known_scopes);
  history.replaceState(null, "", `?${new URLSearchParams({ scopes: byId("scopes").value, expression: text })}`);
  const inScope = found.rows.filter((row) => row.is_in_scope).length;
  byId("result").textContent = found.rows.length ? `${found.satisfied} of ${inScope} recent notifications in ${scopes().length ? "these" : "all"} scopes satisfy it` : "No recent notifications";
  byId("covered").replaceChildren(...(scopes().length ? covered(found) : [said("Choose a scope to see which of your subscriptions cover it.")]));
  byId("rows").replaceChildren(found.rows.length ? table(found.rows) : empty(found.brokers_asked));
}

function said(text) { return Object.assign(document.createElement("p"), { className: "soft", textContent: text }); }

function item(text, className = "") { return Object.assign(document.createElement("li"), { textContent: text, className }); }

function knownScopes(known) {
  const chosen = new Set(scopes());
  const chips = known.slice(0, 40).map((scope) => {
    const chip = Object.assign(document.createElement("button"), { type: "button", className: "tag scope-chip", textContent: scope });
    chip.setAttribute("aria-pressed", String(chosen.has(scope)));
    chip.addEventListener("click", () => {
      const now = new Set(scopes());
      if (!now.delete(scope)) now.add(scope);
      byId("scopes").value = [...now].join(", ");
      later("text");
    });
    return chip;
  });
  byId("known-scopes").replaceChildren(...(chips.length ? chips : ["none yet"]));
}

function table(rows) {
  const wrap = Object.assign(document.createElement("div"), { className: "table-wrap tall", tabIndex: 0, role: "region", ariaLabel: "Recent notifications" });
  const made = wrap.appendChild(Object.assign(document.createElement("table"), { className: "table" }));
  made.innerHTML = '<thead><tr><th scope="col">Notification</th><th scope="col">Satisfies it</th><th scope="col">Because</th><th scope="col">Data</th></tr></thead>';
  const body = made.appendChild(document.createElement("tbody"));
  for (const row of [...rows].sort((a, b) => b.holds - a.holds || b.is_in_scope - a.is_in_scope)) body.append(line(row));
  return wrap;
}

function line(row) {
  const tr = document.createElement("tr");
  tr.dataset.row = "";
  const cell = (label, content, className = "") => {
    const td = tr.appendChild(Object.assign(document.createElement("td"), { className }));
    td.dataset.label = label;
    td.append(content);
  };
  cell("Notification", `${row.entity_type} ${row.entity_id} · ${row.scope}`, "title-cell text-break");
  const state = Object.assign(document.createElement("span"), { className: `state state-${row.holds ? "done" : "stopped"}`, textContent: row.holds ? "yes" : "no" });
  cell("Satisfies it", state);
  cell("Because", because(row));
  cell("Data", Object.assign(document.createElement("code"), { className: "text-break", textContent: shortened(spaced(row.data)) }));
  return tr;
}

function because(row) {
  if (!row.is_in_scope) return "its scope is not chosen";
  if (!row.said.length) return row.holds ? "every notification of its scope does" : "no condition can hold";
  const list = Object.assign(document.createElement("ul"), { className: "decided" });
  list.append(...row.said.map((one) => item(`${one.predicate}: ${one.why}`, one.holds ? "holds" : "fails")));
  return list;
}

// Which subscriptions of this account cover the composed one.
function covered({ covered_by: by, covering }) {
  if (!by.length) return [said("None of your subscriptions here covers it: brokers send it on. One that ends before it does not count.")];
  const off = covering === "off" ? " Covering is off in this network, so brokers send it on nevertheless." : "";
  const list = Object.assign(document.createElement("ul"), { className: "plain" });
  list.append(...by.map((one) => item(`${one.scopes.join(", ")}: ${one.text === "true" ? "all notifications" : one.text}`, "text-break")));
  return [said(`${by.length === 1 ? "One of your subscriptions covers it" : `${by.length} of your subscriptions cover it`}: on links between brokers that have ${by.length === 1 ? "it" : "one of them"}, it needs no message of its own.${off}`), list];
}

function empty(brokers) {
  const box = Object.assign(document.createElement("div"), { className: "empty" });
  box.append(Object.assign(document.createElement("p"), { textContent: `The caches of ${brokers} broker${brokers === 1 ? "" : "s"} are empty. Notifications appear here once a provider has published some; they stay until they expire.` }));
  const address = byId("compose").dataset.broker;
  if (address) {
    const command = `python -m overlay federation publish ${address} climate '{"temperature": 26.5}' --type room --entity r17`;
    box.append("To publish one: ", Object.assign(document.createElement("code"), { className: "text-break", textContent: command }));
  }
  return box;
}

async function subscribe(event) {
  event.preventDefault();
  const button = byId("subscribe");
  if (!scopes().length) { wrong("scopes", "Choose at least one scope."); byId("scopes").focus(); return; }
  button.disabled = true;
  const url = byId("url").value.trim();
  const expression = byId("expression").value.trim() || ["and"];
  const body = { scopes: scopes(), expression, ...terms(), ...(url ? { url } : {}) };
  try {
    const made = await networksSubscriptionsCreate(network, body);
    const link = Object.assign(document.createElement("a"), { href: made.stream, textContent: "its notifications as server-sent events" });
    byId("subscribed").replaceChildren(`Subscribed as ${made.client}: `, link, ".");
    later("text");
  } catch (error) {
    byId("subscribed").replaceChildren(Object.assign(document.createElement("p"), { className: "wrong", textContent: error.message }));
  }
  button.disabled = false;
}

const begin = dataOf("begin");
byId("scopes").value = begin.scopes;
byId("expression").value = begin.expression;
byId("scopes").addEventListener("input", () => later("text"));
byId("expression").addEventListener("input", () => later("text"));
for (const name of ["kind", "priority", "minutes"]) byId(name)?.addEventListener("input", () => later("text"));
byId("compose").querySelector("form").addEventListener("submit", subscribe);
run("text");
