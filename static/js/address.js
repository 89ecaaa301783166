// The address shows what the page shows, so that it can be shared: forms write their fields to it, and parts what they
// brought.

// Sets parameters of the query; empty values remove them.
export function remember(values, hash = null) {
  const url = new URL(location);
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === undefined || value === "") url.searchParams.delete(name); else url.searchParams.set(name, value);
  }
  if (hash !== null) url.hash = hash;
  history.replaceState(history.state, "", url);
}

// `data-in-address` names the fields of a form that are written when it asks for something, `FIELD:PARAMETER` where a
// parameter of the same name means something else; what another answer brought is forgotten.
document.addEventListener("htmx:configRequest", ({ target, detail }) => {
  const names = target.dataset?.inAddress?.split(" ");
  if (!names || detail.parameters.do !== "ask") return;
  remember({ walk: null, trace: null, ...Object.fromEntries(names.map((name) => name.split(":")).map(([field, name = field]) => [name, detail.parameters[field]])) }, target.dataset.hash);
});

// `data-address="name=value"` of a part that was swapped in.
document.addEventListener("htmx:afterSwap", ({ target }) => {
  const part = target.querySelector?.("[data-address]");
  if (part) remember(Object.fromEntries(new URLSearchParams(part.dataset.address)));
});
