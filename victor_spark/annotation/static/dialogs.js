// What opens above the page: who you are, help, a note.

import { h, plural } from "./dom.js";
import { KEYS, shown } from "./keys.js";

/** Opens a modal dialog; resolves with its returnValue when it is closed. */
function open(dialog) {
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
  });
}

export const isOpen = () => document.querySelector("dialog[open]") !== null;

/** Asks for the annotator's name; resolves with it. `join` tells the server and may refuse. */
export function askName({ session, known, join, canCancel }) {
  const name = h("input", { id: "name", name: "name", required: true, maxlength: 40, autocomplete: "off", autocapitalize: "words", value: known, list: "names" });
  const fault = h("p", { class: "fault", role: "alert" });
  const form = h(
    "form",
    { method: "dialog" },
    h("h2", {}, "Who annotates?"),
    h("p", {}, `${plural(session.n_pages, "page")} wait${session.n_pages === 1 ? "s" : ""} here. Your name is stored with your labels, so that annotators can be compared.`),
    h("label", { for: "name" }, "Your name"),
    name,
    h("datalist", { id: "names" }, session.annotators.map((known) => h("option", { value: known }))),
    session.annotators.length
      ? h("p", { class: "known" }, "Known here: ", session.annotators.slice(0, 12).map((known) =>
          h("button", { type: "button", class: "quiet", onclick: () => ((name.value = known), form.requestSubmit()) }, known)))
      : null,
    fault,
    h("div", { class: "ends" }, canCancel ? h("button", { type: "button", class: "quiet", onclick: () => dialog.close("") }, "Cancel") : null,
      h("button", { class: "primary" }, "Begin")),
  );
  const dialog = h("dialog", { class: "dialog small", "aria-label": "Who annotates?" }, form);
  if (!canCancel) dialog.addEventListener("cancel", (event) => event.preventDefault());
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      dialog.close((await join(name.value.trim())).name);
    } catch (error) {
      fault.textContent = error.message;
    }
  });
  return open(dialog);
}

/** Keys, the pointer, and what the colours and lines mean. */
export function help(session) {
  const groups = [...new Set(KEYS.map((row) => row[3]))].map((group) => [group, KEYS.filter((row) => row[3] === group)]);
  const legend = session.labels.map(({ name, colour }, label) => {
    const swatch = h("span", { class: `sample line-${label === session.other ? "other" : label}` }, name);
    swatch.style.setProperty("--c", colour);
    return h("li", {}, swatch);
  });
  const close = h("button", { class: "primary", autofocus: true }, "Close");
  const dialog = h(
    "dialog",
    { class: "dialog help", "aria-labelledby": "help-title" },
    h("form", { method: "dialog" },
      h("h2", { id: "help-title" }, "Keys and pointer"),
      h("div", { class: "columns" },
        groups.map(([group, rows]) => h("section", {}, h("h3", {}, group), h("table", {}, h("tbody", {}, rows.map((row) => keyRow(row, session)))))),
        h("section", {}, h("h3", {}, "Pointer"), h("ul", {},
          h("li", {}, "Click the first block of a run, then its last: the run gets the chosen label."),
          h("li", {}, "Drag from the first to the last, or Shift-click the last: the same."),
          h("li", {}, "Click a block and press a label's key: that block alone. Click twice: with the chosen label."),
          h("li", {}, "Alt-click selects the enclosing element."))),
        h("section", {}, h("h3", {}, "What you see"), h("ul", { class: "legend" }, legend,
          h("li", {}, h("span", { class: "sample hatched" }, "hatched"), " suggested by the model"),
          h("li", {}, h("span", { class: "sample uncertain" }, "dashed frame"), " the model is not sure: look here"))),
      ),
      h("div", { class: "ends" }, h("a", { href: "#/guidelines", onclick: () => dialog.close() }, "Guidelines"), close),
    ),
  );
  return open(dialog);
}

function keyRow([keys, name, what], session) {
  const used = name === "label" ? session.labels.map(({ key }) => key) : keys.filter((key) => !key.startsWith("Shift+Arrow"));
  const written = used.flatMap((key, i) => [i ? " " : null, h("kbd", {}, shown(key))]);
  const words = name === "label" ? `${what}: ${session.labels.map((label) => label.name).join(", ")}` : what;
  return h("tr", {}, h("th", { scope: "row" }, written), h("td", {}, words));
}

/** Practice: how it went. Resolves with "again", "next" or "". */
export function verdict({ n_right, n_wrong, n_blocks }) {
  const share = n_blocks ? Math.round((100 * n_right) / n_blocks) : 100;
  const words = n_wrong
    ? `${plural(n_wrong, "block")} of ${n_blocks} ${n_wrong === 1 ? "differs" : "differ"} from the gold annotation. They are framed in red: n goes to the next, and the line below the page says why.`
    : "Every block is as in the gold annotation.";
  return open(h("dialog", { class: "dialog small" }, h("form", { method: "dialog" },
    h("h2", {}, `${share} % right`), h("p", {}, words),
    h("div", { class: "ends" }, h("button", { value: "next", class: n_wrong ? "quiet" : "primary" }, "Enough practice"),
      n_wrong ? h("button", { value: "again", class: "primary", autofocus: true }, "Look at them") : null))));
}
