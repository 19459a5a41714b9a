// The timeline: state, and what pointer and keys do to it.
function timeline(canvas, tip, panel, lanes) {
  const view = makeView(lanes), stage = canvas.parentElement;
  let chosen = null, hovered = null, drag = null, due = false;

  function drawNow() {
    due = false;
    view.scrolled = stage.scrollTop;
    paint(canvas, view, lanes, chosen, hovered);
  }

  function draw() {
    if (!due) requestAnimationFrame(drawNow);
    due = true;
  }

  function choose(span, { bring = true } = {}) {
    chosen = span;
    if (span && bring) bringIn(span);
    fillPanel(panel, span, choose);
    canvas.dispatchEvent(new CustomEvent("chosen", { detail: span }));
    draw();
  }

  function bringIn(span) {
    reveal(view, span);
    const top = span.lane.top + Math.min(span.lane.depth[span.i], DEEPEST) * ROW;
    if (top < stage.scrollTop + AXIS || top + ROW > stage.scrollTop + stage.clientHeight) stage.scrollTop = top - stage.clientHeight / 2;
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
    event.preventDefault();
    if (event.shiftKey) stage.scrollTop += event.deltaY || event.deltaX;
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(view, (event.deltaX / view.width) * length());
    else zoom(view, Math.exp(event.deltaY * 0.0015), timeOf(view, at(event)[0]));
    draw();
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); drag = { x: at(event)[0], y: event.clientY, moved: 0 }; });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    if (drag) {
      pan(view, ((drag.x - x) / (view.width - GUTTER)) * length());
      if (event.pointerType === "mouse") stage.scrollTop += drag.y - event.clientY;
      drag = { x, y: event.clientY, moved: drag.moved + Math.hypot(drag.x - x, drag.y - event.clientY) };
    }
    hovered = drag && drag.moved > 3 ? null : spanAt(view, lanes, x, y);
    tip.hidden = !hovered;
    if (hovered) {
      fillTip(tip, hovered);
      const { clientX, clientY } = event, below = clientY + 16 + tip.offsetHeight < innerHeight;
      tip.style.left = `${Math.max(0, Math.min(clientX + 14, innerWidth - tip.offsetWidth - 14))}px`;
      tip.style.top = `${below ? clientY + 16 : Math.max(0, clientY - 12 - tip.offsetHeight)}px`;
    }
    draw();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag && drag.moved < 4) choose(spanAt(view, lanes, ...at(event)), { bring: false });
    drag = null;
  });
  canvas.addEventListener("pointerleave", () => { hovered = null; tip.hidden = true; draw(); });
  new ResizeObserver(draw).observe(canvas);
  stage.addEventListener("scroll", draw);

  const buttons = { in: () => zoom(view, 0.5), out: () => zoom(view, 2), fit: () => show(view, view.whole), region: () => show(view, view.forward) };
  return {
    act(name) { buttons[name](); draw(); },
    choose, draw, drawNow, lanes, view,
    get chosen() { return chosen; },
    // The kernel that a table row stands for, in the typical forward.
    find(trace, fact) {
      const lane = lanes.find((l) => l.index === trace && l.fact && l.fact.includes(fact));
      if (!lane) return false;
      const typical = lane.fact.findIndex((f, i) => f === fact && lane.start[i] >= 0);
      choose({ lane, i: typical < 0 ? lane.fact.indexOf(fact) : typical });
      canvas.focus();
      return true;
    },
  };
}
