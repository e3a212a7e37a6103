// The line below the page: the block under the pointer or the cursor, and what is known of it.

import { $, h, say } from "./dom.js";

export class Strip {
  constructor({ session, work }) {
    Object.assign(this, { session, work });
    for (const name of ["hover", "change", "moved", "loaded"]) work.addEventListener(name, () => this.draw());
    work.addEventListener("moved", () => this.speak());
  }

  /** What the pointer is on, else what the cursor is on. */
  get block() {
    const { hovered, selection } = this.work;
    return hovered.block >= 0 ? hovered.block : selection.cursor;
  }

  draw() {
    const { work } = this;
    if (!work.page) {
      for (const id of ["where", "text", "verdict"]) $(`#${id}`).replaceChildren();
      return;
    }
    const block = this.block;
    if (block < 0 || block >= work.page.n_blocks) return this.#drawPage();
    const path = work.hovered.block === block ? work.hovered.path : work.path;
    say($("#where"), `${block + 1} / ${work.page.n_blocks}${path ? `  ${path}` : ""}`);
    say($("#text"), this.#hint() ?? work.texts[block] ?? "");
    $("#verdict").replaceChildren(...this.#verdict(block));
  }

  #drawPage() {
    const { page, selection } = this.work;
    const hidden = selection.hidden.size;
    say($("#where"), `${page.n_blocks} blocks`);
    say($("#text"), [page.title, page.url].filter(Boolean).join(" · "));
    const notes = [page.language, hidden ? `${hidden} hidden (h shows them)` : null, page.state === "done" ? "done" : null];
    $("#verdict").replaceChildren(h("span", {}, notes.filter(Boolean).join(" · ")));
  }

  #hint() {
    const { selection, chosen } = this.work;
    if (selection.anchor < 0) return null;
    const { name, key } = this.session.labels[chosen];
    return `A run begins here: click its last block to label it ${name} (or press ${key} for the selection, Esc to cancel)`;
  }

  #verdict(block) {
    const { work } = this;
    const label = work.labelling.labels[block];
    const parts = [this.#chip(label, this.#origin(block))];
    const fault = work.feedback.get(block);
    if (fault) parts.push(h("span", { class: "fault" }, `expected ${this.session.labels[fault.gold].name}. ${fault.why ?? ""}`));
    if (work.judged) {
      for (const { name, labels } of work.judged.annotators) parts.push(this.#chip(parseInt(labels[block], 36), name));
    } else if (work.page.marginals) parts.push(this.#marginals(work.page.marginals[block]));
    return parts;
  }

  #origin(block) {
    const { work } = this;
    if (work.labelling.prelabels && work.labelling.isUntouched(block)) return work.isMarked(block) ? "suggested, uncertain" : "suggested";
    return work.judged ? "now" : "";
  }

  #chip(label, note) {
    const { name, colour } = this.session.labels[label] ?? { name: "?", colour: "#555" };
    const dot = h("i", { class: `swatch line-${label === this.session.other ? "other" : label}`, "aria-hidden": "true" });
    dot.style.setProperty("--c", colour);
    return h("span", { class: "chip" }, note && h("small", {}, note), dot, name);
  }

  /** P(header), P(text), P(other) of the model, in percent, as one bar. */
  #marginals(shares) {
    const words = ["header", "text", "other"].map((role, i) => `${role} ${shares[i]} %`).join(", ");
    const bar = h("span", { class: "marginals", role: "img", "aria-label": words, title: `the model: ${words}` });
    shares.forEach((share, i) => {
      const colour = this.session.labels.find(({ role }) => role === ["header", "text", "other"][i])?.colour ?? "#888";
      const part = h("i", {});
      part.style.width = `${share}%`;
      part.style.background = colour;
      bar.append(part);
    });
    return h("span", { class: "model" }, bar, h("small", {}, `${Math.max(...shares)} %`));
  }

  /** Tells a screen reader where the cursor went. */
  speak() {
    const { work } = this;
    const block = work.selection.cursor;
    if (!work.page || block < 0) return;
    const { name } = this.session.labels[work.labelling.labels[block]];
    say($("#spoken"), `${name}, ${this.#origin(block)}: ${work.texts[block] ?? ""}`);
  }
}

