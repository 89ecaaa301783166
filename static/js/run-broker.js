// The panel of one broker of a run or a network, opened from the graph or the table. It polls while it is open and the
// brokers run. The URL holds the open broker.
import { remember } from "./address.js";

export class BrokerPanel {
  constructor(box, overlay) {
    Object.assign(this, { box, overlay, opener: null });
    document.addEventListener("click", (event) => {
      const button = event.target.closest?.("[data-broker]");
      if (button) this.open(Number(button.dataset.broker), button);
      else if (event.target.closest?.("[data-broker-close]")) this.close();
    });
    document.addEventListener("keydown", (event) => { if (event.key === "Escape" && this.box.contains(document.activeElement)) this.close(); });
    const opened = box.querySelector("[data-opened]");
    if (opened) overlay.select(Number(opened.dataset.opened));
  }

  open(index, opener = null) {
    this.opener = opener && !this.box.contains(opener) ? opener : this.opener;
    this.overlay.select(index);
    remember({ broker: index });
    htmx.ajax("GET", opener?.dataset.url ?? `${this.box.dataset.url}${index}/`, { target: this.box, swap: "innerHTML" }).then(() => {
      if (opener) this.box.querySelector(".broker-title")?.focus();
      this.box.scrollIntoView({ block: "nearest" });
    });
  }

  close() {
    this.overlay.select(null);
    remember({ broker: null });
    htmx.ajax("GET", this.box.dataset.closed ?? this.box.dataset.url, { target: this.box, swap: "innerHTML" });
    // A polled table may have replaced the button; the graph has none.
    this.box.tabIndex = -1;
    (document.getElementById(this.opener?.id) ?? this.opener ?? this.box).focus({ preventScroll: !this.opener });
    this.opener = null;
  }
}
