// Products and prices of an order form, kept up to date while it is filled in.
//
// An answer that comes late must not undo what somebody chose in the meantime. So answers replace
// sentences and prices (data-live) and tiles of the shelf, and never a field; only choosing
// another product replaces the fields of the product. Of two answers, the newer question's counts.

const form = document.querySelector("[data-order-form]");
const PAUSE = 250;
const ASKED = ["order", "country", "shipping_method", "sku", "copies", "sizing", "q", "kind", "size"];
const latest = {};

function question(extra) {
  const sent = new FormData(form);
  const words = new URLSearchParams();
  for (const [name, value] of sent) {
    const counts = ASKED.includes(name) || name.startsWith("choice-");
    if (counts && typeof value === "string" && value) words.set(name, value);
  }
  if (form.dataset.waiting) words.set("waiting", form.dataset.waiting);
  for (const [name, value] of Object.entries(extra)) words.set(name, value);
  return `${form.dataset.orderForm}?${words}`;
}

// Ask for the page as it would be now; apply it unless something newer was asked in the meantime.
async function ask(what, extra, apply) {
  const mine = (latest[what] = (latest[what] ?? 0) + 1);
  const answer = await fetch(question(extra), { credentials: "same-origin" });
  if (!answer.ok || answer.redirected) throw new Error(`answered ${answer.status}`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (mine === latest[what]) apply(page);
}

function showLive(page) {
  for (const place of form.querySelectorAll("[data-live]")) {
    const news = page.querySelector(`[data-live="${CSS.escape(place.dataset.live)}"]`);
    if (news && news.innerHTML !== place.innerHTML) place.replaceChildren(...news.childNodes);
  }
  for (const size of form.querySelectorAll("[data-size]")) {
    const news = page.querySelector(`[data-size="${CSS.escape(size.dataset.size)}"]`);
    if (news) size.hidden = news.hidden && !size.querySelector("input").checked;
  }
}

function showTiles(page) {
  const tiles = form.querySelector("#tiles");
  const news = page.querySelector("#tiles");
  // Whoever is on the shelf with the keyboard stays there.
  if (tiles.contains(document.activeElement) || !news) return;
  tiles.replaceChildren(...news.childNodes);
}

function refreshPrice(alsoTiles) {
  const apply = (page) => {
    showLive(page);
    if (alsoTiles) showTiles(page);
  };
  // The price that is shown stays until there is a newer one.
  ask("price", {}, apply).catch(() => {});
}

function find() {
  ask("tiles", {}, showTiles).catch(() => {});
}

function showMore(button) {
  ask("tiles", { from: button.dataset.from }, (page) => {
    const list = form.querySelector(".shelf__tiles");
    const news = [...page.querySelectorAll(".shelf__tiles > li")];
    button.closest("li").remove();
    list.append(...news);
    news[0]?.querySelector("button").focus();
  }).catch(() => {});
}

function press(sku) {
  for (const tile of form.querySelectorAll("[data-pick]")) {
    tile.setAttribute("aria-pressed", String(tile.dataset.pick === sku));
  }
}

function pick(tile) {
  const before = form.querySelector('[data-pick][aria-pressed="true"]')?.dataset.pick;
  press(tile.dataset.pick);
  const chosen = form.querySelector("#chosen");
  chosen.setAttribute("aria-busy", "true");
  // Whoever sends the form or a picture waits for this: nothing is ordered of the former product.
  form.picking = ask("pick", { pick: tile.dataset.pick }, (page) => {
    chosen.replaceChildren(...page.querySelector("#chosen").childNodes);
    chosen.removeAttribute("aria-busy");
    showChosenSize();
    chosen.scrollIntoView({ block: "nearest" });
    refreshPrice(false);
    form.dispatchEvent(new CustomEvent("product-chosen"));
    return true;
  }).catch((error) => {
    press(before);
    chosen.removeAttribute("aria-busy");
    say("The product could not be loaded, so the former one is still chosen. Try again.");
    throw error;
  });
  form.picking.catch(() => {});
}

// There may be many sizes, of which the chosen one should be in sight.
function showChosenSize() {
  const room = form.querySelector(".chips__room");
  const chip = room?.querySelector("input:checked")?.closest(".chip");
  if (chip) room.scrollTop = chip.offsetTop - room.offsetTop - room.clientHeight / 2;
}

function say(sentence) {
  const place = form.querySelector('[data-live="availability"]');
  const said = document.createElement("p");
  said.className = "field__error";
  said.textContent = sentence;
  place?.replaceChildren(said);
}

function fillInSample(button) {
  for (const [name, value] of Object.entries(JSON.parse(button.dataset.sample))) {
    form.elements[name].value = value;
  }
  refreshPrice(true);
  form.elements.recipient_name.focus();
}

function later(act) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, PAUSE);
  };
}

function start() {
  showChosenSize();
  const findSoon = later(find);
  const priceSoon = later(() => refreshPrice(false));
  form.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const acts = { pick, from: showMore, sample: fillInSample };
    const what = Object.keys(acts).find((name) => name in button.dataset);
    if (!what) return;
    event.preventDefault();
    acts[what](button);
  });
  form.addEventListener("input", ({ target }) => {
    if (target.name === "q") findSoon();
    if (target.name === "copies") priceSoon();
  });
  form.addEventListener("change", ({ target }) => {
    if (target.name === "kind" || target.name === "size") find();
    else if (target.name === "country") refreshPrice(true);
    else if (["sku", "shipping_method"].includes(target.name)) refreshPrice(false);
  });
  form.addEventListener("pictures-changed", priceSoon);
  // The first button is what Enter presses: in the search it finds, elsewhere it creates.
  form.addEventListener("submit", (event) => {
    if (!event.submitter || !("find" in event.submitter.dataset)) return;
    event.preventDefault();
    const typing = document.activeElement;
    const elsewhere = typing?.matches("input:not([name=q]):not([name=kind])") && form.contains(typing);
    if (elsewhere) form.requestSubmit(form.querySelector("[data-create]"));
    else find();
  });
}

if (form) start();
