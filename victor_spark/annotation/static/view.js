// The page in its sandboxed frame, as this side sees it: an object with methods and events.

import { h } from "./dom.js";

/** Shows one page at a time. Events: ready, geometry, scrolled, hover, click, drag, key, described. */
export class View extends EventTarget {
  constructor(place) {
    super();
    this.place = place;
    place.tabIndex = -1;
    this.frame = null;
    this.isReady = false;
    addEventListener("message", (event) => this.#hear(event));
  }

  /** Loads a page; "ready" follows. The old one stays in sight until then, and hears nobody any more. */
  load(source, { colours, other, title }) {
    this.#leave();
    this.start = { colours, other };
    const frame = h("iframe", { sandbox: "allow-scripts", title, referrerpolicy: "no-referrer", src: source });
    frame.addEventListener("load", () => this.#uncover()); // also where an error came instead of the page
    this.place.append(frame);
    this.frame = frame;
  }

  unload() {
    this.#leave();
    this.frame = null;
    this.#uncover();
  }

  #leave() {
    if (!this.frame) return;
    if (document.activeElement === this.frame) this.place.focus({ preventScroll: true }); // keys are not lost meanwhile
    const old = this.isReady ? this.leaving : [this.frame];
    if (this.isReady) this.frame.classList.add("leaving");
    old.forEach((frame) => frame.remove());
    this.isReady = false;
  }

  /** Takes the old frame away once it says that it has done with what was typed: a browser (or what drives
      it) may wait for the end of a key press in vain where the frame that heard its beginning is gone. */
  #uncover() {
    for (const { contentWindow } of this.leaving) contentWindow.postMessage({ type: "settle" }, "*");
  }

  get leaving() {
    return [...this.place.getElementsByClassName("leaving")];
  }

  tell(type, message = {}) {
    this.frame?.contentWindow?.postMessage({ type, ...message }, "*");
  }

  focus() {
    this.frame?.focus();
  }

  #hear({ source, data }) {
    if (data?.type === "settled") this.leaving.find(({ contentWindow }) => contentWindow === source)?.remove();
    if (!this.frame || source !== this.frame.contentWindow || typeof data?.type !== "string") return;
    if (data.type === "ready") {
      this.isReady = true;
      this.frame.dataset.ready = "";
      this.tell("start", this.start);
      this.#uncover();
    }
    this.dispatchEvent(new CustomEvent(data.type, { detail: data }));
  }
}
