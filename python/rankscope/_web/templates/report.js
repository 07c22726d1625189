"use strict";

// What the page is without a script stays: this adds sorting and filtering.

function key(row, column) {
  const cell = row.cells[column];
  if (cell.dataset.value !== undefined) {
    return cell.dataset.value === "" ? null : Number(cell.dataset.value);
  }
  const text = cell.textContent.trim();
  const number = Number(text.replaceAll(",", ""));
  return text !== "" && Number.isFinite(number) ? number : text;
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

// What has no value comes last in either direction.
function sort(table, column, direction) {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, (row) => ({ row, key: key(row, column) }));
  rows.sort((one, other) => {
    if (one.key === null || other.key === null) return (one.key === null) - (other.key === null);
    return direction * compare(one.key, other.key);
  });
  body.append(...rows.map(({ row }) => row));
}

function makeSortable(table) {
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => {
    if ("fixed" in head.dataset) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const direction = head.ariaSort === "ascending" ? -1 : 1;
      for (const other of heads) other.ariaSort = null;
      head.ariaSort = direction === 1 ? "ascending" : "descending";
      sort(table, column, direction);
    });
  });
}

function makeFilter(field) {
  const table = document.getElementById(field.dataset.for);
  const input = field.querySelector("input");
  const output = field.querySelector("output");
  const rows = Array.from(table.tBodies[0].rows, (row) => ({
    row,
    text: row.cells[0].textContent.toLowerCase(),
  }));
  field.hidden = false;
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    let shown = 0;
    for (const { row, text } of rows) {
      row.hidden = !text.includes(wanted);
      shown += row.hidden ? 0 : 1;
    }
    output.textContent = wanted === "" ? "" : `${shown} of ${rows.length}`;
  });
}

// A table that is wider than the page says that it scrolls.
function tellWidth(entries) {
  for (const { target } of entries) {
    target.previousElementSibling.hidden = target.scrollWidth <= target.clientWidth;
  }
}

function makeScrollable(regions) {
  const observer = new ResizeObserver(tellWidth);
  for (const region of regions) {
    const hint = document.createElement("p");
    hint.className = "sideways";
    hint.hidden = true;
    hint.textContent = "Scroll the table sideways to see all columns.";
    region.before(hint);
    observer.observe(region);
  }
}

// In a notebook, the page is the source of a frame, where links to sections would lead to the
// notebook.
function followInside(event) {
  const link = event.target.closest('a[href^="#"]');
  if (!link || location.href !== "about:srcdoc") return;
  event.preventDefault();
  const section = document.getElementById(link.getAttribute("href").slice(1));
  section.scrollIntoView();
  section.focus({ preventScroll: true });
}

function prepareTables(root) {
  root.querySelectorAll("table[data-sort]").forEach(makeSortable);
  root.querySelectorAll(".filter").forEach(makeFilter);
  makeScrollable(root.querySelectorAll(".scroll:has(table)"));
}

document.addEventListener("click", followInside);
prepareTables(document);
