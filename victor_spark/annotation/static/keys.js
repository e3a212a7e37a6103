// Which key does what: one table for the handler, the help overlay and the documentation.

/** [keys, command, what it does, group]; a key is KeyboardEvent.key, "Shift+" and "Alt+" before it where they matter. */
export const KEYS = [
  [["1", "2", "3", "4", "5", "6", "7", "8", "9"], "label", "label the selected blocks", "Label"],
  [["Delete", "Backspace", "0"], "erase", "label them other: nothing worth keeping", "Label"],
  [["Space"], "anchor", "begin a run at this block, then end it with the chosen label", "Label"],
  [["u", "Ctrl+z"], "undo", "undo", "Label"],
  [["U", "Ctrl+y", "Ctrl+Z"], "redo", "redo", "Label"],
  [["j", "ArrowDown", "ArrowRight"], "next", "next block", "Move"],
  [["k", "ArrowUp", "ArrowLeft"], "previous", "previous block", "Move"],
  [["J", "Shift+ArrowDown", "Shift+ArrowRight"], "extend-next", "select one block more", "Move"],
  [["K", "Shift+ArrowUp", "Shift+ArrowLeft"], "extend-previous", "select one block more, upwards", "Move"],
  [["n"], "next-marked", "next uncertain block", "Move"],
  [["N"], "previous-marked", "previous uncertain block", "Move"],
  [["g", "Home"], "first", "first block", "Move"],
  [["G", "End"], "last", "last block", "Move"],
  [["x"], "clear", "the whole page is other", "Label"],
  [["r"], "restore", "back to the model's suggestions", "Label"],
  [["w", "+"], "widen", "widen the selection to the enclosing element", "Select"],
  [["W", "-"], "narrow", "narrow it again", "Select"],
  [["Escape"], "cancel", "clear the selection", "Select"],
  [["Enter"], "done", "done: save the page and show the next", "Page"],
  [["s"], "skip", "skip this page; it comes back later", "Page"],
  [["b"], "back", "back to the page before", "Page"],
  [["h"], "plain", "plain view: without the page's styles, nothing hidden", "Page"],
  [["?"], "help", "this help", "Page"],
];

const COMMANDS = new Map(KEYS.flatMap(([keys, command]) => keys.map((key) => [key, command])));

/** The command of a key press and the key itself, or null where the key is not ours. */
export function command(event) {
  if (event.metaKey || event.altKey || event.isComposing) return null;
  let key = event.key === " " ? "Space" : event.key;
  if (event.ctrlKey) key = `Ctrl+${key}`;
  else if (event.shiftKey && key.length > 1) key = `Shift+${key}`;
  const found = COMMANDS.get(key);
  return found ? { name: found, key: event.key } : null;
}

const SHOWN = { ArrowDown: "↓", ArrowUp: "↑", ArrowRight: "→", ArrowLeft: "←", Escape: "Esc", Delete: "Del", Backspace: "⌫" };

/** A key as the help writes it. */
export function shown(key) {
  return SHOWN[key] ?? key;
}
