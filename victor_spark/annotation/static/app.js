// The annotation tool's beginning: who annotates, which view, and what keys and buttons do.

import * as api from "./api.js";
import { Bar, notify } from "./bar.js";
import * as dialogs from "./dialogs.js";
import { $, h } from "./dom.js";
import { command } from "./keys.js";
import { PageMap } from "./map.js";
import { Outbox } from "./outbox.js";
import * as overview from "./overview.js";
import { Strip } from "./strip.js";
import { View } from "./view.js";
import { Work } from "./work.js";

const NAME = "victor-annotator";
const HEARTBEAT = 15_000;
const remembered = { get: () => attempt(() => localStorage.getItem(NAME)), set: (name) => attempt(() => localStorage.setItem(NAME, name)) };

function attempt(call) {
  try {
    return call();
  } catch {
    return null; // a browser that stores nothing asks for the name each time
  }
}

class App {
  constructor(session) {
    this.session = session;
    this.outbox = new Outbox(session.store_id);
    this.view = new View($("#page"));
    this.lastInput = 0;
  }

  async start() {
    await this.#join(remembered.get());
    const { session, view, outbox, annotator } = this;
    this.work = new Work({ session, view, outbox, annotator });
    const run = (name, detail) => this.run(name, detail);
    this.bar = new Bar({ session, work: this.work, outbox, run });
    this.strip = new Strip({ session, work: this.work });
    this.#map();
    this.#listen();
    this.outbox.hurry();
    await this.#route();
  }

