// Actions on their way to the server. Each is in localStorage before it is sent and until the server has it:
// a reload, a closed tab, a server that is gone lose nothing.

import * as api from "./api.js";

const PAUSES = [400, 800, 1500, 3000, 5000];

/** Sends actions one after the other, in the order they were made, again and again until they arrive. */
export class Outbox extends EventTarget {
  constructor(store) {
    super();
    this.key = `victor-outbox:${store}`;
    this.revisions = new Map(); // page → the revision in the server's last answer
    this.failure = null; // the last attempt's error, null after a success
    this.retryAt = 0;
    this.lost = false; // localStorage refuses: actions are kept in memory alone
    this.memory = null;
    this.running = false;
    this.failed = 0;
    addEventListener("online", () => this.hurry());
    addEventListener("storage", ({ key }) => {
      if (key !== this.key) return;
      this.#changed();
      this.dispatchEvent(new Event("elsewhere"));
    });
  }

  get actions() {
    if (this.memory) return this.memory;
    try {
      return JSON.parse(localStorage.getItem(this.key) ?? "[]");
    } catch {
      return [];
    }
  }

  #keep(actions) {
    try {
      localStorage.setItem(this.key, JSON.stringify(actions));
      this.memory = null;
      this.lost = false;
    } catch {
      this.memory = actions;
      this.lost = true;
    }
  }

  waiting(place) {
    return this.actions.filter((action) => place === undefined || action.place === place);
  }

  /** Takes an action {page, place, body}; it is safe when this returns. */
  add(page, place, body) {
    this.#keep([...this.actions, { page, place, body: { ...body, id: crypto.randomUUID?.() ?? random() } }]);
    this.#changed();
    this.hurry();
  }

  /** Tries at once, not only after the pause. */
  hurry() {
    this.failed = 0;
    this.wake?.();
    void this.#run();
  }

  async #run() {
    if (this.running) return;
    this.running = true;
    const alone = navigator.locks ? (work) => navigator.locks.request(this.key, work) : (work) => work();
    try {
      while (this.actions.length) {
        if (await alone(() => this.#send())) continue;
        const pause = PAUSES[Math.min(this.failed++, PAUSES.length - 1)];
        this.retryAt = Date.now() + pause;
        this.#changed();
        await new Promise((wake) => {
          this.wake = wake;
          setTimeout(wake, pause);
        });
      }
    } finally {
      this.running = false;
      this.#changed();
    }
  }

  /** Sends the oldest action; whether it is dealt with. */
  async #send() {
    const [action] = this.actions;
    if (!action) return true;
    const { page, place, body } = action;
    try {
      const revision = this.revisions.get(place) ?? (await this.#revision(action));
      const answer = await api.act(page, { ...body, revision });
      this.revisions.set(place, answer.revision);
      this.#finish(action, { answer });
      return true;
    } catch (error) {
      if (!(error instanceof api.Refused)) throw error;
      if (error.code === "stale") {
        this.revisions.set(place, error.body.state.revision); // another tab was faster: this action comes after it
        this.dispatchEvent(new CustomEvent("stale", { detail: { place, state: error.body.state } }));
        return true;
      }
      if (error.isPassing || error.status === 401 || error.status === 403) {
        this.failure = error;
        return false;
      }
      this.#finish(action, { refusal: error }); // the server will never accept it: removed, with a message
      return true;
    }
  }

  async #revision({ page, place, body }) {
    const { revision } = await api.page(page, body.annotator, body.judge);
    this.revisions.set(place, revision);
    return revision;
  }

  #finish(action, detail) {
    this.failure = null;
    this.failed = 0;
    this.#keep(this.actions.filter((other) => other.body.id !== action.body.id));
    this.dispatchEvent(new CustomEvent(detail.answer ? "sent" : "refused", { detail: { ...action, ...detail } }));
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}

/** crypto.randomUUID is there only on https and localhost. */
function random() {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (word) => word.toString(16).padStart(8, "0")).join("");
}
