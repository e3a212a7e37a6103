// Small functions around the DOM.

/** An element with properties (class, on*, aria-*, data-*, others as attributes) and children. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const $ = (selector, root = document) => root.querySelector(selector);

/** Text that changes only where it differs, so that screen readers hear it once. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function plural(n, one, many = `${one}s`) {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

/** 75 → 1:15 */
export function clock(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
