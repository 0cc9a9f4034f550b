// Elements. Whatever comes from a transcript goes through here, as a text node: never as HTML.

/** An element with attributes (`on…` are listeners, false and null are left out) and children (nodes or texts). */
export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "class") node.className = value;
    // Not as an attribute: a page whose policy forbids inline styles would not apply it.
    else if (key === "style") node.style.cssText = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

let ids = 0;
export const freshId = (stem) => `${stem}-${(ids += 1)}`;

/** A labelled select: `options` are [value, text]. */
export function picker(label, options, value, choose) {
  const id = freshId("pick");
  const select = el("select", { id, onchange: () => choose(options[select.selectedIndex][0]) },
    options.map(([key, text]) => el("option", { selected: String(key) === String(value) }, text)));
  return el("div", { class: "field" }, el("label", { for: id }, label), select);
}

/** A row of radio-like buttons: `options` are [value, text]. */
export function segments(label, options, value, choose) {
  const buttons = options.map(([key, text]) => el("button", {
    type: "button", "aria-pressed": String(key === value),
    onclick: () => {
      buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(options[index][0] === key)));
      choose(key);
    },
  }, text));
  return el("div", { class: "field" },
    el("span", { class: "label" }, label), el("div", { class: "segments", role: "group", "aria-label": label }, buttons));
}

/** Calls `draw(width)` now and whenever the width of `box` has changed. */
export function onWidth(box, draw) {
  let last = 0;
  const look = () => {
    const width = Math.floor(box.clientWidth);
    if (width > 0 && width !== last) {
      last = width;
      draw(width);
    }
  };
  new ResizeObserver(look).observe(box);
  look();
}

/** Options that give a mark of a chart a name, so that it can be found: `[data-mark=name]`. */
export const mark = (name) => ({
  render(index, scales, values, dimensions, context, next) {
    const group = next(index, scales, values, dimensions, context);
    group?.setAttribute("data-mark", name);
    return group;
  },
});

/** Gives the named groups of a chart a role: without one, assistive technology may not read the name. */
export function grouped(svg) {
  svg.querySelectorAll("g[aria-label]:not([role])").forEach((group) => group.setAttribute("role", "group"));
  return svg;
}

const dark = matchMedia("(prefers-color-scheme: dark)");
/** Calls `draw` when the page changes between light and dark: by the system, or by a switch that sends `scheme`. */
export function onScheme(draw) {
  dark.addEventListener("change", draw);
  document.addEventListener("scheme", draw);
}

export const note = (text) => el("p", { class: "empty" }, text);
