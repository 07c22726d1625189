// Pages say all they have to say without a script: this reads charts out where one points at them,
// and picks spans of time to compare by dragging across them, or with Shift and the arrow keys.

const KEYS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

// What a chart shows stands in the table below it, a row a point.
function makeReadable(table) {
  const plane = document.getElementById(table.dataset.for);
  const rows = Array.from(table.tBodies[0].rows);
  if (plane === null || rows.length === 0) return;
  const heads = Array.from(table.tHead.rows[0].cells, (cell) => cell.textContent);
  const places = rows.map((row) => Number(row.dataset.x));
  const shown = [...new Set(places)].sort((one, other) => one - other);
  const cursor = makeMark("line", { class: "cursor", y2: "100%", visibility: "hidden" });
  plane.append(cursor);
  const output = document.createElement("p");
  output.className = "read";
  output.setAttribute("aria-live", "polite");
  plane.parentElement.after(output);
  const picker = plane.dataset.trace ? makePicker(plane) : null;
  let at = shown.length - 1;
  let start = null;

  function show(next) {
    at = Math.min(Math.max(next, 0), shown.length - 1);
    cursor.setAttribute("x1", `${shown[at]}%`);
    cursor.setAttribute("x2", `${shown[at]}%`);
    cursor.setAttribute("visibility", "visible");
    const said = rows.filter((_, number) => places[number] === shown[at]).map(describe);
    output.textContent = said.join(" | ");
  }

  function describe(row) {
    return Array.from(row.cells, (cell, number) =>
      number === 0 ? cell.textContent.trim() : `${heads[number]} ${cell.textContent.trim()}`,
    ).join(", ");
  }

  function hide() {
    cursor.setAttribute("visibility", "hidden");
    output.textContent = "";
  }

  function find(event) {
    const box = plane.getBoundingClientRect();
    return Math.min(Math.max((100 * (event.clientX - box.left)) / box.width, 0), 100);
  }

  plane.addEventListener("pointermove", (event) => {
    const x = find(event);
    let nearest = 0;
    shown.forEach((place, number) => {
      if (Math.abs(place - x) < Math.abs(shown[nearest] - x)) nearest = number;
    });
    show(nearest);
    if (start !== null) picker.draw(start, x);
  });
  plane.addEventListener("pointerleave", () => {
    if (document.activeElement !== plane) hide();
  });
  plane.setAttribute("tabindex", "0");
  plane.addEventListener("focus", () => show(at));
  plane.addEventListener("blur", hide);
  plane.addEventListener("keydown", (event) => {
    if (event.key === "Escape") picker?.clear();
    if (!(event.key in KEYS)) return;
    event.preventDefault();
    const before = shown[at];
    show(at + KEYS[event.key]);
    if (picker === null) return;
    if (event.shiftKey) picker.extend(before, shown[at]);
    else picker.finish();
  });
  if (picker === null) return;
  plane.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    start = find(event);
    plane.setPointerCapture(event.pointerId);
  });
  plane.addEventListener("pointerup", (event) => {
    if (start !== null && Math.abs(find(event) - start) >= SHORTEST) {
      picker.draw(start, find(event));
      picker.finish();
    } else picker.undo();
    start = null;
  });
  plane.addEventListener("pointercancel", () => {
    picker.undo();
    start = null;
  });
}

const DATE = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" });

// A click is not a span.
const SHORTEST = 0.5;

// Up to two spans of a chart: the later one is explained, compared with the earlier one.
function makePicker(plane) {
  const [since, until, length] = ["since", "until", "length"].map((name) =>
    Number(plane.dataset[name]),
  );
  const panel = document.createElement("div");
  panel.className = "picker";
  panel.setAttribute("aria-live", "polite");
  // Above what is read out, which comes and goes: the link must not move when it is pressed.
  plane.parentElement.after(panel);
  let spans = [];
  let drawn = null;
  let anchor = null;

  // Spans are of whole windows.
  function snap(one, other) {
    const [low, high] = one < other ? [one, other] : [other, one];
    const place = (x) => since + (x / 100) * (until - since);
    const start = Math.max(Math.floor(place(low) / length) * length, since);
    const end = Math.min(Math.ceil(place(high) / length) * length, until);
    return [start, Math.max(end, start + length)];
  }

  function render() {
    plane.querySelectorAll(".picked").forEach((mark) => mark.remove());
    const all = drawn === null ? spans : [...spans.slice(-1), drawn];
    const ordered = [...all].sort((one, other) => one[0] - other[0]);
    ordered.forEach(([start, end], number) => {
      const x = (100 * (start - since)) / (until - since);
      const width = (100 * (Math.min(end, until) - start)) / (until - since);
      const kind = number < ordered.length - 1 ? "picked before" : "picked";
      plane.append(makeMark("rect", { class: kind, x: `${x}%`, width: `${width}%`, height: "100%" }));
    });
    return ordered;
  }

  function finish() {
    if (drawn === null) return;
    spans = [...spans.slice(-1), drawn];
    drawn = anchor = null;
    if (spans.length === 2 && overlap(...spans)) spans.shift();
    tell(render());
  }

  function tell(ordered) {
    panel.replaceChildren();
    if (ordered.length === 0) return;
    const [before, after] = ordered.length === 2 ? ordered : [null, ordered[0]];
    const said = document.createElement("p");
    said.textContent =
      before === null
        ? `${write(after)}, compared with the week before. Pick a second span to compare with that.`
        : `${write(after)}, compared with ${write(before)}.`;
    const link = document.createElement("a");
    link.className = "button";
    link.href = address(before, after);
    link.textContent = "Find the cause";
    const button = document.createElement("button");
    button.type = "button";
    button.className = "plain";
    button.textContent = "Clear";
    button.addEventListener("click", clear);
    panel.append(said, link, button);
  }

  // Days are those of UTC.
  function write([start, end]) {
    if (length < DAY) return `${writeTime(new Date(start))} to ${writeTime(new Date(end))}`;
    const [first, last] = [start, end - 1].map((time) => DATE.format(new Date(time)));
    return first === last ? `${first} (UTC)` : `${first} to ${last} (UTC)`;
  }

  function address(before, after) {
    const made = new URL(plane.dataset.trace, location.href);
    const sides = { before, after };
    for (const [side, span] of Object.entries(sides)) {
      if (span === null) continue;
      made.searchParams.set(`${side}_since`, writeField(span[0]));
      made.searchParams.set(`${side}_until`, writeField(span[1]));
    }
    return made.pathname + made.search;
  }

  function clear() {
    spans = [];
    drawn = anchor = null;
    tell(render());
    plane.focus();
  }

  return {
    draw(one, other) {
      drawn = snap(one, other);
      render();
    },
    extend(from, to) {
      anchor ??= from;
      drawn = snap(anchor, to);
      tell(render());
    },
    undo() {
      drawn = anchor = null;
      render();
    },
    finish,
    clear,
  };
}

function overlap(one, other) {
  return one[0] < other[1] && other[0] < one[1];
}

// Fields of the form have times in UTC.
function writeField(time) {
  return new Date(time).toISOString().slice(0, 16);
}

function prepareCharts(root) {
  root.querySelectorAll("table[data-for]").forEach(makeReadable);
}

prepareCharts(document);
