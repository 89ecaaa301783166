// The list of runs: selection, filter examples, and forms in cells.

const bar = document.getElementById("bulk");
const boxes = () => [...document.querySelectorAll("[data-select]")];
const ofPage = document.querySelector("[data-select-page]");
const all = bar?.querySelector("[data-all]");
const chooseAll = bar?.querySelector("[data-choose-all]");
let last = null;

function say() {
  const list = boxes();
  const chosen = list.filter((box) => box.checked).length;
  if (chosen < list.length) all.value = "";
  const count = all.value ? Number(chooseAll.dataset.chooseAll) : chosen;
  bar.querySelector("[data-chosen]").textContent = chosen ? `${count.toLocaleString("en").replaceAll(",", "\u202f")} selected` : "";
  if (chooseAll) chooseAll.hidden = Boolean(all.value) || chosen < list.length;
  ofPage.checked = chosen > 0 && chosen === list.length;
  ofPage.indeterminate = chosen > 0 && chosen < list.length;
}

function set(list, checked) {
  list.forEach((box) => { box.checked = checked; });
  say();
}

// Shift-click selects all rows since the last click.
document.addEventListener("click", (event) => {
  const box = event.target.closest("[data-select]");
  if (!box) return;
  const list = boxes();
  const from = list.indexOf(last);
  const to = list.indexOf(box);
  if (event.shiftKey && from >= 0) set(list.slice(Math.min(from, to), Math.max(from, to) + 1), box.checked);
  last = box;
  say();
});

if (bar) {
  ofPage.addEventListener("change", () => set(boxes(), ofPage.checked));
  document.querySelector("[data-choose-page]").addEventListener("click", () => set(boxes(), true));
  bar.querySelector("[data-choose-none]").addEventListener("click", () => set(boxes(), false));
  chooseAll?.addEventListener("click", () => { all.value = "1"; say(); bar.querySelector("[data-choose-none]").focus(); });
  addEventListener("pageshow", say); // browsers restore checkboxes on history navigation
  say();
}

document.addEventListener("click", (event) => {
  const example = event.target.closest("[data-condition]");
  if (!example) return;
  const field = document.getElementById("q");
  field.value = [field.value.trim(), example.dataset.condition].filter(Boolean).join(" and ");
  field.focus();
});
