// The field that searches a list to pick from: it changes nothing of the form that it stands in, and does not send it.

document.querySelectorAll("[data-picks]").forEach((search) => {
  for (const name of ["input", "change"]) search.addEventListener(name, (event) => event.stopPropagation());
  search.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
});
