// Fault rows of a new experiment: add, remove, and label their fields by kind.
import { toast } from "./toast.js";

const rows = document.getElementById("fault-rows");

function explain(row) {
  const { value, dataset } = row.querySelector("select").selectedOptions[0];
  row.querySelector('[name="fault-where"]').placeholder = dataset.example;
  row.querySelector("[data-amount]").textContent = dataset.amountLabel;
  for (const own of row.querySelectorAll(".fault-own")) own.hidden = own.dataset.kind !== value;
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

rows?.addEventListener("change", (event) => { if (event.target.matches('[name="fault-what"]')) explain(event.target.closest("li")); });
