// What moves on the home page is replaced every few seconds; the keyboard stays where it was.

const NOW = "now";
let focused = null;

const address = (element) => element?.getAttribute("href") ?? element?.closest("form")?.getAttribute("action") ?? null;

document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.detail.target.id !== NOW) return;
  const active = document.activeElement;
  focused = event.detail.target.contains(active) ? { tag: active.localName, to: address(active) } : null;
});

document.addEventListener("htmx:afterSettle", () => {
  if (!focused) return;
  const { tag, to } = focused;
  focused = null;
  const same = [...document.querySelectorAll(`#${NOW} ${tag}`)].find((element) => address(element) === to);
  same?.focus({ preventScroll: true });
});

// Nobody reads a page that is not shown, or selects in one that is replaced.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.elt.id !== NOW) return;
  const selected = window.getSelection();
  const isSelecting = selected && !selected.isCollapsed && event.detail.elt.contains(selected.anchorNode);
  if (document.hidden || isSelecting) event.preventDefault();
});
