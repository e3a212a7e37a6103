// `victor look`: the state is the query of this page's address; every change asks the server again.
import { $, h, plural } from "./dom.js";

const state = new URLSearchParams(location.search);
const tabs = { text: "Text", markdown: "Markdown", source: "Markdown source", html: "HTML", json: "JSON", metadata: "Metadata", others: "Other cleaners" };
const beside = new Set(["resiliparse", "trafilatura", "justext"]);
let session = null;
let seen = null;
let asked = 0;
let top = 0; // how far the page is scrolled, so that a new decision shows the same place

async function ask(path, body) {
  const answer = await fetch(path, body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error.message);
  return found;
}

function fail(error) {
  $("#notice").textContent = error.message ?? "";
  $("#notice").hidden = !error.message;
}

/** The query that the server needs: the page and how it is cleaned. */
function query(more = {}) {
  const asks = new URLSearchParams(state);
  asks.delete("tab");
  for (const [name, value] of Object.entries(more)) asks.set(name, value);
  return asks;
}

function set(name, value) {
  if (value === null || value === undefined) state.delete(name);
  else state.set(name, value);
  history.replaceState(null, "", `/?${state}`);
}

const page = () => Number(state.get("page") ?? 0);
const values = (name) => (state.get(name) ?? session.settings[name].join(",")).split(",").filter(Boolean);

async function show() {
  const turn = ++asked;
  controls();
  if (!session.pages.length) return $("#opening").showModal();
  $("#frame").src = `/frame?${query()}#${top}`;
  $("#save").href = `/file?${query()}`;
  try {
    const found = await ask(`/api/page?${query()}`);
    if (turn !== asked) return;
    seen = found;
    fail({});
  } catch (error) {
    if (turn === asked) fail(error);
    return;
  }
  $("#verdict").replaceChildren(h("b", {}, seen.title ?? seen.name), h("br"), seen.verdict);
  document.title = `${seen.title ?? seen.name}: Victor`;
  roleList();
  panel();
}

function controls() {
  const listed = session.pages.map((one, row) => h("option", { value: row, selected: row === page() }, `${row + 1}. ${one.name}${one.status ? ` (${one.status})` : ""}`));
  $("#pages").replaceChildren(...listed);
  $("#previous").disabled = page() === 0;
  $("#following").disabled = page() >= session.pages.length - 1;
  const cleaner = state.get("cleaner") ?? session.settings.cleaner;
  const names = [...new Set([...session.cleaners, cleaner])];
  $("#cleaner").replaceChildren(...names.map((name) => h("option", { selected: name === cleaner }, name)));
  const threshold = state.get("threshold") ?? session.settings.threshold;
  const prefer = state.get("prefer") ?? session.settings.prefer;
  $("#decides").value = prefer || (threshold === null || threshold === "" ? "" : "threshold");
  $("#strictness").hidden = $("#decides").value !== "threshold";
  if (!$("#strictness").hidden) $("#value").value = $("#threshold").value = threshold;
}

function roleList() {
  const [without, including] = [values("without"), values("including")];
  $("#roles summary").classList.toggle("changed", without.length + including.length > 0);
  const rows = session.roles.map((role) => {
    const chosen = without.includes(role) ? "without" : including.includes(role) ? "including" : "";
    const options = [["", "as decided"], ["without", "drop"], ["including", "keep"]];
    const choice = h("select", { onchange: (event) => choose(role, event.target.value) },
      options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
    return h("label", {}, role, h("small", {}, seen.roles[role] ?? 0), choice);
  });
  $("#role-list").replaceChildren(...rows);
}

function choose(role, list) {
  for (const name of ["without", "including"]) {
    const others = values(name).filter((one) => one !== role);
    set(name, (name === list ? [...others, role] : others).join(","));
  }
  show();
}

function panel() {
  const tab = state.get("tab") in tabs ? state.get("tab") : "text";
  $("#tabs").replaceChildren(...Object.entries(tabs).map(([name, title]) =>
    h("button", { role: "tab", "aria-selected": String(name === tab), onclick: () => { set("tab", name); panel(); } }, title)));
  const pre = (text, source = true) => h("pre", { class: source ? "source" : "", dir: "auto" }, text || "(nothing was kept)");
  const made = {
    text: () => pre(seen.text, false),
    markdown: () => h("iframe", { src: `/markdown?${query()}`, title: "The Markdown, rendered" }),
    source: () => pre(seen.markdown),
    html: () => pre(seen.html),
    json: () => pre(seen.json),
    metadata: () => h("table", {}, h("tbody", {}, facts())),
    others,
  };
  $("#panel").replaceChildren(...[made[tab]()].flat());
}

function facts() {
  return [
    ["address", seen.name, ""], ["language", seen.language ?? "not known", "its text"], ["charset", seen.charset ?? "not known", ""],
    ...seen.metadata,
  ].map(([name, value, source]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", { dir: "auto" }, value), h("td", {}, source)));
}

function others() {
  const chosen = h("div", { class: "chosen" }, session.cleaners.map((name) => h("label", {},
    h("input", { type: "checkbox", checked: beside.has(name), onchange: () => { beside.delete(name) || beside.add(name); panel(); } }), ` ${name}`)));
  const columns = session.cleaners.filter((name) => beside.has(name)).map((name) => {
    const column = h("article", {}, h("h3", {}, name, h("small", {}, "…")));
    ask(`/api/other?${query({ other: name })}`).then((found) => {
      const why = found.status === "ok" ? "" : `; ${found.status}${found.reason ? ` (${found.reason})` : ""}`;
      $("small", column).textContent = `${plural(found.n_words, "word")}, word F1 with ours ${found.f1.toFixed(2)}${why}`;
      const lines = found.lines.map(([line, shared]) => h("span", { class: shared ? "" : "more", title: shared ? null : "not in our text" }, `${line}\n`));
      column.append(h("pre", { dir: "auto" }, lines));
    }, (error) => { $("small", column).textContent = error.message; });
    return column;
  });
  return [chosen, h("div", { class: "others" }, columns)];
}

function turn(to) {
  top = 0;
  set("page", to);
  show();
}

$("#pages").onchange = (event) => turn(event.target.value);
$("#previous").onclick = () => turn(page() - 1);
$("#following").onclick = () => turn(page() + 1);
$("#cleaner").onchange = (event) => { set("cleaner", event.target.value); show(); };
$("#decides").onchange = ({ target: { value } }) => {
  const names = session.preferences;
  set("prefer", names.includes(value) ? value : "");
  set("threshold", value === "threshold" ? "0.5" : "");
  show();
};
$("#threshold").oninput = (event) => { $("#value").value = event.target.value; };
$("#threshold").onchange = (event) => { set("threshold", event.target.value); show(); };
$("#open").onclick = () => $("#opening").showModal();
$("#opening").onclose = async () => {
  if ($("#opening").returnValue !== "open") return;
  try {
    const { page: opened } = await ask("/api/open", { input: $("#input").value, html: $("#html").value, url: $("#url").value });
    session = await ask("/api/session");
    $("#opening form").reset();
    turn(opened);
  } catch (error) {
    fail(error);
  }
};
addEventListener("message", ({ source, data }) => {
  if (source === $("#frame").contentWindow && Number.isFinite(data?.top)) top = Math.round(data.top);
});
addEventListener("keydown", ({ key, target }) => {
  if ((key === "j" || key === "k") && !target.closest("input, select, textarea")) $("#frame").contentWindow.postMessage({ key }, "*");
});

session = await ask("/api/session");
for (const name of session.preferences) $("#decides").append(h("option", { value: name }, `for ${name}`));
await show();
