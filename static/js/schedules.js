// Clicking a crontab example fills it in.

document.querySelectorAll("[data-crontab]").forEach((button) => {
  button.addEventListener("click", () => {
    const field = document.getElementById("crontab");
    document.getElementById("by-crontab").checked = true;
    field.value = button.dataset.crontab;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  });
});
