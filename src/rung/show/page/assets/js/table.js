// Tables: a heading sorts, a second press turns the order round, a filter keeps the rows with all its words.
function sortable(table) {
  const heads = all("th", table);
  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = all("tbody tr", table).sort((a, b) => compare(a.cells[column], b.cells[column]) * (down ? -1 : 1));
      table.tBodies[0].append(...rows);
    });
  });
}

function compare(a, b) {
  if (a.dataset.value !== undefined) return Number(a.dataset.value) - Number(b.dataset.value);
  return a.textContent.localeCompare(b.textContent);
}

function filterable(input, table, count) {
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let kept = 0;
    for (const row of all("tbody tr", table)) {
      const text = `${row.textContent} ${row.querySelector("[title]").title}`.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      kept += row.hidden ? 0 : 1;
    }
    count.textContent = words.length ? `${kept} of ${table.tBodies[0].rows.length}` : "";
  });
}
