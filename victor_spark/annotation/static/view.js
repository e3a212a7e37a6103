// The page in its sandboxed frame, as this side sees it: an object with methods and events.

import { h } from "./dom.js";

const SETTLE_TIMEOUT = 10_000; // a crashed frame never answers, and must not cover the next page

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

  /** Loads a page; "ready" follows. The old frame stays visible until then. */
  load(source, { colours, other, title }) {
    this.#leave();
    this.start = { colours, other };
    const frame = h("iframe", { sandbox: "allow-scripts", title, referrerpolicy: "no-referrer", src: source });
    frame.addEventListener("load", () => this.#uncover()); // also if the response is an error
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
    if (document.activeElement === this.frame) this.place.focus({ preventScroll: true }); // the parent gets the next keys
    if (this.isReady) this.frame.classList.add("leaving");
    else this.frame.remove();
    this.isReady = false;
  }

  /** Removes the old frames, each after it has sent all keys that were typed into it: a browser (or the tool
      that drives it) may wait forever for the end of a key press if the frame that got its start is gone. */
  #uncover() {
    for (const frame of this.leaving) {
      frame.contentWindow.postMessage({ type: "settle" }, "*");
      setTimeout(() => frame.remove(), SETTLE_TIMEOUT);
    }
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
    if (typeof data?.type !== "string") return;
    const left = this.leaving.find(({ contentWindow }) => contentWindow === source);
    if (left && data.type === "settled") left.remove();
    // Keys typed before the focus moved arrive from the old frame. They count only if both frames show the same
    // page: on the next page, Enter would finish what nobody has seen.
    const isLateKey = left && data.type === "key" && isSamePage(left, this.frame);
    if (source !== this.frame?.contentWindow && !isLateKey) return;
    if (data.type === "ready") {
      this.isReady = true;
      this.frame.dataset.ready = "";
      this.tell("start", this.start);
      this.#uncover();
    }
    this.dispatchEvent(new CustomEvent(data.type, { detail: data }));
  }
}

/** Whether two frames are views (styled or plain) of one page. */
const isSamePage = (one, other) => one.src.split("?")[0] === other?.src.split("?")[0];
