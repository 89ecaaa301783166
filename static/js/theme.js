// Runs before the first paint, so that the theme does not flash. Also used by the admin, the files of reports (light on
// paper) and the REST documentation,
// whose own style sheet uses the class.
(() => {
  document.documentElement.dataset.scripts = "";
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let chosen = "system";
  // A file of a report may have no place to keep it: it is then chosen until the file is closed.
  const stored = (use) => { try { return use(localStorage); } catch { return null; } };
  const choice = () => { const kept = stored((storage) => storage.getItem("theme")) || chosen; return ["light", "dark"].includes(kept) ? kept : "system"; };
  const show = (theme) => {
    if (document.documentElement.dataset.bsTheme === theme) return;
    document.documentElement.dataset.bsTheme = theme;
    document.documentElement.classList.toggle("dark-mode", theme === "dark");
    document.dispatchEvent(new CustomEvent("themechange"));
  };
  const apply = () => show(choice() === "system" ? (dark.matches ? "dark" : "light") : choice());
  const mark = () => document.querySelectorAll("[data-theme-choice]").forEach((button) =>
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === choice())));
  apply();
  dark.addEventListener("change", apply);
  addEventListener("beforeprint", () => show("light"));
  addEventListener("afterprint", apply);
  document.addEventListener("DOMContentLoaded", mark);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-theme-choice]");
    if (!button) return;
    chosen = button.dataset.themeChoice;
    stored((storage) => storage.setItem("theme", chosen));
    apply();
    mark();
  });
})();
