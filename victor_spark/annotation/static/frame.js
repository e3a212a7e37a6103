// Inside the sandboxed frame: draws labels on the server's blocks and tells the parent what is pointed at.
// It decides nothing. The page's own scripts never run; this one is let in by its nonce.
(() => {
  "use strict";
  const tell = (type, message = {}) => parent.postMessage({ type, ...message }, "*");
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const BORDERS = ["double", "solid", "dotted", "dashed", "groove", "ridge", "outset", "inset"];
  let blocks = []; // element of block i, or undefined where it could not be placed
  let drawn = []; // class of block i now
  let state = null; // the last state from the parent: labels, marks
  let selection = { first: 0, last: -1, cursor: -1, anchor: -1 };
  let shownRun = { first: 0, last: -1 };
  let hovered = -1;
  let press = null; // a pressed mouse button: {block, x, y, dragging}

  // ---- drawing: classes only, and only where they change

  function className(block) {
    const label = state.labels[block];
    let name = `v-l${label}`;
    if (label === state.other) name += " v-o";
    if (state.suggested[block]) name += " v-s";
    if (state.marked[block]) name += " v-u";
    if (state.wrong[block]) name += " v-w";
    if (block >= selection.first && block <= selection.last) name += " v-sel";
    if (block >= shownRun.first && block <= shownRun.last) name += " v-run";
    if (block === selection.cursor) name += " v-cur";
    if (block === selection.anchor) name += " v-anchor";
    return name;
  }

  function draw(first = 0, last = blocks.length - 1) {
    if (!state) return;
    for (let i = Math.max(first, 0); i <= last && i < blocks.length; i++) {
      if (!blocks[i]) continue;
      const name = className(i);
      if (drawn[i] !== name) {
        drawn[i] = name;
        blocks[i].className = name;
      }
    }
  }

  /** Draws what two runs cover, together. */
  function redraw(a, b) {
    if (a.first <= a.last) draw(a.first, a.last);
    if (b.first <= b.last) draw(b.first, b.last);
  }

  function showRun(run) {
    if (run.first === shownRun.first && run.last === shownRun.last) return;
    const before = shownRun;
    shownRun = run;
    redraw(before, run);
  }

  // ---- which block is meant

  const isHidden = (element) => !element || !element.getClientRects().length;
  const numberOf = (element) => (element ? Number(element.dataset.b) : -1);

  /** The block at a point: the one hit, else the one whose text is nearest there. */
  function blockAt(target, x, y) {
    const hit = target.closest?.("v-b");
    if (hit) return numberOf(hit);
    if (!target.closest || target === document.documentElement) return -1;
    const range = document.caretRangeFromPoint
      ? document.caretRangeFromPoint(x, y)
      : document.caretPositionFromPoint?.(x, y);
    const node = range?.startContainer ?? range?.offsetNode;
    const near = (node?.nodeType === 3 ? node.parentElement : node)?.closest?.("v-b");
    return near && (target.contains(near) || near.contains(target)) ? numberOf(near) : -1;
  }

  /** Every element that holds several blocks, as [first, last, path]; of those with the same blocks the innermost. */
  function containers() {
    const runs = new Map();
    blocks.forEach((block, i) => {
      for (let element = block?.parentElement; element; element = element.parentElement) {
        const run = runs.get(element);
        if (run) run[1] = i;
        else runs.set(element, [i, i]);
      }
    });
    const found = new Map(); // inner elements came before those around them
    for (const [element, [first, last]] of runs) {
      const name = `${first} ${last}`;
      if (first < last && !found.has(name)) found.set(name, [first, last, path(element)]);
    }
    return [...found.values()];
  }

  function path(element) {
    const names = [];
    for (let e = element; e && e !== document.body && names.length < 6; e = e.parentElement) {
      const extra = e.id ? `#${e.id}` : e.classList.length && e.tagName !== "V-B" ? `.${e.classList[0]}` : "";
      if (e.tagName !== "V-B") names.unshift(e.localName.replace(/^v-/, "") + extra);
    }
    return names.join(" › ").slice(-160);
  }

  // ---- pointing: one listener a kind for the whole page

  function hover(block) {
    if (block === hovered) return;
    hovered = block;
    if (selection.anchor >= 0 && block >= 0 && !press?.dragging) {
      showRun({ first: Math.min(selection.anchor, block), last: Math.max(selection.anchor, block) });
    }
    tell("hover", block < 0 ? { block } : { block, path: path(blocks[block]) });
  }

  function onMove(event) {
    if (event.pointerType === "touch") return;
    const block = blockAt(event.target, event.clientX, event.clientY);
    if (press && event.buttons & 1) {
      const far = Math.hypot(event.clientX - press.x, event.clientY - press.y) > 6;
      if (far && block >= 0 && block !== press.block) press.dragging = true;
      if (press.dragging && block >= 0) {
        press.last = block;
        showRun({ first: Math.min(press.block, block), last: Math.max(press.block, block) });
      }
      if (press.dragging) scrollAtEdge(event.clientY);
    }
    hover(block);
  }

  function scrollAtEdge(y) {
    const edge = 40;
    if (y < edge) scrollBy(0, -24);
    else if (y > innerHeight - edge) scrollBy(0, 24);
  }

  function onDown(event) {
    if (event.button !== 0) return;
    dragged = false;
    const block = blockAt(event.target, event.clientX, event.clientY);
    if (event.pointerType === "touch") {
      touch = event.isPrimary ? { block, x: event.clientX, y: event.clientY, at: event.timeStamp } : null;
      return;
    }
    press = block < 0 ? null : { block, last: block, x: event.clientX, y: event.clientY, dragging: false };
  }

  /** A finger that comes down and goes up in one place points; one that moves scrolls, and two zoom. */
  function onLift(event) {
    const { block, x, y, at } = touch ?? { block: -1 };
    touch = null;
    touchedAt = event.timeStamp;
    if (block < 0 || Math.hypot(event.clientX - x, event.clientY - y) > 10 || event.timeStamp - at > 700) return;
    tell("click", { block, path: path(blocks[block]) });
  }
  let touch = null;
  let touchedAt = -1e9; // the click that browsers make of a touch is none

  function onUp(event) {
    if (event.pointerType === "touch") return onLift(event);
    if (press?.dragging) {
      const { block, last } = press;
      tell("drag", { first: Math.min(block, last), last: Math.max(block, last) });
    }
    dragged = press?.dragging ?? false;
    press = null;
    showRun({ first: 0, last: -1 });
  }
  let dragged = false; // the click that a drag ends with is none

  function onClick(event) {
    event.preventDefault();
    if (event.timeStamp - touchedAt < 700) return;
    if (dragged) {
      dragged = false;
      return;
    }
    showRun({ first: 0, last: -1 });
    const block = blockAt(event.target, event.clientX, event.clientY);
    if (block >= 0) tell("click", { block, shift: event.shiftKey, container: event.altKey, path: path(blocks[block]) });
  }

  function onKey(event) {
    const { key, shiftKey, ctrlKey, metaKey, altKey, repeat } = event;
    if (ctrlKey || metaKey || altKey ? !/^[zyZ]$/.test(key) : /^(F\d+|Tab|PageUp|PageDown)$/.test(key)) return;
    event.preventDefault();
    tell("key", { key, shiftKey, ctrlKey, metaKey, altKey, repeat });
  }

  // ---- where blocks are, for the map beside the page

  function geometry() {
    const height = Math.max(document.documentElement.scrollHeight, document.body?.scrollHeight ?? 0, 1);
    const tops = new Float32Array(blocks.length);
    const bottoms = new Float32Array(blocks.length);
    const hidden = [];
    for (let i = 0; i < blocks.length; i++) {
      const box = blocks[i]?.getBoundingClientRect();
      if (!box || (!box.width && !box.height)) {
        tops[i] = bottoms[i] = -1;
        hidden.push(i);
        continue;
      }
      tops[i] = (box.top + scrollY) / height;
      bottoms[i] = (box.bottom + scrollY) / height;
    }
    tell("geometry", { tops, bottoms, hidden, ...view(height) });
  }

  function view(height = Math.max(document.documentElement.scrollHeight, 1)) {
    return { top: scrollY / height, bottom: (scrollY + innerHeight) / height };
  }

  // ---- what the parent asks for

  const ASKED = {
    start({ colours, other }) {
      colours.forEach((colour, label) => {
        document.documentElement.style.setProperty(`--v-c${label}`, colour);
        document.documentElement.style.setProperty(`--v-b${label}`, label === other ? "dotted" : BORDERS[label % BORDERS.length]);
      });
    },
    state(message) {
      state = message;
      draw();
    },
    select({ first, last, cursor, anchor, scroll }) {
      const before = [selection, { first: selection.cursor, last: selection.cursor }];
      const old = selection.anchor;
      selection = { first, last, cursor, anchor };
      redraw(before[0], selection);
      redraw(before[1], { first: cursor, last: cursor });
      if (old !== anchor) redraw({ first: old, last: old }, { first: anchor, last: anchor });
      if (anchor < 0) showRun({ first: 0, last: -1 });
      if (scroll && cursor >= 0) show(cursor);
    },
    settle() {
      tell("settled"); // all keys and clicks before this have been sent
    },
    scroll({ top }) {
      scrollTo({ top: top * document.documentElement.scrollHeight - innerHeight / 2, behavior: calm ? "auto" : "smooth" });
    },
    describe({ block }) {
      tell("described", { block, path: blocks[block] ? path(blocks[block]) : "" });
    },
  };

  function show(block) {
    const element = blocks[block];
    if (isHidden(element)) return;
    const { top, bottom } = element.getBoundingClientRect();
    if (top >= 60 && bottom <= innerHeight - 60) return;
    element.scrollIntoView({ block: bottom - top > innerHeight ? "start" : "center", behavior: "auto" });
  }

  function begin() {
    for (const element of document.getElementsByTagName("v-b")) blocks[numberOf(element)] = element;
    document.addEventListener("pointermove", onMove, { passive: true });
    document.addEventListener("pointerdown", onDown);
    document.addEventListener("pointerup", onUp);
    document.addEventListener("pointercancel", () => (touch = press = null));
    document.addEventListener("pointerleave", () => hover(-1));
    document.addEventListener("click", onClick, true);
    document.addEventListener("auxclick", (event) => event.preventDefault(), true);
    document.addEventListener("submit", (event) => event.preventDefault(), true);
    document.addEventListener("dragstart", (event) => event.preventDefault(), true);
    document.addEventListener("keydown", onKey);
    addEventListener("scroll", () => tell("scrolled", view()), { passive: true });
    addEventListener("message", (event) => {
      if (event.source === parent && event.data && Object.hasOwn(ASKED, event.data.type)) ASKED[event.data.type](event.data);
    });
    let timer = 0; // of the last change of size: each change starts the wait anew
    new ResizeObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(geometry, 120);
    }).observe(document.documentElement);
    tell("ready", { texts: texts(), containers: containers() });
    geometry();
  }

  /** Each block's text, shortened: what the bar below the page shows and what a screen reader hears. */
  function texts() {
    return Array.from(blocks, (element) => (element ? element.textContent.trim().replace(/\s+/g, " ").slice(0, 200) : ""));
  }

  if (document.readyState === "loading") addEventListener("DOMContentLoaded", begin);
  else begin();
})();
