// What a span is, in a tip beside the pointer and in the panel below.
function factsOf(span) {
  const { lane, i } = span;
  const told = [[ "start", duration(lane.start[i])], ["duration", duration(lane.dur[i])]];
  if (lane.fact && lane.fact[i] >= 0) told.push(...lane.trace.facts[lane.fact[i]]);
  if (lane.shapes && lane.shapes.of[i] >= 0) told.push(["inputs", lane.shapes.texts[lane.shapes.of[i]]]);
  const kernels = kernelsOf(span);
  if (kernels.length) told.push(["on the GPU", `${kernels.length} ${kernels.length === 1 ? "piece" : "pieces"} of work, ${duration(kernels.reduce((sum, k) => sum + k.lane.dur[k.i], 0))}`]);
  return told;
}

function fillTip(tip, span) {
  const few = factsOf(span).filter(([label]) => label && label !== "start").slice(0, 6);
  tip.replaceChildren(make("b", {}, saidOf(span)), ...few.map(([label, words]) => make("div", {}, `${label}: ${words}`)));
}

function fillPanel(panel, span, go) {
  if (!span) {
    panel.replaceChildren(make("p", { class: "hint" }, "Select a span to see what it is, and where it comes from."));
    return;
  }
  const step = (to, words) => make("button", { type: "button", onclick: () => go(to) }, words ?? nameOf(to));
  const way = chainOf(span).map((to) => step(to));
  const kernels = kernelsOf(span).slice(0, 12).map((to) => step(to, saidOf(to)));
  panel.replaceChildren(
    make("h3", {}, `${roleOf(span)} ${saidOf(span)}`),
    ...(saidOf(span) === nameOf(span) ? [] : [make("code", {}, nameOf(span))]),
    make("dl", {}, ...factsOf(span).flatMap(([label, words]) => [make("dt", {}, label), make("dd", {}, words)])),
    ...(way.length ? [make("nav", { "aria-label": "The way here" }, "from ", ...way)] : []),
    ...(kernels.length ? [make("nav", { "aria-label": "What it put on the GPU" }, "to ", ...kernels)] : []),
  );
}
