// What every page has: times in the reader's zone, the rail on small screens, buttons that ask before they destroy.

const DISTANCES = [[90, 1, "s"], [5400, 60, "min"], [172800, 3600, "h"], [Infinity, 86400, "d"]];

export function ago(moment, now = new Date()) {
  const seconds = (now - moment) / 1000;
  const distance = Math.abs(seconds);
  if (distance < 5) return "now";
  const [, unit, word] = DISTANCES.find(([limit]) => distance < limit);
  const words = `${Math.round(distance / unit)} ${word}`;
  return seconds > 0 ? `${words} ago` : `in ${words}`;
}

function refreshTimes() {
  document.querySelectorAll("time[datetime]").forEach((element) => {
    const moment = new Date(element.dateTime);
    element.title = moment.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" });
    element.textContent = element.hasAttribute("data-exact")
      ? moment.toLocaleString(undefined, { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" })
      : ago(moment);
  });
}

document.addEventListener("click", (event) => {
  const toggle = event.target.closest("[data-rail-toggle]");
  if (!toggle) return;
  const open = document.getElementById("rail").classList.toggle("open");
  toggle.setAttribute("aria-expanded", String(open));
});

document.addEventListener("submit", (event) => {
  const question = event.submitter?.dataset.confirm || event.target.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
});

// A form that only filters sends itself when a choice changes.
document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-auto-submit]");
  if (form) form.requestSubmit();
});

document.addEventListener("htmx:afterSwap", refreshTimes);
refreshTimes();
setInterval(refreshTimes, 10_000);
