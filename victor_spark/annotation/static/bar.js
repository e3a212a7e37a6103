// The bar above the page: labels, tools, figures, and whether everything is saved.

import { $, clock, h, plural, say } from "./dom.js";
import { icon } from "./icons.js";

export class Bar {
  constructor({ session, work, outbox, run }) {
    Object.assign(this, { session, work, outbox });
    for (const name of ["widen", "narrow", "undo", "redo"]) {
      $(`#${name}`).append(icon(name));
      $(`#${name}`).addEventListener("click", () => run(name));
    }
    $("#menu").append(icon("menu"));
    this.marked = h("b", {}, "0");
    this.markedWord = h("span", { class: "word" });
    $("#marked").append(icon("question"), this.marked, this.markedWord);
    $("#marked").addEventListener("click", () => run("next-marked"));
    $("#done").addEventListener("click", () => run("done"));
    this.#labels(run);
    work.addEventListener("change", () => this.draw());
    outbox.addEventListener("change", () => this.drawSaved());
    setInterval(() => this.outbox.failure && this.drawSaved(), 1000);
    this.drawSaved();
  }

  #labels(run) {
    const choose = (label) => () => run("label", label);
    this.buttons = this.session.labels.map(({ name, key, colour }, label) => {
      const swatch = h("i", { class: `swatch line-${label === this.session.other ? "other" : label}`, "aria-hidden": "true" });
      swatch.style.setProperty("--c", colour);
      return h(
        "button",
        { role: "radio", class: "label", "aria-checked": "false", "aria-keyshortcuts": key, title: `${name} (${key})`, onclick: choose(label) },
        swatch,
        h("span", {}, name),
        h("kbd", { "aria-hidden": "true" }, key),
        h("small", { class: "count", "aria-hidden": "true" }),
      );
    });
    $("#labels").replaceChildren(...this.buttons);
  }

  draw() {
    const { work } = this;
    const hasPage = work.page !== null;
    document.body.classList.toggle("has-page", hasPage);
    const counts = hasPage ? work.labelling.counts(this.buttons.length) : [];
    this.buttons.forEach((button, label) => {
      button.setAttribute("aria-checked", String(work.chosen === label));
      button.tabIndex = work.chosen === label ? 0 : -1;
      button.disabled = !hasPage;
      say($(".count", button), hasPage && label !== work.other ? String(counts[label]) : "");
    });
    $("#undo").disabled = !hasPage || !work.canUndo;
    $("#redo").disabled = !hasPage || !work.canRedo;
    $("#widen").disabled = !hasPage || (work.selection.isEmpty && work.selection.cursor < 0);
    $("#narrow").disabled = !hasPage || !work.selection.wider.length;
    $("#done").disabled = !hasPage;
    const n = hasPage ? work.nMarked : 0;
    say(this.marked, String(n));
    say(this.markedWord, hasPage && work.judged ? "disputed" : hasPage && work.page.practice ? "to look at" : "uncertain");
    $("#marked").disabled = !n;
    const doing = hasPage && work.page.practice ? "Check" : hasPage && work.page.judge ? "Decide" : "Done";
    say($("#done"), doing);
  }

  /** Progress, pages per hour, and how long this page has been open. */
  drawFigures(progress, annotator) {
    const own = progress.annotators.find(({ name }) => name === annotator);
    const done = own?.n_done ?? 0;
    const all = done + (own?.n_left ?? progress.n_pages - done);
    const rate = own?.pages_per_hour_recent ?? own?.pages_per_hour;
    const meter = $("#meter");
    meter.setAttribute("aria-valuemax", String(all));
    meter.setAttribute("aria-valuenow", String(done));
    meter.firstElementChild.style.width = `${all ? (100 * done) / all : 0}%`;
    const parts = [`${done} / ${all}`];
    if (rate) parts.push(`${Math.round(rate)} pages/h`);
    this.figures = parts.join(" · ");
    $("#figures").title = own?.median_seconds ? `half of the pages took less than ${clock(own.median_seconds)}` : "";
    this.drawClock();
  }

  drawClock() {
    const { page } = this.work;
    const seconds = page ? (page.active_seconds ?? 0) + (this.work.seconds ?? 0) : 0;
    say($("#figures"), [this.figures, page ? clock(seconds) : null].filter(Boolean).join(" · "));
  }

  drawSaved() {
    const { outbox } = this;
    const n = outbox.actions.length;
    const save = $("#save");
    let state = "saved";
    let words = "Saved";
    let why = "Everything is stored on the server.";
    if (outbox.failure && n) {
      const wait = Math.max(Math.ceil((outbox.retryAt - Date.now()) / 1000), 0);
      state = "failed";
      words = `Not saved: ${n}`;
      why = `${outbox.failure.message} ${plural(n, "action")} kept in this browser; next try in ${wait} s.`;
    } else if (n) {
      state = "saving";
      words = "Saving…";
      why = `${plural(n, "action")} on the way`;
    }
    if (outbox.lost && n) why += " This browser can't store anything: don't close the window.";
    save.className = `save ${state}`;
    save.title = why;
    say(save.lastElementChild, words);
    const notice = $("#notice");
    if (state === "failed" && Date.now() - (this.failingSince ??= Date.now()) > 1500) {
      notice.className = "notice failing";
      say(notice, why);
      notice.hidden = false;
    } else if (state !== "failed") {
      this.failingSince = undefined;
      if (notice.className === "notice failing") notice.hidden = true;
    }
  }
}

let timer = 0;
/** Words above the page for a while. */
export function notify(message, { isBad = false } = {}) {
  const notice = $("#notice");
  if (notice.className === "notice failing" && !notice.hidden && !isBad) return;
  notice.className = isBad ? "notice bad" : "notice";
  say(notice, message);
  notice.hidden = !message;
  clearTimeout(timer);
  if (!isBad) timer = setTimeout(() => (notice.hidden = true), Math.max(4000, message.length * 60));
}
