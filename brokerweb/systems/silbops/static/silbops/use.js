// Publishes, subscribes, changes contexts and asks why, all by REST; notifications come as server-sent events.
import {
  networksPubsubClientUpdate, networksPubsubPublish, networksPubsubSubscriptionDestroy, networksPubsubSubscriptionsCreate,
  networksPubsubSubscriptionsList, networksPubsubWhy,
} from "../js/api/client.js";

const byId = (id) => document.getElementById(id);
const network = byId("pubsub").dataset.network;
const MOST = 100; // notifications that are shown
const SETTLES_MS = 150;
const known = new Map(); // subscriptions by id
let events = null, last = "", chosen = "", timer = 0;

function made(tag, attributes = {}, ...children) {
  const element = Object.assign(document.createElement(tag), attributes);
  element.append(...children);
  return element;
}

// A field of JSON; the error names it.
function json(input) {
  try { return JSON.parse(input.value || "null"); } catch (error) { throw Object.assign(new Error(`This is no JSON: ${error.message}`), { field: input.dataset.of }); }
}

function mark(input, isWrong) {
  input.setAttribute("aria-invalid", String(isWrong));
  input.closest(".field").classList.toggle("bad", isWrong);
}

async function act(form, what) {
  const [wrong, status] = [form.querySelector(".wrong"), form.querySelector("[role=status]")];
  for (const input of form.querySelectorAll("[data-of]")) mark(input, false);
  wrong.hidden = true;
  try {
    status.textContent = await what() ?? "";
  } catch (error) {
    const at = form.querySelector(`[data-of="${error.field?.split(".")[0]}"]`);
    if (at) mark(at, true);
    wrong.textContent = at ? `${form.querySelector(`label[for="${at.id}"]`).firstChild.textContent.trim()}: ${error.message}` : error.message;
    wrong.hidden = false;
    status.textContent = "";
  }
}

const broker = (id) => (byId(id).value === "" ? null : Number(byId(id).value));
const publication = () => ({ client: byId("p-client").value, notification: json(byId("p-notification")), context: json(byId("p-context")) ?? {} });

async function subscribe() {
  const client = byId("s-client").value, context = json(byId("s-context")) ?? {}, where = json(byId("s-where")) ?? [];
  await networksPubsubClientUpdate(network, client, { context, broker: broker("s-broker") });
  const one = await networksPubsubSubscriptionsCreate(network, { client, where, scope: byId("s-scope").value, url: byId("s-url").value.trim() });
  known.set(one.id, one);
  chosen = one.id;
  last ||= new URLSearchParams(one.stream.split("?")[1]).get("last_event_id") ?? "";
  show();
  return "Subscribed. The context can change now without subscribing again.";
}

async function setContext() {
  await networksPubsubClientUpdate(network, byId("s-client").value, { context: json(byId("s-context")) ?? {}, broker: broker("s-broker") });
  return "The broker has the new context.";
}

async function publish() {
  const body = publication();
  await networksPubsubClientUpdate(network, body.client, { broker: broker("p-broker") });
  const told = await networksPubsubPublish(network, body);
  return `Published by way of ${told.broker}.`;
}

async function why() {
  const found = await networksPubsubWhy(network, { ...publication(), ...(known.has(chosen) ? { subscription: chosen } : {}) });
  byId("why").replaceChildren(verdict(found), ...found.brokers.map(answer));
  return "";
}

function verdict(found) {
  const whose = known.has(chosen) ? `${known.get(chosen).client} ${found.delivered ? "would get it" : "would not get it"}` : found.delivered ? "A client would get it" : "No client would get it";
  return made("p", {}, made("span", { className: `state state-${found.delivered ? "done" : "stopped"}`, textContent: whose }));
}

const nameOf = (link) => `${link.kind === "broker" ? link.name : link.client ?? `client ${link.name.slice(0, 8)}…`}${link.away_s === null ? "" : ` (away for ${Math.round(link.away_s)} s)`}`;

