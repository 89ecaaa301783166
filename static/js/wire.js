// The wire lab: highlights a field together with its bytes; the URL holds the decoded datagram.

const decoded = document.getElementById("wire-decoded");
let pinned = null;

function light(number) {
  decoded.querySelectorAll(".lit").forEach((element) => element.classList.remove("lit"));
  if (number === null) return;
  decoded.querySelectorAll(`[data-field="${number}"]`).forEach((element) => element.classList.add("lit"));
}

const fieldOf = (target) => target.closest?.("[data-field]")?.dataset.field ?? null;

function pin(number) {
  pinned = number === pinned ? null : number;
  decoded.querySelectorAll("button[data-field]").forEach((button) => {
    button.setAttribute("aria-pressed", String(button.dataset.field === pinned));
  });
  light(pinned);
}

decoded.addEventListener("pointerover", ({ target }) => light(fieldOf(target) ?? pinned));
decoded.addEventListener("pointerleave", () => light(pinned));
decoded.addEventListener("focusin", ({ target }) => light(fieldOf(target) ?? pinned));
decoded.addEventListener("focusout", () => light(pinned));
decoded.addEventListener("click", ({ target }) => {
  const number = fieldOf(target);
  if (number !== null) pin(number);
});

// The URL holds a pasted datagram once it is decoded, or the form of a composed one.
document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.target !== decoded) return;
  pinned = null;
  const link = decoded.querySelector("[data-wire-link]")?.dataset.wireLink;
  if (document.getElementById("wire-paste")) history.replaceState(null, "", link || location.pathname);
});

// Asks for confirmation before sending a message that changes a broker's state.
document.addEventListener("htmx:confirm", (event) => {
  if (event.target.id !== "wire-send") return;
  const changes = decoded.querySelector("[data-changes]")?.dataset.changes;
  if (!changes) return;
  event.preventDefault();
  if (window.confirm(`${changes} Send it?`)) event.detail.issueRequest(true);
});
