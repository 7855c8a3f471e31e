// The API reference works without this; it adds the search and the buttons that copy.

const search = document.querySelector(".reference__search");
const find = document.getElementById("find");

function show() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (text) => words.every((word) => text.toLowerCase().includes(word));
  let count = 0;
  for (const operation of document.querySelectorAll("[data-operation]")) {
    operation.hidden = !fits(operation.textContent);
    count += operation.hidden ? 0 : 1;
    for (const line of document.querySelectorAll(`[data-line="${operation.id}"]`)) {
      line.hidden = operation.hidden;
    }
  }
  for (const group of document.querySelectorAll("[data-group]")) {
    group.hidden = !group.querySelector("[data-operation]:not([hidden])");
  }
  const found = count === 1 ? "1 operation" : `${count} operations`;
  document.getElementById("found").textContent = words.length ? `${found} found` : "";
}

if (search) {
  search.hidden = false;
  find.addEventListener("input", show);
  // A link to an operation that the search has hidden.
  window.addEventListener("hashchange", () => {
    if (document.getElementById(location.hash.slice(1))?.hidden) {
      find.value = "";
      show();
      document.getElementById(location.hash.slice(1)).scrollIntoView();
    }
  });
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.previousElementSibling.textContent);
    const label = button.firstChild;
    label.textContent = "Copied";
    setTimeout(() => { label.textContent = "Copy"; }, 2000);
  });
}
