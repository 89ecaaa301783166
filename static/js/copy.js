// Copies the text of an element or the value of a field, and confirms it.
import { toast } from "./toast.js";

export async function copy(element) {
  const text = element.value ?? element.textContent.trim();
  try {
    await navigator.clipboard.writeText(text);
    toast("Copied.");
  } catch {
    // Without TLS, browsers deny access to the clipboard, except on localhost: the text is selected instead.
    getSelection().selectAllChildren(element);
    element.select?.();
    toast("The browser denied access to the clipboard. The text is selected; press Ctrl+C or ⌘C.", { kind: "warning" });
  }
}
