// What is each block of this page labelled as? No DOM and no network in here.

const digits = "0123456789abcdefghijklmnopqrstuvwxyz";

/** "2201…" → label numbers. */
export const decode = (labels) => Uint8Array.from(labels, (digit) => digits.indexOf(digit));

/** The labels of one page as they are on this screen, and those the server has confirmed. */
export class Labelling {
  constructor(state, other) {
    this.other = other;
    this.confirmed = decode(state.labels);
    this.labels = this.confirmed.slice();
    this.prelabels = state.prelabels ? decode(state.prelabels) : null;
    this.looked = new Uint8Array(this.labels.length); // blocks the annotator has decided on
    this.past = [];
    this.future = [];
  }

  get length() {
    return this.labels.length;
  }

  /** Whether nobody has decided on the block: it is as the model has it, or `other` where no model was asked. */
  isUntouched(block) {
    return !this.looked[block] && this.labels[block] === (this.prelabels ? this.prelabels[block] : this.other);
  }

  /** Labels the blocks first..last; whether that changed any (to agree with a suggestion changes none). */
  label(first, last, label) {
    const isNew = this.labels.subarray(first, last + 1).some((old) => old !== label);
    if (isNew) this.#remember({ labels: this.labels.slice(), looked: this.looked.slice() });
    this.labels.fill(label, first, last + 1);
    this.looked.fill(1, first, last + 1);
    return isNew;
  }

  /** All blocks at once: the prelabels again, or all `other`. */
  replace(labels) {
    this.#remember({ labels: this.labels.slice(), looked: this.looked.slice() });
    this.labels.set(labels);
    this.looked.fill(0);
  }

  /** Undoes the last action of this visit; false without one (older actions are on the server). */
  undo() {
    return this.#step(this.past, this.future);
  }

  redo() {
    return this.#step(this.future, this.past);
  }

  #step(from, to) {
    const other = from.pop();
    if (!other) return false;
    to.push({ labels: this.labels, looked: this.looked });
    ({ labels: this.labels, looked: this.looked } = other);
    return true;
  }

  #remember(before) {
    this.past.push(before);
    if (this.past.length > 200) this.past.shift();
    this.future.length = 0;
  }

  /** The server's answer to an action: [[first, last, label], …]. */
  confirm(changed) {
    for (const [first, last, label] of changed) this.confirmed.fill(label, first, last + 1);
  }

  /** Takes over what the server has; whether that was something else. Only when nothing waits to be sent. */
  settle() {
    let differs = false;
    for (let block = 0; block < this.length; block++) differs ||= this.labels[block] !== this.confirmed[block];
    if (differs) this.labels.set(this.confirmed);
    return differs;
  }

  counts(nLabels) {
    const counts = new Array(nLabels).fill(0);
    for (const label of this.labels) counts[label]++;
    return counts;
  }
}
