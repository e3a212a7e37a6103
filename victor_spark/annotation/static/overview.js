// The overview: progress and pace, agreement, disagreements to adjudicate, all pages.

import * as api from "./api.js";
import { clock, h, plural } from "./dom.js";

const LIMIT = 100;
const NAMES = new Set(["Host", "Annotators"]);
const share = (value) => (value === null || value === undefined ? "–" : value.toFixed(2));
const rate = (value) => (value ? String(Math.round(value)) : "–");
const link = (page) => page.title || page.url || `Page ${page.page}`;

function table(head, rows, empty) {
  if (!rows.length) return h("p", { class: "empty" }, empty);
  return h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, head.map((name) => h("th", { scope: "col", class: NAMES.has(name) ? "name" : null }, name)))), h("tbody", {}, rows)));
}

const row = (...cells) => h("tr", {}, cells.map((cell, i) => {
    if (!i) return h("th", { scope: "row" }, cell);
    return cell.nodeName === "TD" ? cell : h("td", {}, cell);
  }));
const words = (text) => h("td", { class: "name" }, text);

/** Fills `place`; a part that fails shows its error there. */
export async function show(place, { session, annotator }) {
  place.replaceChildren(h("p", { class: "empty" }, "Loading…"));
  const settled = await Promise.allSettled([api.progress(), api.agreement(), api.disagreements(), api.pages(annotator, 0, LIMIT)]);
  const parts = [progressPart, agreementPart, disagreementPart, pagesPart];
  place.replaceChildren(
    h("div", { class: "column" }, heading(session, annotator), settled.map(({ value, reason }, i) =>
      value ? parts[i](value, { session, annotator }) : h("p", { class: "fault" }, reason.message))),
  );
  place.focus();
}

function heading(session, annotator) {
  const facts = [session.store, session.model ? `suggestions by ${session.model}` : "no suggestions", `order: ${session.order}`];
  return h("header", { class: "top" },
    h("div", {}, h("h1", {}, "Annotation"), h("p", {}, facts.join(" · ")), (session.messages ?? []).map((message) => h("p", {}, message))),
    h("nav", {}, h("a", { class: "button", href: "#/guidelines" }, "Guidelines"),
      session.practice.length ? h("a", { class: "button", href: `#/practice/${session.practice[0].page}` }, "Practice") : null,
      h("a", { class: "button primary", href: "#/next" }, `Annotate as ${annotator}`)));
}

function progressPart(progress) {
  const { n_annotations, n_wanted, n_done, n_pages } = progress;
  const rows = progress.annotators.map((one) =>
    row(one.name, String(one.n_done), String(one.n_left), one.median_seconds ? clock(one.median_seconds) : "–", rate(one.pages_per_hour), String(one.n_actions)));
  const meter = h("div", { class: "meter large", role: "progressbar", "aria-label": "Pages done", "aria-valuenow": n_done, "aria-valuemax": n_pages }, h("span"));
  meter.firstElementChild.style.width = `${n_pages ? (100 * n_done) / n_pages : 0}%`;
  return h("section", {}, h("h2", {}, "Progress"), meter,
    h("p", {}, `${n_done} of ${plural(n_pages, "page")} done; ${n_annotations} of ${n_wanted} annotations, overlap included.`),
    table(["Annotator", "Done", "Left", "Median time", "Pages/h", "Actions"], rows, "Nobody has annotated yet."));
}

function agreementPart({ pairs, fleiss, n_pages, messages }) {
  const rows = pairs.map((pair) => row(pair.annotators.join(" – "), String(pair.n_pages), String(pair.n_blocks), share(pair.kappa), share(pair.agreement)));
  return h("section", {}, h("h2", {}, "Agreement"),
    table(["Pair", "Pages", "Blocks", "Cohen's κ", "Equal"], rows, "No page has been annotated by two yet."),
    fleiss === null || fleiss === undefined ? null : h("p", {}, `Fleiss' κ over ${plural(n_pages, "page")}: ${share(fleiss)}`),
    (messages ?? []).map((message) => h("p", { class: "empty" }, message)));
}

function disagreementPart({ pages }) {
  const rows = pages.map((page) => row(h("a", { href: `#/judge/${page.page}` }, link(page)), words(page.annotators.join(", ")),
    `${page.n_differing} of ${page.n_blocks}`, share(page.kappa), page.judged ?? "–"));
  return h("section", {}, h("h2", {}, "Disagreements"),
    table(["Page", "Annotators", "Blocks that differ", "κ", "Adjudicated by"], rows, "No disagreement to adjudicate."));
}

function pagesPart({ pages, n_pages }, { annotator }) {
  const body = (list) => list.map((page) => row(h("a", { href: `#/page/${page.page}` }, link(page)), words(page.host ?? ""),
    String(page.n_blocks), h("span", { class: `state ${page.state}` }, page.state), `${page.n_done} / ${page.wanted}`, share(page.uncertainty)));
  const shown = table(["Page", "Host", "Blocks", "For you", "Done", "Uncertainty"], body(pages), "There is no page in this store.");
  const more = h("button", { class: "quiet" }, "Show more");
  let n = pages.length;
  more.hidden = n >= n_pages;
  more.addEventListener("click", async () => {
    const { pages: further } = await api.pages(annotator, n, LIMIT);
    n += further.length;
    shown.querySelector("tbody").append(...body(further));
    more.hidden = n >= n_pages || !further.length;
  });
  return h("section", {}, h("h2", {}, "Pages"), shown, more);
}
