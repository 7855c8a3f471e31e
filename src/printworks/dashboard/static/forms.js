// Forms work without this. It keeps a button from being pressed twice, and drafts of long forms in
// this browser until they are sent or somebody signs out.

const KEPT = "printworks-draft:";
const DAY = 86_400_000;

function forgetAll(butOf = "nobody") {
  for (const key of Object.keys(localStorage)) {
    const isDraft = key.startsWith(KEPT);
    if (isDraft && !key.startsWith(`${KEPT}${butOf}:`)) localStorage.removeItem(key);
  }
}

// What was typed or chosen: no hidden fields, passwords or files.
function fieldsOf(form) {
  return [...form.elements].filter(
    (field) => field.name && !["hidden", "password", "file", "submit", "button"].includes(field.type),
  );
}

function read(form) {
  return fieldsOf(form).map((field) =>
    ["checkbox", "radio"].includes(field.type) ? field.checked : field.value,
  );
}

function fill(form, values) {
  fieldsOf(form).forEach((field, number) => {
    if (["checkbox", "radio"].includes(field.type)) field.checked = Boolean(values[number]);
    else if (typeof values[number] === "string") field.value = values[number];
  });
}

function find(key) {
  try {
    const kept = JSON.parse(localStorage.getItem(key));
    return kept && Date.now() - kept.at < DAY ? kept : null;
  } catch {
    return null;
  }
}

// A draft is of one person and one form; a form that has changed since has other fields.
function keepDraft(form) {
  const key = `${KEPT}${document.body.dataset.person}:${location.pathname}${location.search}`;
  const before = read(form);
  const kept = find(key);
  if (kept && kept.values.length === before.length && String(kept.values) !== String(before)) {
    const offer = form.previousElementSibling;
    offer.hidden = false;
    const [restore, discard] = offer.querySelectorAll("button");
    restore.addEventListener("click", () => {
      fill(form, kept.values);
      offer.hidden = true;
      fieldsOf(form).find((field) => field.checkVisibility())?.focus();
    });
    discard.addEventListener("click", () => {
      localStorage.removeItem(key);
      offer.hidden = true;
    });
  }
  form.addEventListener("input", () => {
    localStorage.setItem(key, JSON.stringify({ at: Date.now(), values: read(form) }));
  });
  form.addEventListener("submit", () => sessionStorage.setItem("sent-draft", key));
}

// A page that says that something was done is the answer to the form that was sent last.
function forgetSent() {
  const key = sessionStorage.getItem("sent-draft");
  sessionStorage.removeItem("sent-draft");
  if (key && document.querySelector("[data-done]")) localStorage.removeItem(key);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  // Not `form.action`: a form may have a field of that name.
  if (form.getAttribute("action")?.endsWith("/sign-out")) forgetAll();
  if (form.method !== "post" || event.defaultPrevented) return;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  // The answer may be a file, which leaves the page as it is.
  setTimeout(() => delete form.dataset.sent, 10_000);
});
// A form to which somebody comes back can be sent again.
window.addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});
document.addEventListener("input", (event) => delete event.target.form?.dataset.sent);

try {
  // What somebody else has left in this browser.
  forgetAll(document.body.dataset.person);
  forgetSent();
  document.querySelectorAll("form[data-draft]").forEach(keepDraft);
} catch {
  // A browser that stores nothing keeps no drafts.
}
