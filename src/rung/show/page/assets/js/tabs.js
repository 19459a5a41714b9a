// Tabs, one a variant: arrows move between them. On paper all panels show.
function tabs() {
  const list = all('[role="tab"]');
  const panels = list.map((tab) => document.getElementById(tab.getAttribute("aria-controls")));
  function open(at) {
    list.forEach((tab, i) => {
      tab.setAttribute("aria-selected", String(i === at));
      tab.tabIndex = i === at ? 0 : -1;
      panels[i].hidden = i !== at;
    });
  }
  list.forEach((tab, i) => {
    tab.addEventListener("click", () => open(i));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = (i + step + list.length) % list.length;
      open(next);
      list[next].focus();
    });
  });
  if (list.length) open(0);
  return open;
}
