// Which blocks are selected, and where a run began? No DOM in here.

export class Selection {
  constructor(n) {
    this.n = n;
    this.hidden = new Set(); // blocks that the page doesn't show: moving passes them by
    this.drop();
    this.cursor = -1;
  }

  get isEmpty() {
    return this.last < this.first;
  }

  /** Selects nothing; the cursor stays. */
  drop() {
    this.first = 0;
    this.last = -1;
    this.anchor = -1; // the block a run begins with, until it ends
    this.wider = []; // the selections that were widened, for the way back
  }

  set(first, last, cursor = last) {
    this.first = Math.max(Math.min(first, last), 0);
    this.last = Math.min(Math.max(first, last), this.n - 1);
    this.cursor = cursor;
    this.wider = [];
  }

  /** From the run's beginning (or the cursor) to here. */
  extendTo(block) {
    if (this.anchor < 0) this.anchor = this.cursor < 0 ? block : this.cursor;
    this.set(this.anchor, block, block);
  }

  /** One block on; with `extend` the selection grows or shrinks by it. */
  move(step, { extend = false } = {}) {
    const to = this.#neighbour(step);
    if (to < 0) return;
    if (extend) this.extendTo(to);
    else {
      this.anchor = -1;
      this.set(to, to);
    }
  }

  #neighbour(step) {
    const from = this.cursor < 0 ? (step > 0 ? -1 : this.n) : this.cursor;
    let to = from + step;
    while (to >= 0 && to < this.n && this.hidden.has(to)) to += step;
    return to >= 0 && to < this.n ? to : this.cursor;
  }

  /** Takes in the smallest of the containers [first, last, path] that holds all this and more: its path, or null. */
  widen(containers) {
    const { first, last, cursor, wider } = this;
    let best = null;
    for (const run of containers) {
      const holds = run[0] <= first && run[1] >= last && run[1] - run[0] > last - first;
      if (holds && (!best || run[1] - run[0] < best[1] - best[0])) best = run;
    }
    if (!best) return null;
    this.set(best[0], best[1], cursor);
    this.anchor = -1;
    this.wider = [...wider, [first, last]];
    return best[2];
  }

  /** Back to what was selected before it was widened. */
  narrow() {
    const before = this.wider.at(-1);
    if (!before) return false;
    const rest = this.wider.slice(0, -1);
    this.set(...before, this.cursor);
    this.wider = rest;
    return true;
  }
}
