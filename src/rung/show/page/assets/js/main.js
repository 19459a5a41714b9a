const traces = JSON.parse(document.getElementById("data").textContent);
const lanes = unpack(traces);
const openTab = tabs();
const canvas = document.getElementById("lanes");
const drawn = timeline(canvas, document.getElementById("tip"), document.getElementById("detail"), lanes);

for (const button of all("[data-do]")) button.addEventListener("click", () => drawn.act(button.dataset.do));
for (const table of all("table[id]")) sortable(table);
for (const input of all("[data-filter]")) {
  const id = input.dataset.filter;
  filterable(input, document.getElementById(id), document.querySelector(`[data-count="${id}"]`));
}
for (const row of all("tr[data-row]")) {
  const trace = Number(row.closest("article").dataset.trace);
  row.querySelector(".find").addEventListener("click", () => {
    if (!drawn.find(trace, Number(row.dataset.row))) missing(row);
  });
}
function missing(row) {
  const said = "The timeline does not show this kernel: it is among what was left out, or outside the stretch.";
  document.getElementById("detail").replaceChildren(make("p", {}, said));
  row.querySelector(".find").title = said;
}
canvas.addEventListener("chosen", ({ detail }) => {
  for (const row of all("tr.chosen")) row.classList.remove("chosen");
  if (!detail || !detail.lane.fact || detail.lane.fact[detail.i] < 0) return;
  const fact = detail.lane.fact[detail.i];
  document.querySelector(`article[data-trace="${detail.lane.index}"] tr[data-row="${fact}"]`)?.classList.add("chosen");
});

document.getElementById("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  drawn.draw();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawn.draw());
matchMedia("print").addEventListener("change", () => drawn.drawNow()); // paper has its own colours, and no next frame
addEventListener("beforeprint", () => { for (const fold of all("details")) fold.open = true; });
window.rung = { timeline: drawn, openTab };
drawn.draw();
