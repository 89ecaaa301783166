// Copies the text of an element, or the value of a field, and says so.
import { toast } from "./toast.js";

export async function copy(element) {
  const text = element.value ?? element.textContent.trim();
  try {
    await navigator.clipboard.writeText(text);
    toast("Copied.");
  } catch {
    // Without TLS and beyond this machine browsers keep the clipboard to themselves: what is chosen, the reader copies.
    getSelection().selectAllChildren(element);
    element.select?.();
    toast("The browser does not let this page copy. The text is selected; copy it with Ctrl+C or ⌘C.", { kind: "warning" });
  }
}
