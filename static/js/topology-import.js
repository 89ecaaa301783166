// Reports a too large document before sending, which keeps the input.
const form = document.getElementById("import-form");
const limit = Number(form.dataset.limit);

function tell(name, sentence) {
  const [field, told] = [document.getElementById(name), document.getElementById(`${name}-wrong`)];
  told.textContent = sentence;
  told.hidden = !sentence;
  field.closest(".field").classList.toggle("bad", Boolean(sentence));
  field.toggleAttribute("aria-invalid", Boolean(sentence));
  if (sentence) field.focus();
}

function tooLarge(bytes) { return bytes > limit ? `Has ${(bytes / 1e6).toFixed(1)} MB; the limit is ${limit / 1e6} MB.` : ""; }

form.addEventListener("submit", (event) => {
  const [file] = form.elements.file.files;
  const found = { file: tooLarge(file?.size || 0), text: tooLarge(new Blob([form.elements.text.value]).size) };
  for (const [name, sentence] of Object.entries(found)) if (sentence) { event.preventDefault(); tell(name, sentence); }
});
