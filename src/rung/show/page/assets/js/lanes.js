// The data unpacked: lanes of spans, each span findable by time, its parent, its launch and its kernels.
const DEEPEST = 64; // levels of a lane that are drawn: a canvas cannot be as tall as it likes
const ROLES = ["region", "op", "launch", "call", "kernel"];

function unpack(traces) {
  const lanes = [];
  traces.forEach((trace, index) => {
    let first = 0;
    const own = trace.lanes.map((packed) => {
      const lane = unpackLane(packed, trace, index, first);
      first += lane.count;
      return lane;
    });
    for (const lane of own) lane.siblings = own;
    linkKernels(own);
    lanes.push(...own);
  });
  return lanes;
}

function unpackLane(packed, trace, index, first) {
  const count = packed.dur.length;
  const start = new Float64Array(count);
  let at = 0;
  packed.start.forEach((step, i) => { at += step; start[i] = at - trace.opens[0]; });
  const deepest = packed.depth.reduce((a, b) => Math.max(a, b), 0);
  const rows = Array.from({ length: deepest + 1 }, () => []);
  packed.depth.forEach((depth, i) => rows[depth].push(i));
  const height = Math.min(rows.length, DEEPEST);
  const label = rows.length > DEEPEST ? `${packed.label}, ${rows.length - DEEPEST} levels more` : packed.label;
  return { ...packed, label, start, count, first, rows, height, trace, index, launched: new Map() };
}

// For each launch, the kernels it put on a device: [lane, span] pairs.
function linkKernels(lanes) {
  for (const lane of lanes.filter((l) => l.link)) {
    lane.link.forEach((launch, i) => {
      const home = launch < 0 ? null : lanes.find((l) => launch >= l.first && launch < l.first + l.count);
      if (!home) return;
      const known = home.launched.get(launch - home.first) ?? [];
      known.push({ lane, i });
      home.launched.set(launch - home.first, known);
    });
  }
}

// Of the spans of one depth, sorted by start, the first that ends after a moment.
function firstAfter(lane, row, moment) {
  let low = 0, high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.start[row[middle]] + lane.dur[row[middle]] < moment) low = middle + 1; else high = middle;
  }
  return low;
}

function nameOf({ lane, i }) { return lane.trace.names[lane.name[i]]; }
function saidOf({ lane, i }) { return lane.trace.said[lane.name[i]] || nameOf({ lane, i }); }
function roleOf({ lane, i }) { return lane.kind === "gpu" ? "kernel" : lane.kind === "annotation" ? "region" : ROLES[lane.role[i]]; }
function kindOf({ lane, i }) { return lane.kind === "gpu" ? lane.trace.kind[lane.name[i]] : ""; }

// The span around one, a level up.
function parentOf({ lane, i }) {
  const depth = lane.depth[i];
  if (!depth) return null;
  const row = lane.rows[depth - 1];
  const at = firstAfter(lane, row, lane.start[i]);
  return row[at] !== undefined && lane.start[row[at]] <= lane.start[i] ? { lane, i: row[at] } : null;
}

function launchOf({ lane, i }) {
  const launch = lane.link ? lane.link[i] : -1;
  const home = launch < 0 ? null : lane.siblings.find((l) => launch >= l.first && launch < l.first + l.count);
  return home ? { lane: home, i: launch - home.first } : null;
}

// Everything that a span on the CPU put on a device, itself or inside it.
function kernelsOf({ lane, i }) {
  if (lane.kind === "gpu") return [];
  const from = lane.start[i], to = from + lane.dur[i];
  const homes = lane.kind === "annotation" ? lane.siblings.filter((l) => l.kind === "cpu") : [lane];
  return homes.flatMap((home) => [...home.launched].filter(([launch]) => home.start[launch] >= from && home.start[launch] <= to).flatMap(([, kernels]) => kernels));
}

// From the outermost region over the ops to the launch of a kernel.
function chainOf(span) {
  const from = roleOf(span) === "kernel" ? launchOf(span) : span;
  if (!from) return [];
  const found = roleOf(from) === "region" ? [] : regionsAround(from);
  const inside = [];
  for (let at = from === span ? parentOf(from) : from; at; at = parentOf(at)) inside.unshift(at);
  return [...found, ...inside];
}

// The annotations in whose time a span on the CPU begins, the outermost first.
function regionsAround({ lane, i }) {
  const moment = lane.start[i];
  return lane.siblings.filter((l) => l.kind === "annotation").flatMap((home) => home.rows.flatMap((row) => {
    const at = row[firstAfter(home, row, moment)];
    return at !== undefined && home.start[at] <= moment ? [{ lane: home, i: at }] : [];
  }));
}

function same(a, b) { return Boolean(a && b && a.lane === b.lane && a.i === b.i); }
