"use strict";
const reasons = JSON.parse(document.getElementById("victor-blocks").textContent);
const why = document.getElementById("victor-why");
const blocks = [...document.querySelectorAll("v-b")];
let here = -1;

for (const element of blocks) {
  const one = reasons[Number(element.dataset.b)];
  element.classList.add(`victor-${one.label}`);
  if (one.p[2] > 0.3 && one.p[2] < 0.7) element.classList.add("victor-unsure");
}

function rows(title, effects) {
  if (!effects || !effects.length) return "";
  const signed = (effect) => (effect > 0 ? `<td class="plus">+${effect}</td>` : `<td class="minus">${effect}</td>`);
  const lines = effects.map(([name, value, effect]) => `<tr><td>${name}</td><td>${value}</td>${signed(effect)}</tr>`);
  return `<h4>${title}</h4><table>${lines.join("")}</table>`;
}

function show(number) {
  if (blocks[here]) blocks[here].classList.remove("victor-here");
  here = number;
  const element = blocks[number];
  const one = reasons[Number(element.dataset.b)];
  element.classList.add("victor-here");
  const stages = [`final ${(1 - one.p[2]).toFixed(2)}`];
  if (one.chain !== undefined) stages.unshift(`CRF ${one.chain.toFixed(2)}`);
  if (one.first !== undefined) stages.unshift(`first trees ${(1 / (1 + Math.exp(-one.first))).toFixed(2)}`);
  why.innerHTML =
    `<h4>Block ${element.dataset.b}: ${one.label} (${one.role})</h4>` +
    `P(header) ${one.p[0].toFixed(3)}, P(text) ${one.p[1].toFixed(3)}, P(other) ${one.p[2].toFixed(3)}` +
    `<br>P(content): ${stages.join(" → ")}` +
    (one.headline ? "<br>Kept as the headline of the kept text, although its probability is low" : "") +
    (one.template ? `<br>${Math.round(100 * one.template)} % of it is a template of its site` : "") +
    rows("Features with the largest effect, relative to the page's median block", one.why) +
    rows("Features with the largest effect in the last trees", one.last);
  why.classList.toggle("victor-above", element.getBoundingClientRect().top > innerHeight / 2);
  why.hidden = false;
}

document.addEventListener("mouseover", (event) => {
  const element = event.target.closest ? event.target.closest("v-b") : null;
  if (element) show(blocks.indexOf(element));
});
function press(event) {
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (event.key === "Escape") why.hidden = true;
  if (!step || !blocks.length) return;
  event.preventDefault?.();
  show(Math.min(blocks.length - 1, Math.max(0, here + step)));
  blocks[here].scrollIntoView({ block: "center" });
}
document.addEventListener("keydown", press);

// In `victor look`, the page stays where it was scrolled to when it is shown anew, and keys come from around it.
if (parent !== window) {
  document.documentElement.classList.add("victor-within");
  scrollTo(0, Number(location.hash.slice(1)) || 0);
  addEventListener("message", ({ source, data }) => source === parent && press(data));
  addEventListener("scroll", () => parent.postMessage({ top: scrollY }, "*"));
}
