// Pictures of an order form: each is uploaded on its own, so that one that fails costs no other.
//
// The order exists as a draft from the first picture on. A page that is closed loses nothing but
// what was still on its way.

const drop = document.querySelector("[data-pictures]");
const form = drop?.closest("form");
const AT_ONCE = 3;
const MOST_TRIES = 40;
const tiles = new Set();
let active = 0;
let beginning = null;
let isSending = false;

const tray = drop?.querySelector("[data-tray]");
const problem = drop?.querySelector("[data-problem]");
const isNew = form?.dataset.orderForm === "/orders/new";
const wait = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
const megabytes = (bytes) => `${Math.floor(bytes / 1e6)} MB`;

// Of a picture: it waits, is uploaded, is checked, was added, was refused, or may be tried again.
const WAITING = "waiting", UPLOADING = "uploading", CHECKING = "checking";
const ADDED = "added", REFUSED = "refused", FAILED = "failed";
const UNFINISHED = [WAITING, UPLOADING, CHECKING];

// An element with a class, a text and children.
function make(kind, name, text = "", children = []) {
  const element = document.createElement(kind);
  element.className = name;
  element.textContent = text;
  element.append(...children);
  return element;
}

// A button that says to those who do not see where it is, which picture it is about.
function makeButton(text, file, act) {
  const button = make("button", "link-button", text, [make("span", "visually-hidden", ` ${file.name}`)]);
  button.type = "button";
  button.addEventListener("click", act);
  return button;
}

class Tile {
  constructor(file) {
    this.file = file;
    this.tries = 0;
    this.frame = make("div", "print__frame");
    this.progress = make("progress", "print__progress");
    this.progress.max = 100;
    this.progress.setAttribute("aria-label", `Upload of ${file.name}`);
    this.said = make("p", "print__more");
    this.said.setAttribute("role", "status");
    this.retry = makeButton("Retry", file, () => this.enqueue());
    this.removal = makeButton("Remove", file, () => remove(this));
    this.removal.dataset.remove = "";
    this.acts = make("div", "print__do", "", [this.retry, this.removal]);
    const name = make("p", "print__name", file.name);
    this.item = make("li", "print", "", [this.frame, name, this.progress, this.said, this.acts]);
    this.preview();
    tray.append(this.item);
    tiles.add(this);
  }

  preview() {
    const picture = (this.picture = document.createElement("img"));
    this.frame.append(picture);
    this.address = URL.createObjectURL(this.file);
    picture.alt = `Preview of ${this.file.name}`;
    // Not every kind of picture can be shown before it was added.
    picture.addEventListener("error", () => picture.remove());
    picture.src = this.address;
  }

  set(state, sentence) {
    this.state = state;
    this.item.dataset.state = state;
    this.said.textContent = sentence;
    this.retry.hidden = state !== FAILED && state !== REFUSED;
    this.progress.hidden = !UNFINISHED.includes(state);
    changed();
  }

  enqueue() {
    this.fields = null;
    this.progress.value = 0;
    this.set(WAITING, "Waiting");
    work();
  }
}

// With pictures in the order, it can be created whatever product is looked at meanwhile.
function relax() {
  for (const choice of form.querySelectorAll("[data-required]")) {
    choice.required = isNew && !tray.children.length;
  }
}

function changed() {
  relax();
  const unfinished = [...tiles].filter((tile) => UNFINISHED.includes(tile.state)).length;
  form.dataset.waiting = unfinished || "";
  form.dispatchEvent(new CustomEvent("pictures-changed"));
}

// How the picture is printed: as the form says when the picture is added to it.
function readFields() {
  const sent = new FormData(form);
  const names = ["form_token", "sku", "copies", "sizing", ...(isNew ? [] : ["price_to_user"])];
  const fields = [...sent].filter(([name]) => names.includes(name) || name.startsWith("choice-"));
  return [...fields, ["do", "add-picture"]];
}

function take(files) {
  const most = Number(drop.dataset.room);
  const room = most - [...tiles].filter((tile) => tile.state !== REFUSED).length;
  const taken = [...files].slice(0, Math.max(room, 0));
  const left = files.length - taken.length;
  problem.textContent = left
    ? `This order has room for ${most.toLocaleString("en")} pictures. ` +
      `${left} ${left === 1 ? "file was" : "files were"} left out: put them into another order.`
    : "";
  for (const file of taken) {
    const tile = new Tile(file);
    if (file.size > Number(drop.dataset.largest)) {
      tile.set(REFUSED, `This file has ${megabytes(file.size)}; ${megabytes(drop.dataset.largest)} is the most.`);
      tile.retry.hidden = true;
    } else {
      tile.enqueue();
    }
  }
  const sample = form.elements.sample;
  if (taken.length && sample) sample.checked = false;
}

