// One page at work: the annotator's moves in, actions for the server and changes on the screen out.

import * as api from "./api.js";
import { Labelling } from "./labelling.js";
import { Selection } from "./selection.js";

/** Events: change (labels, selection), loaded, finished (by done or skip), hover, message. */
export class Work extends EventTarget {
  constructor({ session, view, outbox, annotator }) {
    super();
    Object.assign(this, { session, view, outbox, annotator });
    this.chosen = session.labels.findIndex((label) => label.role === "text");
    this.page = null;
    this.isPlain = false;
    this.isRunning = false; // a run that was begun by key: moving extends it
    this.hovered = { block: -1, path: "" };
    this.path = "";
    this.texts = [];
    this.containers = [];
    outbox.addEventListener("sent", ({ detail }) => this.#sent(detail));
    outbox.addEventListener("stale", ({ detail }) => this.#stale(detail));
    outbox.addEventListener("elsewhere", () => this.#follow());
    const heard = (name, act) => view.addEventListener(name, ({ detail }) => this.page && act(detail));
    heard("ready", (detail) => this.#ready(detail));
    heard("geometry", ({ hidden }) => {
      this.selection.hidden = new Set(hidden);
      this.#announce("change");
    });
    heard("hover", (detail) => {
      this.hovered = { block: detail.block, path: detail.path ?? "" };
      this.#announce("hover");
    });
    heard("click", (detail) => this.#click(detail));
    heard("drag", ({ first, last }) => this.#mark(first, last, this.chosen));
    heard("described", ({ block, path }) => block === this.selection.cursor && ((this.path = path), this.#announce("hover")));
  }

  get place() {
    return `${this.page.page}${this.page.judge ? " judged" : ""}`;
  }

  get other() {
    return this.session.other;
  }

  // ---- opening and leaving a page

  /** Shows a page state of the server; `judged` holds the annotators' labels, for the adjudicator. */
  open(state, judged = null) {
    this.page = state;
    this.judged = judged;
    this.labelling = new Labelling(state, this.other);
    this.selection = new Selection(state.n_blocks);
    this.wrong = new Uint8Array(state.n_blocks);
    this.feedback = new Map();
    this.marked = new Uint8Array(state.n_blocks);
    const runs = judged ? judged.differing : state.uncertain.map((block) => [block, block]);
    for (const [first, last] of runs) this.marked.fill(1, first, last + 1);
    this.canUndo = state.can_undo;
    this.canRedo = state.can_redo;
    this.openedAt = Date.now();
    this.outbox.revisions.set(this.place, state.revision);
    this.#repeatWaiting();
    this.#load();
    this.#announce("loaded");
  }

  /** What could not be sent yet happened all the same: a reload shows it. */
  #repeatWaiting() {
    for (const { body } of this.outbox.waiting(this.place)) {
      if (body.kind === "label") for (const [first, last] of body.runs) this.labelling.label(first, last, body.label);
      else if (body.kind === "undo" || body.kind === "redo") this.labelling[body.kind]();
      else this.#replaceAll(body.kind);
    }
  }

  #load() {
    this.texts = [];
    this.containers = [];
    this.view.load(this.page.frame + (this.isPlain ? "?plain=1" : ""), {
      colours: this.session.labels.map((label) => label.colour),
      other: this.other,
      title: `Page ${this.page.title ?? this.page.url ?? this.page.page}`,
    });
  }

  close() {
    this.page = null;
    this.view.unload();
  }

  #ready({ texts, containers }) {
    this.texts = texts;
    this.containers = containers;
    this.view.focus();
    this.#show({ scroll: true });
  }

  plain() {
    this.isPlain = !this.isPlain;
    this.#load();
    this.#announce("change");
  }

  // ---- what the annotator does

  /** Chooses a label, and gives it to the selected blocks. */
  label(label) {
    this.chosen = label;
    if (!this.selection.isEmpty) this.#mark(this.selection.first, this.selection.last, label, { keep: true });
    else this.#announce("change");
  }

  erase() {
    if (!this.selection.isEmpty) this.#mark(this.selection.first, this.selection.last, this.other, { keep: true });
  }

  #mark(first, last, label, { keep = false } = {}) {
    this.isRunning = false;
    const isNew = this.labelling.label(first, last, label);
    this.wrong.fill(0, first, last + 1);
    this.selection.anchor = -1;
    if (keep) this.selection.set(first, last, this.selection.cursor);
    else this.selection.drop();
    if (!keep) this.selection.cursor = last;
    if (isNew) this.#send({ kind: "label", runs: [[first, last]], label });
    this.#show();
  }

  #click({ block, shift, container, path }) {
    const { selection } = this;
    this.path = path;
    if (shift) {
      const from = selection.anchor >= 0 ? selection.anchor : selection.cursor >= 0 ? selection.cursor : block;
      this.#mark(Math.min(from, block), Math.max(from, block), this.chosen);
    } else if (selection.anchor >= 0 && !container) {
      this.#mark(Math.min(selection.anchor, block), Math.max(selection.anchor, block), this.chosen);
    } else {
      selection.set(block, block);
      selection.anchor = container ? -1 : block;
      if (container) this.widen();
      this.#show();
    }
  }

  /** Begins a run at the cursor, or ends it there. */
  anchor() {
    const { selection } = this;
    if (selection.anchor >= 0) this.#mark(selection.first, selection.last, this.chosen);
    else if (selection.cursor >= 0) {
      selection.set(selection.cursor, selection.cursor);
      selection.anchor = selection.cursor;
      this.isRunning = true;
      this.#show();
    }
  }

  move(step, extend = false) {
    const runs = this.isRunning && this.selection.anchor >= 0;
    this.isRunning = runs;
    this.selection.move(step, { extend: extend || runs });
    this.#moved();
  }

  goTo(block) {
    if (block < 0 || block >= this.page.n_blocks) return;
    if (this.isRunning && this.selection.anchor >= 0) this.selection.extendTo(block);
    else {
      this.selection.anchor = -1;
      this.selection.set(block, block);
    }
    this.#moved();
  }

  /** To the next marked block that nobody has decided on, round the end if need be. */
  goToMarked(step) {
    const n = this.page.n_blocks;
    const from = this.selection.cursor < 0 ? (step > 0 ? -1 : 0) : this.selection.cursor;
    for (let i = 1; i <= n; i++) {
      const block = (((from + i * step) % n) + n) % n;
      if (this.isMarked(block)) return this.goTo(block);
    }
    this.say(this.judged ? "No disagreement is left on this page." : "No uncertain block is left on this page.");
  }

  widen() {
    const { selection } = this;
    if (selection.isEmpty && selection.cursor >= 0) selection.set(selection.cursor, selection.cursor);
    const path = selection.isEmpty ? null : selection.widen(this.containers);
    if (path === null) return;
    this.path = path;
    this.#show();
    this.say(`${selection.last - selection.first + 1} blocks selected: ${path || "the page"}`);
  }

  narrow() {
    if (this.selection.narrow()) this.#show();
  }

  cancel() {
    this.isRunning = false;
    this.selection.drop();
    this.#show();
  }

  undo() {
    if (!this.canUndo) return this.say("Nothing to undo.");
    this.labelling.undo();
    this.#send({ kind: "undo" });
    this.#show();
  }

  redo() {
    if (!this.canRedo) return this.say("Nothing to redo.");
    this.labelling.redo();
    this.#send({ kind: "redo" });
    this.#show();
  }

  /** "clear": all other; "restore": the model's suggestions again. */
  replaceAll(kind) {
    if (kind === "restore" && !this.labelling.prelabels) return this.say("This page has no suggestions.");
    this.#replaceAll(kind);
    this.#send({ kind });
    this.selection.drop();
    this.#show();
  }

  #replaceAll(kind) {
    if (kind === "restore" && this.labelling.prelabels) this.labelling.replace(this.labelling.prelabels);
    else if (kind === "clear") this.labelling.replace(new Uint8Array(this.page.n_blocks).fill(this.other));
  }

  finish(kind) {
    this.#send({ kind });
    this.#announce("finished");
  }

  // ---- to and from the server

  #send(body) {
    this.canUndo = body.kind === "undo" ? this.labelling.past.length > 0 || this.canUndo : true;
    this.canRedo = body.kind === "undo" || (body.kind === "redo" && this.labelling.future.length > 0);
    const who = { annotator: this.annotator, ...(this.page.judge ? { judge: true } : {}) };
    this.outbox.add(this.page.page, this.place, { ...who, ...body });
  }

  #sent({ place, answer, body }) {
    if (!this.page || place !== this.place) return;
    this.labelling.confirm(answer.changed ?? []);
    this.page.state = answer.state;
    if (this.outbox.waiting(place).length) return;
    this.canUndo = answer.can_undo;
    this.canRedo = answer.can_redo;
    if (this.labelling.settle() || body.kind !== "label") this.#show();
    else this.#announce("change");
  }

