// The form of a new experiment: marks changed fields, hides unused ones, shows errors, and imports and exports the
// document.
import { saveAs } from "./format.js";
import { isChanged } from "./guard.js";
import { toast } from "./toast.js";

const form = document.getElementById("experiment-form");
const bar = document.getElementById("launch-bar");
const unused = document.getElementById("unused");

// --- Changed fields ------------------------------------------------------------------------------------------------
const inputsOf = (setting) => [...setting.querySelectorAll("input, select, textarea")];
const boxes = (setting) => inputsOf(setting).filter((input) => input.type === "checkbox");

function textOf(setting) {
  const ticked = boxes(setting);
  if (setting.querySelector("textarea")) return inputsOf(setting).map((input) => input.value).join(", ");
  const texts = ticked.length ? ticked.filter((box) => box.checked).map((box) => box.value) : inputsOf(setting)[0].value.split(",");
  return texts.map((text) => text.trim()).filter(Boolean).join(", ");
}

function markChanged(setting) {
  const { default: usual } = setting.dataset;
  setting.querySelector("[data-changed]").hidden = textOf(setting) === usual;
}

function reset(setting) {
  const usual = setting.dataset.default;
  const ticked = boxes(setting);
  if (ticked.length) for (const box of ticked) box.checked = usual.split(", ").includes(box.value);
  else {
    const [first, ...more] = inputsOf(setting);
    first.value = usual;
    for (const one of more) one.remove();
  }
  markChanged(setting);
  inputsOf(setting)[0].focus();
  form.dispatchEvent(new Event("change", { bubbles: true }));
}

form.addEventListener("input", ({ target }) => {
  const setting = target.closest("[data-setting]");
  if (setting) markChanged(setting);
});
form.addEventListener("click", ({ target }) => { if (target.closest("[data-reset]")) reset(target.closest("[data-setting]")); });

// --- Unused fields and errors --------------------------------------------------------------------------------------
function hideUnused() {
  if (!unused) return;
  const now = bar.querySelector("#unused-now");
  if (now && now.innerHTML.trim() !== unused.innerHTML.trim()) {
    const wasOpen = unused.querySelector("details")?.open;
    unused.innerHTML = now.innerHTML;
    if (wasOpen && unused.firstElementChild) unused.firstElementChild.open = true;
  }
  const names = new Set((unused.querySelector("[data-unused]")?.dataset.unused || "").split(" "));
  for (const setting of form.querySelectorAll("[data-setting]")) {
    const isWrong = setting.querySelector(".wrong") || setting.contains(document.activeElement);
    setting.hidden = names.has(setting.dataset.setting) && !isWrong;
  }
  for (const section of form.querySelectorAll("details.section")) {
    section.hidden = !section.querySelector("[data-setting]:not([hidden])");
  }
}

// Shows the launch bar's error at its field.
function blame() {
  form.querySelectorAll("[data-said-live]").forEach((sentence) => {
    sentence.closest(".field").classList.remove("bad");
    sentence.remove();
  });
  const problem = bar.querySelector("[data-problem]");
  const field = problem && fieldOf(problem.dataset.problem);
  if (!field || field.querySelector(".wrong")) return;
  const sentence = Object.assign(document.createElement("p"), { className: "wrong", textContent: problem.dataset.sentence });
  sentence.dataset.saidLive = "";
  field.classList.add("bad");
  (field.querySelector(".help") || field.lastElementChild).before(sentence);
}

function fieldOf(name) {
  const setting = CSS.escape(name.replace(".", "-"));
  return form.querySelector(`[data-setting="${setting}"], [data-field="${CSS.escape(name.split(".")[0])}"]`);
}

document.addEventListener("htmx:afterSwap", ({ target }) => {
  if (target !== bar) return;
  hideUnused();
  blame();
});
hideUnused();
blame();

// --- The document as a file ----------------------------------------------------------------------------------------
document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-download]");
  if (!button) return;
  const text = document.querySelector(button.dataset.download).value;
  const name = text.match(/^name: *['"]?(.*?)['"]?$/m)?.[1] || "experiment";
  saveAs(`${name.replace(/[^\w-]+/g, "-").toLowerCase()}.yaml`, text, "application/yaml");
});

for (const input of form.querySelectorAll("input[type=file]")) {
  const read = form.querySelector("[value=upload]");
  input.addEventListener("change", (event) => {
    event.stopPropagation();
    const [file] = input.files;
    const most = Number(input.dataset.mostBytes);
    if (file && file.size > most) {
      toast(`${file.name} has ${file.size.toLocaleString()} bytes; the limit is ${most.toLocaleString()}.`, { kind: "error" });
      input.value = "";
    } else if (file && isChanged(document.getElementById("document")) && !window.confirm("Replace the document with this file?")) {
      input.value = "";
    } else if (file) {
      form.requestSubmit(read);
    }
  });
  input.addEventListener("input", (event) => event.stopPropagation());
}