async function work() {
  // A product that was just pressed is the one that is meant.
  await form.picking?.catch(() => {});
  for (const tile of tiles) {
    if (tile.state !== WAITING) continue;
    tile.fields ??= readFields();
    if (active < AT_ONCE) upload(tile);
  }
}

async function upload(tile) {
  active += 1;
  tile.set(UPLOADING, "Uploading");
  try {
    const order = await findOrder();
    if (tiles.has(tile)) await send(tile, order);
  } catch (error) {
    tile.set(FAILED, error.message);
  }
  active -= 1;
  work();
  if (!active) finish();
}

// The draft that the pictures belong to; made once, by the first of them.
function findOrder() {
  if (drop.dataset.order) return drop.dataset.order;
  beginning ??= begin().finally(() => { beginning = null; });
  return beginning;
}

async function begin() {
  const sent = new FormData(form);
  const fields = new URLSearchParams({ do: "begin-order" });
  for (const name of ["form_token", "shipping_method", "payment"]) fields.set(name, sent.get(name));
  const answer = await fetch(form.dataset.orderForm, { method: "POST", body: fields }).catch(() => null);
  if (!answer) throw new Error("The connection was lost. Retry when it is back.");
  if (answer.status === 429) {
    await wait(Number(answer.headers.get("Retry-After")) || 1);
    return begin();
  }
  const { order, problem: sentence } = await readAnswer(answer.status, answer.headers.get("Content-Type"), () => answer.json());
  if (!order) throw new Error(sentence);
  drop.dataset.order = order;
  form.elements.order.value = order;
  form.action = `${form.dataset.orderForm}?order=${order}`;
  // Whoever loads the page again finds the pictures there.
  history.replaceState(null, "", form.action);
  return order;
}

async function readAnswer(status, kind, read) {
  if (kind?.startsWith("application/json")) return read();
  const sentences = {
    0: "The connection was lost. Retry when it is back.",
    200: "You were signed out. Sign in in another window, then retry.",
    403: "This page was open for too long. Reload it: pictures that were added are kept.",
    404: "The order does not exist any more.",
    408: "The upload was too slow. Retry it.",
    429: "There were too many requests. Retry in a minute.",
    413: `The file is too large: ${megabytes(drop.dataset.largest)} is the most.`,
    503: "Uploads are temporarily unavailable. Retry in a minute.",
  };
  throw new Error(sentences[status] ?? "Something went wrong. Retry it.");
}

function post(tile, order) {
  return new Promise((answered) => {
    const request = (tile.request = new XMLHttpRequest());
    const body = new FormData();
    for (const [name, value] of tile.fields) body.append(name, value);
    body.append("pictures", tile.file);
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      const percent = Math.round((100 * loaded) / total);
      tile.progress.value = percent;
      if (percent < 100) tile.said.textContent = `Uploading, ${percent} %`;
    });
    request.upload.addEventListener("load", () => tile.set(CHECKING, "Checking"));
    request.addEventListener("loadend", () => answered(request));
    request.open("POST", `/orders/${order}/images`);
    request.send(body);
  });
}

async function send(tile, order) {
  tile.tries += 1;
  const request = await post(tile, order);
  if (!tiles.has(tile) && request.status === 0) return;
  if (request.status === 429 && tile.tries < MOST_TRIES) {
    tile.set(UPLOADING, "Waiting for its turn");
    await wait(Number(request.getResponseHeader("Retry-After")) || 1);
    return send(tile, order);
  }
  const kind = request.getResponseHeader("Content-Type");
  const told = await readAnswer(request.status, kind, () => JSON.parse(request.responseText));
  if (told.problem) {
    const named = `${tile.file.name}: `;
    tile.set(REFUSED, told.problem.startsWith(named) ? told.problem.slice(named.length) : told.problem);
    tile.retry.hidden = told.isFinal;
    return;
  }
  tile.image = told.image;
  if (!tiles.has(tile)) return forget(tile);
  added(tile, told);
}

function added(tile, told) {
  tile.picture.src = told.thumbnail;
  tile.picture.alt = `Proof of ${tile.file.name}`;
  tile.frame.replaceChildren(tile.picture);
  const edit = make("a", "", "Edit", [make("span", "visually-hidden", ` ${tile.file.name}`)]);
  edit.href = `/orders/${drop.dataset.order}/images/${told.image}`;
  tile.acts.prepend(edit);
  URL.revokeObjectURL(tile.address);
  const copies = told.copies === 1 ? "1 copy" : `${told.copies} copies`;
  tile.set(ADDED, [told.title, copies, ...told.warnings].join(" · "));
}

