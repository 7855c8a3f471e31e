// The frame over a picture: dragged, zoomed and moved by keys. The numbers below it are what is sent.

const clamp = (number, least, most) => Math.min(most, Math.max(least, number));
const STEP = 0.02;
const ZOOM_STEP = 1.05;
const MOST_ZOOM = 4;

function openCropper(form) {
  const stage = form.querySelector(".cropper__stage");
  const view = form.querySelector(".cropper__view");
  const frame = form.querySelector(".cropper__frame");
  const slider = form.querySelector(".cropper__slider");
  const range = slider.querySelector("input");
  const { x: across, y: down, zoom: factor } = form.elements;
  const size = Object.fromEntries(
    ["width", "height", "mostWidth", "mostHeight", "mostDpi"].map((name) => [name, Number(form.dataset[name])]),
  );
  const read = (field, usual) => {
    const number = Number.parseFloat(field.value.replace(",", "."));
    return Number.isFinite(number) ? number : usual;
  };
  const state = { x: 0.5, y: 0.5, zoom: 1 };

  function readFields() {
    state.x = clamp(read(across, 50) / 100, 0, 1);
    state.y = clamp(read(down, 50) / 100, 0, 1);
    state.zoom = clamp(read(factor, 1), 1, MOST_ZOOM);
  }

  function box() {
    const width = size.mostWidth / state.zoom;
    const height = size.mostHeight / state.zoom;
    return { width, height, left: (size.width - width) * state.x, top: (size.height - height) * state.y };
  }

  function draw() {
    const { left, top, width, height } = box();
    const [wide, high] = [width / 3, height / 3];
    for (const [name, value] of Object.entries({ x: left, y: top, width, height })) frame.setAttribute(name, value);
    form.querySelector(".cropper__dim").setAttribute(
      "d",
      `M0 0H${size.width}V${size.height}H0ZM${left} ${top}h${width}v${height}h${-width}Z`,
    );
    form.querySelector(".cropper__thirds").setAttribute(
      "d",
      `M${left + wide} ${top}v${height}M${left + 2 * wide} ${top}v${height}` +
        `M${left} ${top + high}h${width}M${left} ${top + 2 * high}h${width}`,
    );
    form.querySelector(".cropper__dpi").textContent = Math.round(size.mostDpi / state.zoom);
    range.value = state.zoom;
  }

  function show() {
    across.value = Number((state.x * 100).toFixed(2));
    down.value = Number((state.y * 100).toFixed(2));
    factor.value = Number(state.zoom.toFixed(3));
    draw();
  }

  // Where there is nothing to choose, the frame stays in the middle of its direction.
  function moveTo(left, top) {
    const { width, height } = box();
    const [spareWidth, spareHeight] = [size.width - width, size.height - height];
    if (spareWidth > 0.5) state.x = clamp(left / spareWidth, 0, 1);
    if (spareHeight > 0.5) state.y = clamp(top / spareHeight, 0, 1);
    show();
  }

  // Around the middle of the frame, so that what is looked at stays in sight.
  function zoomTo(zoom) {
    const before = box();
    state.zoom = clamp(zoom, 1, MOST_ZOOM);
    const after = box();
    moveTo(before.left + (before.width - after.width) / 2, before.top + (before.height - after.height) / 2);
  }

  const scale = () => size.width / view.getBoundingClientRect().width;
  const pointers = new Map();
  let drag = null;
  const spread = () => {
    const [one, other] = [...pointers.values()];
    return Math.hypot(one.x - other.x, one.y - other.y);
  };

  function begin() {
    const { left, top } = box();
    const [first] = pointers.values();
    drag = first && { left, top, x: first.x, y: first.y, zoom: state.zoom, spread: pointers.size > 1 ? spread() : 0 };
  }

  stage.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    stage.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    stage.focus({ preventScroll: true });
    begin();
    event.preventDefault();
  });
  stage.addEventListener("pointermove", (event) => {
    if (!pointers.has(event.pointerId)) return;
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (pointers.size > 1) {
      if (drag.spread) zoomTo((drag.zoom * spread()) / drag.spread);
    } else {
      moveTo(drag.left + (event.clientX - drag.x) * scale(), drag.top + (event.clientY - drag.y) * scale());
    }
  });
  for (const end of ["pointerup", "pointercancel"]) {
    stage.addEventListener(end, (event) => {
      pointers.delete(event.pointerId);
      begin();
    });
  }
  // Scrolling the page must still be possible: the wheel zooms once the frame was clicked.
  stage.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== stage) return;
    event.preventDefault();
    zoomTo(state.zoom * Math.exp(-event.deltaY / 500));
  }, { passive: false });

  const keys = {
    ArrowLeft: () => moveTo(box().left - size.width * STEP, box().top),
    ArrowRight: () => moveTo(box().left + size.width * STEP, box().top),
    ArrowUp: () => moveTo(box().left, box().top - size.height * STEP),
    ArrowDown: () => moveTo(box().left, box().top + size.height * STEP),
    "+": () => zoomTo(state.zoom * ZOOM_STEP),
    "=": () => zoomTo(state.zoom * ZOOM_STEP),
    "-": () => zoomTo(state.zoom / ZOOM_STEP),
  };
  stage.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
  range.addEventListener("input", () => zoomTo(Number(range.value)));
  for (const field of [across, down, factor]) {
    field.addEventListener("input", () => {
      readFields();
      draw();
    });
  }

  readFields();
  draw();
  stage.tabIndex = 0;
  slider.hidden = false;
  form.querySelector(".cropper__live").hidden = false;
  form.classList.add("cropper--live");
}

for (const form of document.querySelectorAll("form.cropper")) openCropper(form);
