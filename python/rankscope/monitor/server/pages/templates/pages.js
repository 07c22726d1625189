// Pages say all they have to say without a script: this reads charts out where one points at them.

const KEYS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

// What a chart shows stands in the table below it, a row a point.
function makeReadable(table) {
  const plane = document.getElementById(table.dataset.for);
  const rows = Array.from(table.tBodies[0].rows);
  if (plane === null || rows.length === 0) return;
  const heads = Array.from(table.tHead.rows[0].cells, (cell) => cell.textContent);
  const places = rows.map((row) => Number(row.dataset.x));
  const shown = [...new Set(places)].sort((one, other) => one - other);
  const cursor = document.createElementNS("http://www.w3.org/2000/svg", "line");
  cursor.setAttribute("class", "cursor");
  cursor.setAttribute("y2", "100%");
  cursor.setAttribute("visibility", "hidden");
  plane.append(cursor);
  const output = document.createElement("p");
  output.className = "read";
  output.setAttribute("aria-live", "polite");
  plane.parentElement.after(output);
  let at = shown.length - 1;

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

  plane.addEventListener("pointermove", (event) => {
    const box = plane.getBoundingClientRect();
    const x = (100 * (event.clientX - box.left)) / box.width;
    let nearest = 0;
    shown.forEach((place, number) => {
      if (Math.abs(place - x) < Math.abs(shown[nearest] - x)) nearest = number;
    });
    show(nearest);
  });
  plane.addEventListener("pointerleave", () => {
    if (document.activeElement !== plane) hide();
  });
  plane.setAttribute("tabindex", "0");
  plane.addEventListener("focus", () => show(at));
  plane.addEventListener("blur", hide);
  plane.addEventListener("keydown", (event) => {
    if (!(event.key in KEYS)) return;
    event.preventDefault();
    show(at + KEYS[event.key]);
  });
}

document.querySelectorAll("table[data-for]").forEach(makeReadable);
