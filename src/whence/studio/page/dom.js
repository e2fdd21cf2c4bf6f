// Small helpers: elements made of text alone, never of HTML.

export const $ = (id) => document.getElementById(id);

/** Return an element; children that are strings become text. */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "on") for (const [event, what] of Object.entries(value)) element.addEventListener(event, what);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** Return an SVG element. */
export function s(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Return a drawing that the studio made, as elements. */
export function drawing(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  return document.importNode(parsed, true);
}

/** Return a sentence in which what stands between backquotes is set as code. */
export function marked(text) {
  const parts = text.split("`");
  if (parts.length % 2 === 0) return [text];
  return parts.map((part, at) => (at % 2 ? h("code", {}, part) : part));
}

export const labels = (all) => all.flatMap((one, at) => (at ? [", ", h("code", {}, one)] : [h("code", {}, one)]));

export const percent = (share) =>
  share > 0.9995 && share < 1 ? ">99.9%" : share < 0.0005 && share > 0 ? "<0.1%" : `${(100 * share).toFixed(share === 1 || share === 0 ? 0 : 1)}%`;

/** Say something to who listens rather than looks. */
export function announce(text) {
  $("announce").textContent = text;
}

/** Show what went wrong, until it is closed. */
export function notice(text, more = []) {
  const shown = [text, ...more].map((line) => h("p", {}, line));
  $("notice-text").replaceChildren(...shown);
  $("notice").hidden = false;
}

export function closeNotice() {
  $("notice").hidden = true;
}
