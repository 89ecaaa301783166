// Draws every still picture of an overlay, also those that arrive with a preview.
import { drawAll } from "./graph.js";

drawAll();
document.addEventListener("htmx:afterSettle", (event) => drawAll(event.target));