function answer(one) {
  const to = one.to.length ? `goes to ${one.to.map(nameOf).join(", ")}` : "goes nowhere from here";
  const lines = [
    ...one.rows.map((row) => [nameOf(row.link), row.says_no ?? "yes", !row.says_no]),
    ...one.told.filter((row) => row.state !== "told").map((row) => [row.broker, `the subscription is ${row.state} there`, false]),
  ];
  const part = made("section", { className: "mt-4" }, made("h3", { textContent: `${one.broker}: ${to}` }));
  if (!lines.length) { part.append(made("p", { className: "soft", textContent: "No subscription here concerns it." })); return part; }
  const body = made("tbody");
  for (const [who, says, holds] of lines) {
    const cells = [["Link", who], ["Goes there", made("span", { className: `state state-${holds ? "done" : "stopped"}`, textContent: holds ? "yes" : "no" })], ["Because", holds ? "content and context satisfy it" : says]];
    body.append(made("tr", {}, ...cells.map(([label, content]) => { const td = made("td", { className: "text-break" }, content); td.dataset.label = label; return td; })));
  }
  const head = made("tr", {}, ...["Link", "Goes there", "Because"].map((text) => made("th", { scope: "col", textContent: text })));
  part.append(made("div", { className: "table-wrap" }, made("table", { className: "table" }, made("thead", {}, head), body)));
  if (one.total > one.rows.length) part.append(made("p", { className: "soft", textContent: `${(one.total - one.rows.length).toLocaleString("en")} more subscriptions are not shown.` }));
  return part;
}

function show() {
  const rows = [...known.values()].map((one) => {
    const pick = made("input", { type: "radio", name: "chosen", checked: one.id === chosen, ariaLabel: "Ask why about this one" });
    pick.addEventListener("change", () => { chosen = one.id; });
    const end = made("button", { type: "button", className: "btn btn-plain btn-sm", textContent: "Unsubscribe" });
    end.addEventListener("click", () => unsubscribe(one.id));
    return made("li", { className: "text-break" }, made("label", {}, pick, ` ${one.client}: `, made("code", { textContent: JSON.stringify(one.where) }), one.scope ? made("code", { textContent: ` ${one.scope}` }) : "", one.state === "active" ? " " : ` (${one.reason}) `), end);
  });
  byId("subscriptions").replaceChildren(rows.length ? made("ul", { className: "plain" }, ...rows) : made("p", { className: "soft", textContent: "None yet." }));
  listen();
}

async function unsubscribe(id) {
  await networksPubsubSubscriptionDestroy(network, id);
  known.delete(id);
  show();
}

function listen() {
  events?.close();
  events = null;
  if (!known.size) return;
  const asked = new URLSearchParams({ subscription: [...known.keys()].slice(0, 100).join(","), ...(last ? { last_event_id: last } : {}) });
  events = new EventSource(`/api/networks/${network}/stream/?${asked}`);
  events.addEventListener("notification", (event) => { last = event.lastEventId || last; came(JSON.parse(event.data)); });
  events.addEventListener("ended", (event) => { last = event.lastEventId || last; ended(JSON.parse(event.data)); });
}

// One that was removed elsewhere: a stream that names it would be refused when it is opened again.
function ended(one) {
  if (one.end !== "removed") return;
  known.delete(one.subscription);
  show();
}

function came(one) {
  const list = byId("notifications").querySelector("ul") ?? made("ul", { className: "plain" });
  if (!list.isConnected) byId("notifications").replaceChildren(list);
  const who = known.get(one.subscription)?.client ?? one.subscription;
  list.prepend(made("li", { className: "text-break" }, `${new Date().toLocaleTimeString("en-GB")} ${who}: `, made("code", { textContent: JSON.stringify(one.notification) })));
  while (list.children.length > MOST) list.lastElementChild.remove();
}

// A slider for each number of the context.
function slide() {
  let context = null;
  try { context = JSON.parse(byId("s-context").value); } catch { return; }
  const numbers = Object.entries(context ?? {}).filter(([, value]) => typeof value === "number");
  byId("sliders").replaceChildren(...numbers.map(([name, value]) => {
    const range = made("input", { type: "range", min: Math.min(0, value), max: Math.max(100, value), step: "any", value, ariaLabel: name });
    range.addEventListener("input", () => {
      const now = { ...JSON.parse(byId("s-context").value), [name]: Math.round(range.value * 10) / 10 };
      byId("s-context").value = JSON.stringify(now);
      clearTimeout(timer);
      timer = setTimeout(() => act(byId("subscribe"), setContext), SETTLES_MS);
    });
    return made("label", {}, name, range);
  }));
}

if (byId("subscribe")) {
  for (const [id, what] of [["subscribe", subscribe], ["publish", publish]]) byId(id).addEventListener("submit", (event) => { event.preventDefault(); act(byId(id), what); });
  byId("set-context").addEventListener("click", () => act(byId("subscribe"), setContext));
  byId("ask-why").addEventListener("click", () => act(byId("publish"), why));
  byId("s-context").addEventListener("input", slide);
  slide();
}
for (const one of (await networksPubsubSubscriptionsList(network)).results) known.set(one.id, one);
chosen = [...known.keys()].at(-1) ?? "";
show();
