// Text from a trace only ever becomes a text node.
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

function all(selector, within = document) {
  return [...within.querySelectorAll(selector)];
}
