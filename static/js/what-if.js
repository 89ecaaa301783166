// The value of the setting that is chosen: of all the fields the one that is its own, the others out of the form.
const box = document.querySelector("[data-what-setting]");
const setting = box?.querySelector("[name=setting]");

function offer() {
  for (const label of box.querySelectorAll("[data-value]")) {
    const isOwn = label.dataset.value === setting.value;
    label.hidden = !isOwn;
    label.querySelector("[name=value]").disabled = !isOwn;
    // What it was is not offered as a change; a choice that nobody made is the first that would be one.
    const choice = label.querySelector("select");
    if (isOwn && choice?.selectedOptions[0]?.disabled) choice.value = [...choice.options].find((option) => !option.disabled)?.value;
  }
}

if (box) {
  setting.addEventListener("change", offer);
  // Back and forth in the history brings back which was chosen after the page has loaded.
  window.addEventListener("pageshow", offer);
  offer();
}
