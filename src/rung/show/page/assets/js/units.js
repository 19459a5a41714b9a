// Times as people write them, three significant digits: the same as in the terminal.
function duration(ns) {
  const units = ["ns", "µs", "ms", "s"];
  let place = 0;
  while (Math.abs(ns) >= 999.5 && place < 3) { ns /= 1000; place += 1; }
  if (place === 0) return `${Math.round(ns)} ns`;
  const digits = Math.abs(ns) < 9.995 ? 2 : Math.abs(ns) < 99.95 ? 1 : 0;
  return `${ns.toFixed(digits)} ${units[place]}`;
}

// Multiples of 1, 2 or 5 times a power of ten within [start, end], about so many.
function roundSteps(start, end, about) {
  const raw = Math.max((end - start) / about, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const found = [];
  for (let at = Math.ceil(start / step) * step; at <= end; at += step) found.push(at);
  return found;
}
