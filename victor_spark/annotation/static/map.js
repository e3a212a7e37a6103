// The narrow map beside the page: where labels and uncertain blocks are in the whole of it.

const WIDTH = 18;
const UNCERTAIN = "#b3261e";

export class PageMap {
  constructor(canvas, goTo) {
    this.canvas = canvas;
    this.geometry = null;
    this.view = { top: 0, bottom: 1 };
    this.colourOf = () => null;
    this.isMarked = () => false;
    this.due = 0;
    new ResizeObserver(() => this.draw()).observe(canvas.parentElement);
    const go = (event) => goTo(event.offsetY / canvas.clientHeight);
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      go(event);
    });
    canvas.addEventListener("pointermove", (event) => event.buttons && go(event));
  }

  /** Draws soon, once for many changes. */
  draw() {
    this.due ||= requestAnimationFrame(() => {
      this.due = 0;
      this.#draw();
    });
  }

  #draw() {
    const { canvas, geometry } = this;
    const height = canvas.clientHeight;
    const scale = devicePixelRatio || 1;
    canvas.width = WIDTH * scale;
    canvas.height = height * scale;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    if (!geometry) return;
    const n = geometry.tops.length;
    for (let block = 0; block < n; block++) {
      if (geometry.tops[block] < 0) continue;
      const top = geometry.tops[block] * height;
      const tall = Math.max((geometry.bottoms[block] - geometry.tops[block]) * height, 1.5);
      const colour = this.colourOf(block);
      pen.fillStyle = colour ?? "#d5dae0";
      pen.fillRect(colour ? 2 : 4, top, colour ? 9 : 5, tall);
      if (this.isMarked(block)) {
        pen.fillStyle = UNCERTAIN;
        pen.fillRect(13, top, 4, Math.max(tall, 3));
      }
    }
    pen.fillStyle = "rgb(23 50 77 / .10)";
    pen.strokeStyle = "rgb(23 50 77 / .55)";
    const from = this.view.top * height;
    const tall = Math.min(Math.max((this.view.bottom - this.view.top) * height, 8), height - from);
    pen.fillRect(0, from, WIDTH, tall);
    pen.strokeRect(0.5, from + 0.5, WIDTH - 1, tall - 1);
  }
}
