// The page in its sandboxed frame, as this side sees it: an object with methods and events.

import { h } from "./dom.js";

/** Shows one page at a time. Events: ready, geometry, scrolled, hover, click, drag, key, widened, described. */
export class View extends EventTarget {
  constructor(place) {
    super();
    this.place = place;
    this.frame = null;
    this.isReady = false;
    addEventListener("message", (event) => this.#hear(event));
  }

  /** Loads a page; "ready" follows. The old frame goes with all that it held. */
  load(source, { colours, other, title }) {
    this.isReady = false;
    this.start = { colours, other };
    const frame = h("iframe", { sandbox: "allow-scripts", title, referrerpolicy: "no-referrer", src: source });
    this.place.replaceChildren(frame);
    this.frame = frame;
  }

  unload() {
    this.place.replaceChildren();
    this.frame = null;
    this.isReady = false;
  }

  tell(type, message = {}) {
    this.frame?.contentWindow?.postMessage({ type, ...message }, "*");
  }

  focus() {
    this.frame?.focus();
  }

  #hear({ source, data }) {
    if (!this.frame || source !== this.frame.contentWindow || typeof data?.type !== "string") return;
    if (data.type === "ready") {
      this.isReady = true;
      this.frame.dataset.ready = "";
      this.tell("start", this.start);
    }
    this.dispatchEvent(new CustomEvent(data.type, { detail: data }));
  }
}
