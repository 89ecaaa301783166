// Selection lists with a search field: searching does not change or submit the surrounding form; selecting does,
// although a newly loaded list already contains the selection.

document.querySelectorAll("[data-picked]").forEach((list) => {
  const search = list.querySelector("input[type=search]");
  list.addEventListener("change", ({ target }) => { if (target !== search) list.closest("form").dataset.typed = ""; });
  if (!search) return;
  for (const name of ["input", "change"]) search.addEventListener(name, (event) => event.stopPropagation());
  search.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
});
