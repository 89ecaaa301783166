// The topology editor: one drawing, shown and changed by a graph, a panel and two tables, and saving.
import { guard } from "./guard.js";
import { toast } from "./toast.js";
import { Canvas } from "./studio-canvas.js";
import { Drawing } from "./studio-drawing.js";
import { Advice, Measures } from "./studio-measures.js";
import { Panel, wrong } from "./studio-panel.js";
import { topologiesRetrieve, topologiesUpdate } from "./api/client.js";
import { tables } from "./studio-tables.js";

const $ = (id) => document.getElementById(id);
const WRITTEN_IN = "input:not([type=checkbox]), textarea, select";
const page = JSON.parse($("drawing-data").textContent);
const drawing = new Drawing(page);
const canvas = new Canvas($("canvas"), drawing);
const panel = new Panel(drawing, page);
tables(drawing, () => panel.focus());
new Measures(drawing);
new Advice(drawing, canvas, page.largest);

let version = page.version;
let named = $("name").value;
let saving = false;
const isUnsaved = () => drawing.changed || $("name").value.trim() !== named;

function showState() {
  const unsaved = isUnsaved();
  $("saved").textContent = unsaved ? `Version ${version}, unsaved changes` : `Version ${version}, saved`;
  $("save").disabled = saving || !unsaved;
  $("undo").disabled = !drawing.past.length;
  $("redo").disabled = !drawing.future.length;
  $("canvas").setAttribute("aria-label", `Overlay: ${drawing.state.links.length} links between ${drawing.state.brokers.length} brokers. The tables below list them.`);
  $("add").disabled = drawing.state.brokers.length >= page.limits.brokers;
}

// --- Buttons and keys ----------------------------------------------------------------------------------------------

function linkChosen() {
  const chosen = drawing.brokersChosen().map((broker) => broker.id);
  const pairs = chosen.flatMap((a, at) => chosen.slice(at + 1).map((b) => [a, b]));
  if (drawing.state.links.length + pairs.length > page.limits.links) toast(`A topology has at most ${page.limits.links} links.`, { kind: "warning" });
  else if (!drawing.link(pairs)) toast(chosen.length < 2 ? "Select two brokers first." : "These brokers are already linked.", { kind: "info" });
}

function removeChosen() { if (drawing.chosen.size) drawing.remove(drawing.chosen); }

function drawLinks(on) {
  canvas.drawLinks(on);
  $("mode-move").setAttribute("aria-pressed", String(!on));
  $("mode-link").setAttribute("aria-pressed", String(on));
}

// By name, else by number.
function find(text) {
  const wanted = text.trim();
  return drawing.state.brokers.find((broker) => broker.name && broker.name === wanted) || (/^\d+$/.test(wanted) ? drawing.state.brokers[Number(wanted)] : undefined);
}

function linkTyped(event) {
  event.preventDefault();
  const ends = ["from", "to"].map((name) => [$(`link-${name}`), find($(`link-${name}`).value)]);
  for (const [field, broker] of ends) wrong(field, broker ? "" : "No such broker. Enter its number or name.");
  const missing = ends.find(([, broker]) => !broker);
  if (missing) { missing[0].focus(); return; }
  const [[, a], [field, b]] = ends;
  if (a === b) wrong(field, "A link needs two different brokers.");
  else if (!drawing.link([[a.id, b.id]])) wrong(field, "These brokers are already linked.");
  else { toast(`Linked ${drawing.called(a.id)} and ${drawing.called(b.id)}.`); for (const [end] of ends) end.value = ""; ends[0][0].focus(); }
}

function press(id, does) { $(id).addEventListener("click", does); }
press("mode-move", () => drawLinks(false));
press("mode-link", () => drawLinks(true));
press("add", () => { const { id } = canvas.addInView(); toast(`Added broker ${drawing.called(id)}.`); });
press("link-these", linkChosen);
press("remove", removeChosen);
press("undo", () => drawing.undo());
press("redo", () => drawing.redo());
press("fit", () => canvas.fit());
press("closer", () => canvas.zoom(1.25));
press("farther", () => canvas.zoom(0.8));
$("link-form").addEventListener("submit", linkTyped);

document.addEventListener("keydown", (event) => {
  if (event.target.closest?.(WRITTEN_IN) || document.querySelector("dialog[open]")) return;
  const key = event.key.toLowerCase();
  if ((event.ctrlKey || event.metaKey) && (key === "z" || key === "y")) {
    event.preventDefault();
    drawing[key === "y" || event.shiftKey ? "redo" : "undo"]();
  } else if ((key === "delete" || key === "backspace") && drawing.chosen.size && !event.target.closest?.("button, a")) {
    event.preventDefault();
    removeChosen();
  } else if (key === "escape") drawing.choose([]);
});

// --- Saving ------------------------------------------------------------------------------------------------------------

function say(sentence) {
  $("problem-text").textContent = sentence;
  $("problem").hidden = !sentence;
  for (const id of ["changes", "over", "theirs"]) $(id).hidden = true;
}

async function save(since = version) {
  if (saving) return;
  const [state, name] = [drawing.state, $("name").value.trim()];
  saving = true;
  showState();
  try {
    const saved = await topologiesUpdate(page.id, { ...drawing.written(), version: since, name, note: $("note").value.trim() });
    say("");
    for (const field of ["name", "note"]) wrong($(field), "");
    version = saved.version;
    named = saved.name;
    if (drawing.state === state) drawing.keep();
    else drawing.kept = state;
    $("note").value = "";
    toast(`Saved: version ${version}.`);
  } catch (error) {
    refused(error);
  }
  saving = false;
  showState();
}

function refused({ message, field = "", status }) {
  say(message);
  const at = /^(nodes|links)\[(\d+)\](?:\.(\w+))?$/.exec(field);
  if (status === 409) offerWays();
  else if (at) {
    drawing.choose([drawing.state[at[1] === "nodes" ? "brokers" : "links"][Number(at[2])].id]);
    panel.blame(`${at[1] === "nodes" ? "broker" : "link"}-${at[3]}`, message);
  } else if (field === "name" || field === "note") { say(""); wrong($(field), message); $(field).focus(); }
  if (!$("problem").hidden) $("problem").focus();
}

// Another user saved meanwhile: their changes can be viewed, and either drawing kept; the other remains as a version or
// an undo step.
async function offerWays() {
  const theirs = await topologiesRetrieve(page.id).catch(() => null);
  if (!theirs) return;
  $("changes").href = `/topologies/${page.id}/difference/?from=${version}&to=${theirs.version}`;
  $("over").textContent = `Save mine as version ${theirs.version + 1}`;
  $("over").onclick = () => save(theirs.version);
  $("theirs").onclick = () => {
    drawing.take({ nodes: theirs.nodes, links: theirs.links });
    version = theirs.version;
    if ($("name").value.trim() === named) $("name").value = theirs.name;
    named = theirs.name;
    say("");
    toast("Their version is shown. Undo restores yours.");
    showState();
  };
  for (const id of ["changes", "over", "theirs"]) $(id).hidden = false;
}

$("save-form").addEventListener("submit", (event) => { event.preventDefault(); save(); });
$("name").addEventListener("input", () => { wrong($("name"), ""); showState(); });
drawing.addEventListener("change", showState);
guard(isUnsaved);
showState();