  async #join(known, canCancel = false) {
    const { session } = this;
    if (known && !canCancel) {
      try {
        this.annotator = (await api.join(known)).name;
        return;
      } catch (error) {
        if (error.isPassing) throw error;
      }
    }
    const name = await dialogs.askName({ session, known: known ?? "", join: api.join, canCancel });
    if (!name) return;
    this.annotator = name;
    remembered.set(name);
  }

  #map() {
    const map = new PageMap($("#map"), (top) => this.view.tell("scroll", { top }));
    const { work } = this;
    map.colourOf = (block) => (work.labelling.labels[block] === work.other ? null : this.session.labels[work.labelling.labels[block]]?.colour);
    map.isMarked = (block) => work.isMarked(block);
    this.view.addEventListener("geometry", ({ detail }) => {
      if (!work.page || detail.tops.length > work.page.n_blocks) return;
      map.geometry = detail;
      map.view = detail;
      map.draw();
    });
    this.view.addEventListener("scrolled", ({ detail }) => {
      map.view = detail;
      map.draw();
    });
    work.addEventListener("loaded", () => (map.geometry = null));
    work.addEventListener("change", () => map.draw());
  }

  #listen() {
    const { work, view } = this;
    addEventListener("hashchange", () => this.#route());
    document.addEventListener("keydown", (event) => this.#key(event));
    view.addEventListener("key", ({ detail }) => this.#key({ ...detail, preventDefault() {} }));
    for (const name of ["hover", "click", "drag", "key", "scrolled"]) view.addEventListener(name, () => (this.lastInput = Date.now()));
    work.addEventListener("message", ({ detail }) => notify(detail));
    work.addEventListener("finished", () => this.#next());
    this.outbox.addEventListener("refused", ({ detail }) => notify(`The server refused an action: ${detail.refusal.message}`, { isBad: true }));
    this.outbox.addEventListener("sent", ({ detail }) => {
      if (["done", "skip", "reopen"].includes(detail.body.kind)) void this.#figures();
    });
    addEventListener("beforeunload", (event) => this.outbox.lost && this.outbox.actions.length && event.preventDefault());
    setInterval(() => this.#heartbeat(), HEARTBEAT);
    setInterval(() => this.bar.drawClock(this.#tick()), 1000);
    $("#menu").addEventListener("click", () => this.#menu());
    document.addEventListener("click", (event) => event.target.closest(".menu, #menu") || this.#menu(true));
    $("#labels").addEventListener("keydown", (event) => this.#radio(event));
  }

  // ---- time

  get isActive() {
    return document.visibilityState === "visible" && Date.now() - this.lastInput < HEARTBEAT;
  }

  /** The clock in the bar runs only while somebody works. */
  #tick() {
    if (this.work.page && document.visibilityState === "visible" && Date.now() - this.lastInput < 60_000) {
      this.work.seconds = (this.work.seconds ?? 0) + 1;
    }
  }

  async #heartbeat() {
    const { page } = this.work;
    if (!page || !this.isActive) return;
    try {
      const { active_seconds } = await api.active(page.page, this.annotator, page.judge);
      if (this.work.page === page) {
        page.active_seconds = active_seconds;
        this.work.seconds = 0;
      }
    } catch (error) {
      if (!(error instanceof api.Refused)) throw error; // the outbox tells what is wrong
    }
  }

  async #figures() {
    try {
      this.bar.drawFigures(await api.progress(this.annotator), this.annotator);
    } catch (error) {
      if (!(error instanceof api.Refused)) throw error;
    }
  }

  // ---- which view

  async #route() {
    const [, name = "next", number] = location.hash.split("/");
    this.route = location.hash;
    this.turn = {}; // an answer that comes after the annotator has gone elsewhere is not shown
    try {
      if (name === "overview") await this.#overview();
      else if (name === "guidelines") await this.#guidelines();
      else await this.#open(name, Number(number));
    } catch (error) {
      if (!(error instanceof api.Refused)) throw error;
      this.#failed(error);
    }
  }

  #show(id) {
    $("#work").hidden = id !== "work";
    $("#overview").hidden = id === "work";
    if (id !== "work") {
      this.work.close();
      this.bar.draw();
      this.strip.draw();
    }
  }

  async #overview() {
    this.#show("overview");
    await overview.show($("#overview"), this);
    await this.#figures();
  }

  async #guidelines() {
    this.#show("overview");
    const page = new DOMParser().parseFromString(await api.guidelines(), "text/html");
    const back = h("p", {}, h("a", { class: "button primary", href: "#/next" }, "To the pages"));
    $("#overview").replaceChildren(h("article", { class: "guidelines" }, ...page.body.childNodes, back));
    $("#overview").scrollTop = 0;
  }

  async #open(name, number) {
    if (!Number.isInteger(number)) return this.#next(false);
    const { turn } = this;
    const isJudge = name === "judge";
    const asked = [api.page(number, this.annotator, isJudge), isJudge ? api.disagreement(number) : null];
    const [state, judged] = await Promise.all(asked);
    if (turn === this.turn) this.#opened(state, judged);
  }

  #opened(state, judged = null) {
    if (!state.page) return this.#nothing(state.message);
    this.#show("work");
    this.work.seconds = 0;
    this.lastInput = Date.now();
    this.work.open(state, judged);
    document.title = `${state.title ?? state.url ?? `Page ${state.page}`} – Victor`;
    notify(state.message ?? (state.practice ? "Practice: label this page, then press Enter to compare it with the gold annotation." : ""));
    void this.#figures();
  }

  #nothing(message) {
    this.#show("overview");
    $("#overview").replaceChildren(
      h("div", { class: "column finish" }, h("h1", {}, "All done"), h("p", {}, message ?? "No page is left for you."),
        h("p", {}, h("a", { class: "button primary", href: "#/overview" }, "Overview"))),
    );
    void this.#figures();
  }

  #failed(error) {
    if (error.isPassing) {
      notify(`${error.message} Your labels are kept; retrying.`, { isBad: true });
      setTimeout(() => this.route === location.hash && this.#route(), 2000);
    } else {
      this.#nothing(error.message);
      $("#overview h1").textContent = "Error";
    }
  }

  /** Opens the next page when the current one is done. */
  async #next(isAfter = true) {
    const { turn } = this;
    const { page } = this.work;
    if (this.outbox.waiting().length) await this.#emptied();
    if (turn !== this.turn) return;
    if (isAfter && page?.judge) return this.#go("#/overview");
    try {
      const state = await api.next(this.annotator, isAfter && page ? page.page : undefined);
      if (turn !== this.turn) return;
      history.replaceState(null, "", "#/next");
      this.route = location.hash;
      notify("");
      this.#opened(state);
    } catch (error) {
      if (!(error instanceof api.Refused)) throw error;
      if (!error.isPassing) return this.#failed(error);
      notify(`${error.message} Your labels are kept; retrying.`, { isBad: true });
      await new Promise((resolve) => setTimeout(resolve, 1500));
      if (turn === this.turn) await this.#next(isAfter);
    }
  }

  /** When nothing waits to be sent any more. */
  #emptied() {
    return new Promise((resolve) => {
      const look = () => {
        if (this.outbox.waiting().length) return;
        this.outbox.removeEventListener("change", look);
        resolve();
      };
      this.outbox.addEventListener("change", look);
      look();
    });
  }

  #go(hash) {
    if (location.hash === hash) void this.#route();
    else location.hash = hash;
  }

  // ---- what keys and buttons do

  #key(event) {
    this.lastInput = Date.now();
    const inField = event.target?.closest?.("input, textarea, select, dialog, a, #overview, .menu");
    if (inField || dialogs.isOpen()) return;
    const onButton = event.target?.closest?.("button");
    const found = command(event);
    if (!found || (onButton && ["Enter", " "].includes(event.key))) return;
    if (onButton?.role === "radio" && event.key.startsWith("Arrow")) return;
    if (event.repeat && ["done", "skip"].includes(found.name)) return;
    event.preventDefault();
    this.run(found.name, found.name === "label" ? this.session.labels.findIndex(({ key }) => key === found.key) : undefined);
  }

  /** Runs a command of keys.js; `label` is the label's number. */
  run(name, label) {
    const { work } = this;
    if (name === "help") return void dialogs.help(this.session);
    if (!work.page || (name === "label" && label < 0)) return;
    const n = work.page.n_blocks;
    const commands = {
      label: () => work.label(label),
      next: () => work.move(1),
      previous: () => work.move(-1),
      "extend-next": () => work.move(1, true),
      "extend-previous": () => work.move(-1, true),
      "next-marked": () => work.goToMarked(1),
      "previous-marked": () => work.goToMarked(-1),
      first: () => work.goTo(0),
      last: () => work.goTo(n - 1),
      clear: () => work.replaceAll("clear"),
      restore: () => work.replaceAll("restore"),
      done: () => this.#done(),
      skip: () => work.finish("skip"),
      back: () => this.#back(),
    };
    (commands[name] ?? (() => work[name]()))();
  }

  async #done() {
    const { work } = this;
    if (!work.page.practice) return work.finish("done");
    await this.#emptied();
    notify("");
    const found = await work.check().catch((error) => notify(error.message, { isBad: true }));
    if (!found) return;
    const answer = await dialogs.verdict(found);
    if (answer === "next") this.#go("#/overview");
    else if (found.n_wrong) work.goToMarked(1);
  }

  async #back() {
    const { pages } = await api.history(this.annotator);
    const at = pages.lastIndexOf(this.work.page.page);
    const before = pages[at < 0 ? pages.length - 1 : at - 1];
    if (before === undefined) notify("This is the first page.");
    else this.#go(`#/page/${before}`);
  }

  #radio(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const n = this.session.labels.length;
    this.work.chosen = (this.work.chosen + step + n) % n;
    this.bar.draw();
    this.bar.buttons[this.work.chosen].focus();
    event.preventDefault();
    event.stopPropagation();
  }

  // ---- the menu

  #menu(close = false) {
    const menu = $("#menu-items");
    const shows = !close && menu.hidden;
    $("#menu").setAttribute("aria-expanded", String(shows));
    menu.hidden = !shows;
    if (!shows) return;
    const { practice } = this.session;
    const entries = [
      ["Next page", () => this.#go("#/next")],
      ["Overview and disagreements", () => this.#go("#/overview")],
      ["Guidelines", () => this.#go("#/guidelines")],
      ...practice.map(({ page, title }) => [`Practice: ${title}`, () => this.#go(`#/practice/${page}`)]),
      ["All of this page is other (x)", () => this.run("clear")],
      ["Back to the suggestions (r)", () => this.run("restore")],
      ["Plain view (h)", () => this.run("plain")],
      ["Skip this page (s)", () => this.run("skip")],
      ["Back to the page before (b)", () => this.run("back")],
      ["Keys and help (?)", () => this.run("help")],
      [`Not ${this.annotator}?`, () => this.#rename()],
    ];
    menu.replaceChildren(...entries.map(([words, act]) => h("button", { role: "menuitem", onclick: () => (this.#menu(true), act()) }, words)));
    menu.firstElementChild.focus();
    menu.onkeydown = (event) => this.#menuKey(event, menu);
  }

  #menuKey(event, menu) {
    const items = [...menu.children];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) items.at((items.indexOf(document.activeElement) + step) % items.length).focus();
    else if (event.key === "Escape") {
      this.#menu(true);
      $("#menu").focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  async #rename() {
    await this.#emptied();
    await this.#join(this.annotator, true);
    this.work.annotator = this.annotator;
    this.#go("#/next");
  }
}

async function begin() {
  try {
    await new App(await api.session()).start();
  } catch (error) {
    notify(error.message, { isBad: true });
    if (error.isPassing) setTimeout(begin, 2000);
    else throw error;
  }
}

void begin();
