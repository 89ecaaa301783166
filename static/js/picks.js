// A list to pick from and the field that searches it: what is searched for changes nothing of the form around it, and does
// not send it; what is picked does, though the list that comes next has it from the beginning.

document.querySelectorAll("[data-picked]").forEach((list) => {
  const search = list.querySelector("input[type=search]");
  list.addEventListener("change", ({ target }) => { if (target !== search) list.closest("form").dataset.typed = ""; });
  if (!search) return;
  for (const name of ["input", "change"]) search.addEventListener(name, (event) => event.stopPropagation());
  search.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
});
