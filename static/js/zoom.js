// Drag to zoom, for charts without it: a mouse or pen selects, a finger scrolls the page.
const LEAST_PX = 6;

// `inside(point)`: whether a point is in the plot; `select(from, to)`: the selection, in pixels of the element.
export function dragToZoom(element, { inside, select, reset }) {
  let from = null, box = null;
  const at = (event) => { const { left, top } = element.getBoundingClientRect(); return [event.clientX - left, event.clientY - top]; };
  const end = () => { box?.remove(); from = box = null; };
  element.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "touch" || event.button !== 0 || !inside(at(event))) return;
    from = at(event);
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", (event) => {
    if (!from) return;
    const to = at(event);
    box ??= element.appendChild(Object.assign(document.createElement("div"), { className: "zoom-box" }));
    Object.assign(box.style, { left: `${Math.min(from[0], to[0])}px`, top: `${Math.min(from[1], to[1])}px`, width: `${Math.abs(to[0] - from[0])}px`, height: `${Math.abs(to[1] - from[1])}px` });
  });
  element.addEventListener("pointerup", (event) => {
    if (!from) return;
    const [start, to] = [from, at(event)];
    end();
    if (Math.abs(to[0] - start[0]) >= LEAST_PX && Math.abs(to[1] - start[1]) >= LEAST_PX) select(start, to);
  });
  element.addEventListener("pointercancel", end);
  element.addEventListener("keydown", (event) => { if (event.key === "Escape") end(); });
  element.addEventListener("dblclick", reset);
}

// The button that resets the zoom, visible while zoomed.
export class ZoomReset {
  constructor(place, reset) {
    this.button = Object.assign(document.createElement("button"), { type: "button", className: "link-button small", textContent: "Reset zoom", title: "Or double-click the chart", hidden: true });
    this.button.addEventListener("click", reset);
    place?.prepend(this.button);
  }

  show(on) { this.button.hidden = !on; }
}
