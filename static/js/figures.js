// Live figures of a page: `data-figure` is the path of a value, `data-format` its format.
import { writer } from "./format.js";

const dig = (from, path) => path.split(".").reduce((value, key) => (value === null || value === undefined ? value : value[key]), from);

export function showFigures(box, from) {
  box.querySelectorAll("[data-figure]").forEach((element) => {
    const words = writer(element.dataset.format)(dig(from, element.dataset.figure));
    if (element.textContent !== words) element.textContent = words;
  });
}
