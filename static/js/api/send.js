// Sends the requests of client.js. Failures become `Refused`, with a sentence for people.
import { token } from "../session.js";

const GONE = "The server did not respond. Your changes are kept. Try again in a moment.";
const LOGGED_OUT = "You are logged out. Log in in another tab; your changes are kept.";

const JSON_TYPE = "application/json";
const PROBLEM = "application/problem+json";

/** @typedef {{ signal?: AbortSignal, headers?: Record<string, string>, body?: any, query?: Record<string, any>, type?: string }} Options */

/** A request that was refused, or got no answer (`status` 0). `field` names what is wrong with it; `errors` has all. */
export class Refused extends Error {
  constructor({ field = "", code = "", sentence = GONE, errors = [] }, status = 0) {
    super(sentence);
    Object.assign(this, { field, code, status, errors });
  }
}

/** A part of a path. */
export const part = (value) => encodeURIComponent(value);

// A login in another tab renews the CSRF token: the current one is sent.
const csrf = () => token() || document.querySelector("input[name=csrfmiddlewaretoken]")?.value || "";

/**
 * JSON as data, text and XML as a string, other answers as a Blob; null without content. A body of another `type` than
 * JSON is sent as it is.
 * @param {string} method
 * @param {string} path
 * @param {Options} [options]
 * @returns {Promise<any>}
 */
export async function send(method, path, { body, query, headers, signal, type = JSON_TYPE } = {}) {
  const isJson = type === JSON_TYPE;
  // Refusals of operations in XML are problem details then, which are read here, too.
  const sent = { Accept: `${isJson ? JSON_TYPE : PROBLEM}, */*;q=0.5`, ...(body === undefined ? {} : { "Content-Type": type }), ...(method === "GET" ? {} : { "X-CSRFToken": csrf() }), ...headers };
  let answer;
  try {
    answer = await fetch(path + written(query), { method, signal, headers: sent, body: isJson && body !== undefined ? JSON.stringify(body) : body });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused({});
  }
  if (answer.ok) return read(answer);
  if (answer.status === 401) throw new Refused({ sentence: LOGGED_OUT }, 401);
  throw new Refused(told(await answer.json().catch(() => ({}))), answer.status);
}

/** A refusal, of which problem details (RFC 9457) are another form. */
function told(refusal) {
  const errors = (refusal.errors ?? []).map(({ detail, ...one }) => ({ sentence: detail, ...one }));
  return refusal.detail === undefined ? refusal : { sentence: refusal.detail, ...errors[0], errors };
}

function written(query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

function read(answer) {
  const kind = answer.headers.get("Content-Type") ?? "";
  if (answer.status === 204) return null;
  if (kind.includes("json")) return answer.json().catch(() => ({}));
  return kind.startsWith("text/") || /yaml|xml/.test(kind) ? answer.text() : answer.blob();
}
