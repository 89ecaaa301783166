// Shows the value field of the selected setting and disables the others.
const box = document.querySelector("[data-what-setting]");
const setting = box?.querySelector("[name=setting]");

function offer() {
  for (const label of box.querySelectorAll("[data-value]")) {
    const isOwn = label.dataset.value === setting.value;
    label.hidden = !isOwn;
    label.querySelector("[name=value]").disabled = !isOwn;
    // The current value is not offered; without a selection, the first other value is preselected.
    const choice = label.querySelector("select");
    if (isOwn && choice?.selectedOptions[0]?.disabled) choice.value = [...choice.options].find((option) => !option.disabled)?.value;
  }
}

if (box) {
  setting.addEventListener("change", offer);
  // History navigation restores the selection after the page has loaded.
  window.addEventListener("pageshow", offer);
  offer();
}