  /** Another tab sent or made an action: its changes are shown here as soon as the server has them. */
  async #follow() {
    const { page, outbox } = this;
    if (!page || outbox.waiting(this.place).length) return;
    try {
      const state = await api.page(page.page, this.annotator, page.judge);
      if (page !== this.page || state.revision <= outbox.revisions.get(this.place)) return;
      outbox.revisions.set(this.place, state.revision);
      this.#stale({ place: this.place, state });
    } catch (error) {
      if (!(error instanceof api.Refused)) throw error; // the next action brings the changes
    }
  }

  /** Another tab changed the page: what it did counts, and what waits here comes on top. */
  #stale({ place, state }) {
    if (!this.page || place !== this.place) return;
    this.labelling = new Labelling(state, this.other);
    this.#repeatWaiting();
    this.#show();
    this.say("This page was changed in another window; its changes are shown here now.");
  }

  /** Practice: the gold labels. */
  async check() {
    const found = await api.check(this.page.page, this.annotator);
    this.wrong.fill(0);
    this.feedback = new Map(found.wrong.map((fault) => [fault.block, fault]));
    for (const { block } of found.wrong) this.wrong[block] = 1;
    this.marked = this.wrong;
    this.labelling.looked.fill(0);
    this.#show();
    return found;
  }

  // ---- what is shown

  isMarked(block) {
    return Boolean(this.marked[block]) && !this.labelling.looked[block] && !this.selection.hidden.has(block);
  }

  get nMarked() {
    let n = 0;
    for (let block = 0; block < this.page.n_blocks; block++) n += this.isMarked(block);
    return n;
  }

  #moved() {
    this.view.tell("describe", { block: this.selection.cursor });
    this.#show({ scroll: true, labels: false });
    this.#announce("moved");
  }

  #show({ scroll = false, labels = true } = {}) {
    const { labelling, selection } = this;
    const flags = (test) => Uint8Array.from({ length: labelling.length }, (_, block) => test(block));
    if (labels) {
      this.view.tell("state", {
        labels: labelling.labels,
        other: this.other,
        suggested: flags((block) => labelling.isUntouched(block)),
        marked: flags((block) => this.marked[block] && !labelling.looked[block]),
        wrong: this.wrong,
      });
    }
    const { first, last, cursor, anchor } = selection;
    this.view.tell("select", { first, last, cursor, anchor, scroll });
    this.#announce("change");
  }

  say(message) {
    this.dispatchEvent(new CustomEvent("message", { detail: message }));
  }

  #announce(name) {
    this.dispatchEvent(new Event(name));
  }
}
