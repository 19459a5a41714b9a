// The timeline: state, and what pointer and keys do to it.
function timeline(canvas, tip, panel, lanes) {
  const view = makeView(lanes);
  let chosen = null, hovered = null, drag = null, due = false;

  function draw() {
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; paint(canvas, view, lanes, chosen, hovered); });
  }

  function choose(span, { bring = true } = {}) {
    chosen = span;
    if (span && bring) reveal(view, span);
    fillPanel(panel, span, choose);
    canvas.dispatchEvent(new CustomEvent("chosen", { detail: span }));
    draw();
  }

  function follow() {
    if (!chosen) return;
    const to = roleOf(chosen) === "kernel" ? launchOf(chosen) : kernelsOf(chosen)[0];
    if (to) choose(to);
  }

  function walk(step) {
    if (!chosen) return choose(firstInSight());
    const { lane, i } = chosen, row = lane.rows[lane.depth[i]], next = row[row.indexOf(i) + step];
    if (next !== undefined) choose({ lane, i: next });
  }

  function climb(up) {
    if (!chosen) return choose(firstInSight());
    const { lane, i } = chosen;
    if (up) return choose(parentOf(chosen) ?? neighbour(lane, -1, i) ?? chosen);
    const inner = lane.rows[lane.depth[i] + 1];
    const at = inner ? firstAfter(lane, inner, lane.start[i]) : 0;
    const inside = inner && inner[at] !== undefined && lane.start[inner[at]] < lane.start[i] + lane.dur[i];
    choose(inside ? { lane, i: inner[at] } : neighbour(lane, 1, i) ?? chosen);
  }

  function neighbour(lane, step, i) {
    const other = lanes[lanes.indexOf(lane) + step];
    if (!other || !other.count) return null;
    const row = other.rows[0];
    return { lane: other, i: row[Math.min(firstAfter(other, row, lane.start[i]), row.length - 1)] };
  }

  function firstInSight() {
    const lane = lanes.find((l) => l.kind === "gpu" && l.count) ?? lanes.find((l) => l.count);
    const row = lane.rows[0];
    return { lane, i: row[Math.min(firstAfter(lane, row, view.start), row.length - 1)] };
  }

  const length = () => view.end - view.start;
  const keys = {
    w: () => zoom(view, 0.7), s: () => zoom(view, 1 / 0.7), a: () => pan(view, -length() * 0.2), d: () => pan(view, length() * 0.2),
    ArrowLeft: () => walk(-1), ArrowRight: () => walk(1), ArrowUp: () => climb(true), ArrowDown: () => climb(false),
    Enter: follow, Escape: () => choose(null), Home: () => show(view, view.whole), f: () => chosen && reveal(view, chosen),
  };
  canvas.addEventListener("keydown", (event) => {
    const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
    draw();
  });

  const at = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  canvas.addEventListener("wheel", (event) => {
    if (event.shiftKey) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(view, (event.deltaX / view.width) * length());
    else zoom(view, Math.exp(event.deltaY * 0.0015), timeOf(view, at(event)[0]));
    draw();
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); drag = { x: at(event)[0], moved: 0 }; });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    if (drag) {
      pan(view, ((drag.x - x) / (view.width - GUTTER)) * length());
      drag = { x, moved: drag.moved + Math.abs(drag.x - x) };
    }
    hovered = drag && drag.moved > 3 ? null : spanAt(view, lanes, x, y);
    tip.hidden = !hovered;
    if (hovered) {
      fillTip(tip, hovered);
      tip.style.left = `${Math.min(x + 14, view.width - 300)}px`;
      tip.style.top = `${y + 16}px`;
    }
    draw();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag && drag.moved < 4) choose(spanAt(view, lanes, ...at(event)), { bring: false });
    drag = null;
  });
  canvas.addEventListener("pointerleave", () => { hovered = null; tip.hidden = true; draw(); });
  new ResizeObserver(draw).observe(canvas);

  const buttons = { in: () => zoom(view, 0.5), out: () => zoom(view, 2), fit: () => show(view, view.whole), region: () => show(view, view.forward) };
  return {
    act(name) { buttons[name](); draw(); },
    choose, draw, lanes, view,
    get chosen() { return chosen; },
    // The kernel that a table row stands for, in the typical forward.
    find(trace, fact) {
      const lane = lanes.find((l) => l.index === trace && l.fact && l.fact.includes(fact));
      if (!lane) return;
      const typical = lane.fact.findIndex((f, i) => f === fact && lane.start[i] >= 0);
      choose({ lane, i: typical < 0 ? lane.fact.indexOf(fact) : typical });
      canvas.focus();
    },
  };
}
