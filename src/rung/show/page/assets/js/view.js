// The stretch of time on the screen, and where each lane stands.
const GUTTER = 128, AXIS = 22, ROW = 18, GAP = 10;

function makeView(lanes) {
  const whole = [Math.min(...lanes.map((l) => (l.count ? l.start[0] : 0))), Math.max(...lanes.map((l) => l.start.reduce((most, s, i) => Math.max(most, s + l.dur[i]), 0)))];
  const forward = lanes.reduce((most, l) => Math.max(most, l.trace.opens[1] - l.trace.opens[0]), 0);
  let top = AXIS + 4;
  for (const lane of lanes) {
    lane.top = top;
    top += lane.height * ROW + GAP;
  }
  const view = { whole, forward: [-0.03 * forward, 1.05 * forward], start: 0, end: 1, width: 0, height: top, scrolled: 0 };
  [view.start, view.end] = forward ? view.forward : whole;
  return view;
}

function xOf(view, ns) { return GUTTER + ((ns - view.start) / (view.end - view.start)) * (view.width - GUTTER); }
function timeOf(view, x) { return view.start + ((x - GUTTER) / (view.width - GUTTER)) * (view.end - view.start); }

function zoom(view, factor, around = (view.start + view.end) / 2) {
  const reach = view.whole[1] - view.whole[0] || 1;
  const length = Math.min(Math.max((view.end - view.start) * factor, 20), reach * 1.3);
  const share = (around - view.start) / (view.end - view.start);
  view.start = around - share * length;
  view.end = view.start + length;
}

function pan(view, ns) {
  const margin = (view.end - view.start) * 0.8;
  const by = Math.min(Math.max(ns, view.whole[0] - margin - view.start), view.whole[1] + margin - view.end);
  view.start += by;
  view.end += by;
}

function show(view, [start, end]) { [view.start, view.end] = [start, Math.max(end, start + 20)]; }

// Brings a span into sight, with some of its surroundings.
function reveal(view, { lane, i }) {
  const start = lane.start[i], dur = lane.dur[i], length = view.end - view.start;
  if (dur > length * 0.9 || dur < length / 400) show(view, [start - dur * 4 - 10, start + dur * 5 + 10]);
  else if (start < view.start || start + dur > view.end) pan(view, start + dur / 2 - (view.start + view.end) / 2);
}

function spanAt(view, lanes, x, y) {
  const lane = lanes.find((l) => y >= l.top && y < l.top + l.height * ROW);
  if (!lane || x < GUTTER || y < view.scrolled + AXIS) return null;
  const row = lane.rows[Math.floor((y - lane.top) / ROW)];
  const slack = ((view.end - view.start) / (view.width - GUTTER)) * 2;
  const moment = timeOf(view, x);
  for (let at = firstAfter(lane, row, moment - slack); at < row.length && lane.start[row[at]] <= moment + slack; at += 1) return { lane, i: row[at] };
  return null;
}
