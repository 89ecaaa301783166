// What the studio asks of REST. An answer that is no answer becomes a sentence; nothing typed or drawn depends on it.
import { token } from "./session.js";

// A log-in in another tab renews the token: the one that is valid when it is sent counts.
const tokenOfPage = () => token() || document.querySelector("#save-form input[name=csrfmiddlewaretoken]").value;
const GONE = "The server did not answer. Nothing is lost: try again in a moment.";
const LOGGED_OUT = "You are logged out. Log in again in another tab; nothing is lost here.";

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
