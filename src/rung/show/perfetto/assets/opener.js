// Perfetto says PONG to a PING once it can take a trace; then it gets the bytes, and the stretch to show.
const told = JSON.parse(document.getElementById("data").textContent);
const said = document.getElementById("said");
const online = !told.ui.startsWith("/");
const origin = online ? told.ui : location.origin;
setInterval(() => fetch(told.alive).catch(() => { said.textContent = "rung show has stopped; what is loaded stays."; }), 5000);

async function hand(target) {
  said.textContent = "handing over the trace";
  const answer = await fetch(told.trace);
  if (!answer.ok) { said.textContent = "the trace is no longer served"; return; }
  const buffer = await answer.arrayBuffer();
  await ready(target);
  target.postMessage({ perfetto: { buffer, title: told.title, keepApiOpen: true } }, origin, [buffer]);
  said.textContent = "";
  // It waits for the trace to be loaded by itself, and tries again until then.
  if (told.view) target.postMessage({ perfetto: { timeStart: told.view[0], timeEnd: told.view[1], viewPercentage: 0.8 } }, origin);
}

function ready(target) {
  return new Promise((done) => {
    const asking = setInterval(() => target.postMessage("PING", origin), 100);
    addEventListener("message", function listen(event) {
      if (event.source !== target || event.data !== "PONG") return;
      clearInterval(asking);
      removeEventListener("message", listen);
      done();
    });
  });
}

if (online) document.getElementById("open").addEventListener("click", () => hand(open(told.ui)));
else hand(document.getElementById("ui").contentWindow);
