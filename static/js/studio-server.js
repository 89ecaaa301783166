// REST requests of the editor. Failures become messages; input and drawing are kept.
import { token } from "./session.js";

// A login in another tab renews the CSRF token: the current one is sent.
const tokenOfPage = () => token() || document.querySelector("#save-form input[name=csrfmiddlewaretoken]").value;
const GONE = "The server did not respond. Your changes are kept. Try again in a moment.";
const LOGGED_OUT = "You are logged out. Log in in another tab; your changes are kept.";

export class Refused extends Error {
  constructor({ field = "", sentence = GONE }, status = 0) {
    super(sentence);
    this.field = field;
    this.status = status;
  }
}

export async function ask(method, path, body, signal) {
  let answer;
  try {
    answer = await fetch(`/api/topologies/${path}`, { method, signal, body: body && JSON.stringify(body), headers: { "Content-Type": "application/json", "X-CSRFToken": tokenOfPage() } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused({});
  }
  const said = await answer.json().catch(() => ({}));
  if (answer.ok) return said;
  if (answer.status === 401) throw new Refused({ sentence: LOGGED_OUT }, 401);
  throw new Refused(said, answer.status);
}
