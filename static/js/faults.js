// Fault rows of a new experiment: add, remove, and label their fields by kind.
import { toast } from "./toast.js";

const rows = document.getElementById("fault-rows");
const EXAMPLES = { kill: "brokers: 3, 5-8", restart: "brokers: 3, 5-8", partition: "islands: 0-4 | 5-9", slow: "links: 0-1, 1-2 or all; one-way: 0>1", lossy: "links: 0-1, 1-2 or all; one-way: 0>1", impaired: "links: 0-1, 1-2 or all; one-way: 0>1" };
const AMOUNTS = { slow: "Added ms", lossy: "Loss rate" };

function explain(row) {
  const what = row.querySelector("select").value;
  row.querySelector('[name="fault-where"]').placeholder = EXAMPLES[what];
  row.querySelector("[data-amount]").textContent = AMOUNTS[what] || "Amount";
}

// Triggers a new estimate, as a changed field does.
const changed = () => rows.closest("form").dispatchEvent(new Event("change", { bubbles: true }));

document.getElementById("fault-add")?.addEventListener("click", () => {
  rows.append(document.getElementById("fault-template").content.cloneNode(true));
  rows.lastElementChild.querySelector("select").focus();
  changed();
});
rows?.addEventListener("click", (event) => {
  if (!event.target.closest("[data-remove-fault]")) return;
  const row = event.target.closest("li");
  const place = [...rows.children].indexOf(row);
  const next = row.nextElementSibling || row.previousElementSibling;
  row.remove();
  (next?.querySelector("select") || document.getElementById("fault-add")).focus();
  changed();
  toast("Fault removed.", { kind: "info", link: { text: "Undo", onclick: () => giveBack(row, place) } });
});

function giveBack(row, place) {
  rows.insertBefore(row, rows.children[place] ?? null);
  row.querySelector("select").focus();
  changed();
}

rows?.addEventListener("change", (event) => { if (event.target.matches("select")) explain(event.target.closest("li")); });
