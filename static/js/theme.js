// Runs before the first paint, so that the page never flashes in the other theme. The admin and the REST documentation
// use it too; the documentation's own style sheet goes by the class.
(() => {
  document.documentElement.dataset.scripts = "";
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const choice = () => (["light", "dark"].includes(localStorage.getItem("theme")) ? localStorage.getItem("theme") : "system");
  const apply = () => {
    const theme = choice() === "system" ? (dark.matches ? "dark" : "light") : choice();
    if (document.documentElement.dataset.bsTheme === theme) return;
    document.documentElement.dataset.bsTheme = theme;
    document.documentElement.classList.toggle("dark-mode", theme === "dark");
    document.dispatchEvent(new CustomEvent("themechange"));
  };
  const mark = () => document.querySelectorAll("[data-theme-choice]").forEach((button) =>
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === choice())));
  apply();
  dark.addEventListener("change", apply);
  document.addEventListener("DOMContentLoaded", mark);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-theme-choice]");
    if (!button) return;
    localStorage.setItem("theme", button.dataset.themeChoice);
    apply();
    mark();
  });
})();
