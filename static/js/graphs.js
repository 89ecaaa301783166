// Draws all static overlay graphs, including those in previews.
import { drawAll } from "./graph.js";

drawAll();
document.addEventListener("htmx:afterSettle", (event) => drawAll(event.target));
