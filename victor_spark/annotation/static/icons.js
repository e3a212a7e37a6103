// The pictures on the buttons, drawn as SVG paths on a 24 × 24 grid.

const PATHS = {
  widen: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  narrow: "M9 4v5H4M15 4v5h5M9 20v-5H4M15 20v-5h5",
  undo: "M9 7 4 12l5 5M4 12h10a6 6 0 0 1 6 6v1",
  redo: "m15 7 5 5-5 5M20 12H10a6 6 0 0 0-6 6v1",
  menu: "M4 7h16M4 12h16M4 17h16",
  question: "M9 9a3 3 0 1 1 4.2 2.8c-.8.4-1.2 1-1.2 2v.7M12 18v.1",
  check: "m5 12.5 4.5 4.5L19 7.5",
};

const SVG = "http://www.w3.org/2000/svg";

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
