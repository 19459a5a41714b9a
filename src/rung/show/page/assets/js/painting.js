// Painting lanes on the canvas. Where many spans share a pixel, one of them is drawn.
function palette() {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue(`--${name}`).trim() || "#888";
}

function paint(canvas, view, lanes, chosen, hovered) {
  const ratio = window.devicePixelRatio || 1;
  view.width = canvas.clientWidth;
  canvas.style.height = `${view.height}px`;
  canvas.width = Math.round(view.width * ratio);
  canvas.height = Math.round(view.height * ratio);
  const pen = canvas.getContext("2d"), colour = palette();
  pen.scale(ratio, ratio);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  const steps = roundSteps(view.start, view.end, Math.max(view.width / 130, 2));
  paintGrid(pen, view, steps, colour);
  for (const lane of lanes) paintLane(pen, view, lane, colour);
  for (const span of [hovered, chosen]) if (span) paintWay(pen, view, span, colour, span === chosen);
  paintGutter(pen, view, lanes, colour);
  paintAxis(pen, view, steps, colour);
}

function paintGrid(pen, view, steps, colour) {
  pen.strokeStyle = colour("line");
  for (const at of steps) {
    const x = Math.round(xOf(view, at)) + 0.5;
    pen.beginPath();
    pen.moveTo(x, AXIS);
    pen.lineTo(x, view.height);
    pen.stroke();
  }
}

// At the top of what is in sight of a tall canvas.
function paintAxis(pen, view, steps, colour) {
  pen.fillStyle = colour("paper");
  pen.fillRect(0, view.scrolled, view.width, AXIS);
  pen.fillStyle = colour("soft");
  for (const at of steps) if (xOf(view, at) >= GUTTER - 2) pen.fillText(at ? duration(at) : "0", xOf(view, at) + 3, view.scrolled + AXIS / 2);
}

function paintLane(pen, view, lane, colour) {
  lane.rows.slice(0, lane.height).forEach((row, depth) => {
    let reached = -1;
    for (let at = firstAfter(lane, row, view.start); at < row.length && lane.start[row[at]] <= view.end; at += 1) {
      const i = row[at], x = xOf(view, lane.start[i]), width = Math.max(xOf(view, lane.start[i] + lane.dur[i]) - x, 1);
      if (x + width < reached + 0.6) continue;
      reached = x + width;
      paintSpan(pen, { lane, i }, Math.max(x, GUTTER - 2), Math.min(x + width, view.width + 2), lane.top + depth * ROW, colour);
    }
  });
}

function paintSpan(pen, span, left, right, top, colour) {
  pen.fillStyle = fillOf(span, colour);
  pen.globalAlpha = span.lane.kind === "gpu" ? 1 : 0.9 - 0.08 * Math.min(span.lane.depth[span.i], 6);
  pen.fillRect(left, top + 1, Math.max(right - left - 0.5, 0.6), ROW - 2);
  pen.globalAlpha = 1;
  const words = span.lane.kind === "gpu" ? saidOf(span) : nameOf(span);
  if (right - left < 26) return;
  pen.save();
  pen.beginPath();
  pen.rect(left, top, right - left - 3, ROW);
  pen.clip();
  pen.fillStyle = inkOn(span, colour);
  pen.fillText(words.slice(0, 200), left + 4, top + ROW / 2 + 0.5);
  pen.restore();
}

function fillOf(span, colour) {
  if (span.lane.kind === "gpu") return colour(kindOf(span) || "other");
  return { region: colour("accent"), launch: colour("roof"), call: colour("copy") }[roleOf(span)] ?? colour("memset");
}

const PALE = ["pointwise", "memset", "softmax", "normalization"];
function inkOn(span, colour) {
  if (span.lane.kind === "gpu") return PALE.includes(kindOf(span)) ? "#1c2230" : "#fff";
  return colour(roleOf(span) === "op" ? "ink" : "paper");
}

// An outline, and the line from a launch to what it launched.
function paintWay(pen, view, span, colour, strong) {
  outline(pen, view, span, colour(strong ? "ink" : "soft"));
  const pairs = roleOf(span) === "kernel" ? [[launchOf(span), span]] : kernelsOf(span).slice(0, 64).map((kernel) => [launchOf(kernel), kernel]);
  pen.strokeStyle = colour(strong ? "accent" : "soft");
  for (const [from, to] of pairs) {
    if (!from) continue;
    const [x0, y0] = [xOf(view, from.lane.start[from.i] + from.lane.dur[from.i] / 2), from.lane.top + (from.lane.depth[from.i] + 1) * ROW];
    const [x1, y1] = [xOf(view, to.lane.start[to.i]), to.lane.top + to.lane.depth[to.i] * ROW];
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.bezierCurveTo(x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1);
    pen.stroke();
  }
}

function outline(pen, view, { lane, i }, colour) {
  const x = xOf(view, lane.start[i]), width = Math.max(xOf(view, lane.start[i] + lane.dur[i]) - x, 2);
  pen.strokeStyle = colour;
  pen.lineWidth = 2;
  pen.strokeRect(x - 1, lane.top + lane.depth[i] * ROW, width + 1.5, ROW);
  pen.lineWidth = 1;
}

function paintGutter(pen, view, lanes, colour) {
  pen.fillStyle = colour("paper");
  pen.fillRect(0, 0, GUTTER - 2, view.height);
  const several = new Set(lanes.map((l) => l.index)).size > 1;
  lanes.forEach((lane, n) => {
    const fresh = several && (n === 0 || lanes[n - 1].index !== lane.index);
    pen.fillStyle = colour(fresh ? "ink" : "soft");
    pen.font = fresh ? "600 12px system-ui, sans-serif" : "12px system-ui, sans-serif";
    pen.fillText(fitting(pen, fresh ? lane.trace.label : lane.label, GUTTER - 16), 8, lane.top + ROW / 2);
  });
}

function fitting(pen, words, width) {
  if (pen.measureText(words.slice(0, 100)).width <= width && words.length <= 100) return words;
  let length = Math.min(words.length, 40);
  while (length > 1 && pen.measureText(`${words.slice(0, length)}…`).width > width) length -= 1;
  return `${words.slice(0, length)}…`;
}
