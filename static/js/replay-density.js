// Message density behind the slider, and above it the run's event markers: labels if there is room, otherwise their
// numbers, and the duration of faults.
import { colour } from "./format.js";
import { HEAD, drawMarks, shadeMarks } from "./marks.js";

export class Density {
  constructor(canvas, { bins, first_us: first, last_us: last }, marks) {
    Object.assign(this, { canvas, bins, first, last, marks, chosen: null });
    new ResizeObserver(() => this.draw()).observe(canvas);
    document.addEventListener("themechange", () => this.draw());
  }

  // Highlights a marker by number; null for none.
  choose(number) {
    this.chosen = number;
    this.draw();
  }

  // Square roots, so that quiet periods stay visible.
  draw() {
    const { canvas, bins, first, last, marks } = this;
    const ratio = devicePixelRatio;
    canvas.width = canvas.clientWidth * ratio;
    canvas.height = canvas.clientHeight * ratio;
    const top = marks.length ? HEAD * ratio : 0, ctx = canvas.getContext("2d");
    const bbox = { left: 0, top, width: canvas.width, height: canvas.height - top };
    const plot = { ctx, bbox, valToPos: (t) => ((t * 1e6 - first) / (last - first || 1)) * (canvas.width - 1) };
    shadeMarks(plot, marks);
    const most = Math.sqrt(Math.max(...bins, 1)), width = canvas.width / bins.length;
    ctx.fillStyle = colour("edge-strong");
    bins.forEach((number, bin) => {
      const height = (Math.sqrt(number) / most) * bbox.height;
      ctx.fillRect(bin * width, canvas.height - height, Math.max(1, width - 1), height);
    });
    drawMarks(plot, marks, this.chosen);
  }
}