// Remove what was added, on the server too.
async function forget(tile) {
  const fields = new URLSearchParams({ do: "remove-image", image: tile.image });
  fields.set("form_token", form.elements.form_token.value);
  const address = `/orders/${drop.dataset.order}/images`;
  const answer = await fetch(address, { method: "POST", body: fields, redirect: "manual" }).catch(() => null);
  if (answer?.type === "opaqueredirect" || answer?.status === 404) return true;
  problem.textContent = "A picture could not be removed. Try again.";
  return false;
}

async function remove(tile) {
  const next = tile.item.nextElementSibling ?? tile.item.previousElementSibling;
  if (tile.state === ADDED && !(await forget(tile))) return;
  tiles.delete(tile);
  // One that is being checked may have been added: its answer says so, and it is removed then.
  if (tile.state === UPLOADING) tile.request?.abort();
  URL.revokeObjectURL(tile.address);
  tile.item.remove();
  (next?.querySelector("[data-remove]") ?? form.elements.pictures).focus();
  changed();
}

async function removeListed(button) {
  const item = button.closest("[data-image]");
  if (await forget({ image: item.dataset.image })) {
    item.remove();
    form.elements.pictures.focus();
    changed();
  }
}

// When all are done: show the list of images as it is now, or send the form that waited for them.
async function finish() {
  if ([...tiles].some((tile) => UNFINISHED.includes(tile.state))) return;
  const list = isNew ? null : document.querySelector("#live");
  if (list) {
    const answer = await fetch(location.pathname).catch(() => null);
    const page = answer?.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
    const news = page?.querySelector("#live");
    if (news) list.replaceChildren(...news.childNodes);
  }
  if (isSending) {
    isSending = false;
    form.requestSubmit(form.querySelector("[data-create]"));
  }
}

function hold(event, sentence) {
  event.preventDefault();
  problem.textContent = sentence;
}

// Send the form only when every picture is there, and of the product that was chosen last.
function check(event) {
  if (!event.submitter || !("create" in event.submitter.dataset)) return;
  const states = [...tiles].map((tile) => tile.state);
  const failed = states.filter((state) => state === FAILED).length;
  if (states.some((state) => UNFINISHED.includes(state))) {
    isSending = true;
    hold(event, "The order is created as soon as all pictures are uploaded.");
  } else if (failed) {
    hold(event, `${failed === 1 ? "A picture is" : `${failed} pictures are`} not uploaded. Retry or remove it.`);
    drop.scrollIntoView({ block: "center" });
  } else if (form.picking && !form.picked) {
    event.preventDefault();
    form.picking.then(() => { form.picked = true; form.requestSubmit(event.submitter); }, () => {});
  } else if (!isNew && states.includes(ADDED) && !form.elements.addresses.value.trim() && !form.elements.sample?.checked) {
    event.preventDefault();
    location.assign(location.pathname.replace(/\/images$/, ""));
  }
}

function start() {
  relax();
  const place = drop.closest("[data-drop-here]") ?? drop;
  drop.querySelector("[data-drop-hint]").hidden = false;
  drop.querySelector("[data-once]").remove();
  form.elements.pictures.addEventListener("change", ({ target }) => {
    take(target.files);
    // They are uploaded one by one, and not with the form.
    target.value = "";
  });
  for (const name of ["dragover", "drop"]) {
    // A picture that misses the zone must not take the place of the page.
    window.addEventListener(name, (event) => event.preventDefault());
  }
  place.addEventListener("dragover", () => drop.classList.add("drop--over"));
  place.addEventListener("dragleave", () => drop.classList.remove("drop--over"));
  place.addEventListener("drop", (event) => {
    drop.classList.remove("drop--over");
    take(event.dataTransfer.files);
  });
  tray.addEventListener("click", (event) => {
    const button = event.target.closest("[data-image] [data-remove]");
    if (!button) return;
    event.preventDefault();
    removeListed(button);
  });
  form.addEventListener("submit", check);
  form.addEventListener("product-chosen", () => {
    form.picked = true;
    relax();
  });
  form.addEventListener("click", (event) => {
    if (event.target.closest("[data-pick]")) form.picked = false;
  });
  window.addEventListener("beforeunload", (event) => {
    if (active) event.preventDefault();
  });
}

if (drop) start();
