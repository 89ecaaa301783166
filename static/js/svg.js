// Helpers to build SVG elements.

export const NS = "http://www.w3.org/2000/svg";

export function node(tag, attributes, text) {
  const made = document.createElementNS(NS, tag);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}
