// Puts a button beside everything that people copy. Without this script, they select it.
// `data-copy` says what it is, `data-copy-text` what is copied unless it is the text itself.

const BUTTON = "copy";
const SHOWN_FOR = 2000;

function addButton(place) {
  if (place.nextElementSibling?.classList.contains(BUTTON)) return;
  const button = document.createElement("button");
  button.type = "button";
  button.className = `${BUTTON} button button--small button--quiet`;
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy ${place.dataset.copy}`);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(place.dataset.copyText ?? place.textContent.trim());
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, SHOWN_FOR);
  });
  place.after(button);
}

function addButtons() {
  document.querySelectorAll("[data-copy]").forEach(addButton);
}

// A page that is not secure has no clipboard.
if (navigator.clipboard) {
  addButtons();
  // Parts of a page refresh themselves.
  new MutationObserver(addButtons).observe(document.body, { childList: true, subtree: true });
}
