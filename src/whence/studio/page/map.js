// The world, drawn, with who walks in it. The drawing is the studio's; what moves is added here.

import { $, drawing, h, s } from "./dom.js";

const LEAST = 17; // pixels of a place on the screen, below which a part of the map is shown

export class WorldMap {
  constructor(world, chosen) {
    this.world = world;
    this.zoom = 0; // 0: as seems best
    this.box = $("map");
    this.box.replaceChildren();
    this.svg = null;
    $("zoom-buttons").hidden = world.svg === null;
    if (world.svg === null) {
      const text = document.createElement("p");
      text.className = "note";
      text.textContent = `${world.states.toLocaleString("en")} places are too many to draw; go by the actions below.`;
      this.box.append(text);
      return;
    }
    this.svg = drawing(world.svg);
    const [, , width, height] = this.svg.getAttribute("viewBox").split(" ").map(Number);
    this.size = [width, height];
    this.ways = s("path", { class: "ways" });
    this.other = s("path", { class: "other-trail" });
    this.shown = s("path", { class: "shown-trail" });
    this.trail = s("path", { class: "trail" });
    this.me = s("g", { class: "me" }, s("circle", { r: Math.max(5, 0.26 * world.unit) }));
    this.cursor = s("circle", { class: "cursor", r: 0.48 * world.unit });
    this.cursor.style.display = "none";
    this.svg.append(this.ways, this.other, this.shown, this.trail, this.me, this.cursor);
    this.svg.addEventListener("click", (event) => {
      const state = this.nearest(event);
      if (state !== null) chosen(state);
    });
    this.box.append(this.svg);
    $("legend").replaceChildren(...world.alphabet.map((symbol, at) => legend(symbol, world.colours[at])));
    this.at = 0;
    new ResizeObserver(() => this.look()).observe(this.box);
  }

  nearest(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    let best = null;
    let least = (0.75 * this.world.unit) ** 2;
    this.world.points.forEach(([x, y], state) => {
      const far = (x - point.x) ** 2 + (y - point.y) ** 2;
      if (far < least) [best, least] = [state, far];
    });
    return best;
  }

  /** Return the place that lies in a direction, as seen from another: for arrow keys. */
  toward(from, [dx, dy]) {
    const [x, y] = this.world.points[from];
    let best = null;
    let least = Infinity;
    this.world.points.forEach(([px, py], state) => {
      const along = (px - x) * dx + (py - y) * dy;
      const aside = Math.abs((px - x) * dy - (py - y) * dx);
      if (along > 1 && aside <= along && along + 2 * aside < least) [best, least] = [state, along + 2 * aside];
    });
    return best;
  }

  line(states) {
    if (!states || states.length < 2) return "";
    return "M" + states.map((state) => this.world.points[state].join(",")).join("L");
  }

  /** Draw where somebody is, and how they came there. */
  walked(states) {
    if (!this.svg) return;
    this.at = states[states.length - 1];
    const [x, y] = this.world.points[this.at];
    this.me.setAttribute("transform", `translate(${x} ${y})`);
    this.trail.setAttribute("d", this.line(states));
    this.look();
  }

  show(states, other) {
    if (!this.svg) return;
    this.shown.setAttribute("d", this.line(states));
    this.other.setAttribute("d", this.line(other));
  }

  choose(state) {
    if (!this.svg) return;
    this.cursor.style.display = state === null ? "none" : "";
    if (state === null) return;
    const [x, y] = this.world.points[state];
    this.cursor.setAttribute("cx", x);
    this.cursor.setAttribute("cy", y);
    this.look(state);
  }

  /** Draw small arrows to where one would go next from each place. */
  headed(moves) {
    if (!this.svg) return;
    const unit = this.world.unit;
    const parts = (moves || []).map(([from, to]) => {
      const [x, y] = this.world.points[from];
      const [tx, ty] = this.world.points[to];
      const length = Math.hypot(tx - x, ty - y) || 1;
      const [dx, dy] = [(tx - x) / length, (ty - y) / length];
      const labelled = this.world.grid && this.world.labels[from] >= 0;
      const begin = unit * (labelled ? 0.36 : this.world.grid ? 0.08 : 0.55);
      const [ax, ay] = [x + begin * dx, y + begin * dy];
      const end = this.world.grid ? unit * (labelled ? 0.47 : 0.36) : Math.min(1.3 * unit, length - 0.6 * unit);
      const [bx, by] = [x + end * dx, y + end * dy];
      const head = Math.min(5, 0.14 * unit);
      const wing = (side) => `M${(bx - head * (dx + side * dy)).toFixed(1)},${(by - head * (dy - side * dx)).toFixed(1)}L${bx.toFixed(1)},${by.toFixed(1)}`;
      return `M${ax.toFixed(1)},${ay.toFixed(1)}L${bx.toFixed(1)},${by.toFixed(1)}${wing(0.6)}${wing(-0.6)}`;
    });
    this.ways.setAttribute("d", parts.join(""));
  }

  /** Show all of the map where places are large enough then, else what is around a place. */
  look(state = this.at) {
    if (!this.svg) return;
    const [width, height] = this.size;
    const wide = this.box.clientWidth || width;
    const tall = Math.min(0.54 * window.innerHeight, 520);
    const whole = Math.min(wide / width, tall / height, 1.25);
    const best = Math.max(whole, LEAST / this.world.unit);
    const scale = Math.min(4, Math.max(whole, best * 1.5 ** this.zoom));
    const [w, tallest] = [Math.min(width, wide / scale), Math.min(height, tall / scale)];
    const [x, y] = this.world.points[state];
    const left = Math.max(0, Math.min(width - w, x - w / 2));
    const top = Math.max(0, Math.min(height - tallest, y - tallest / 2));
    $("legend").hidden = w > width - 1 && tallest > height - 1; // the whole drawing has one of its own
    this.svg.setAttribute("viewBox", `${left.toFixed(1)} ${top.toFixed(1)} ${w.toFixed(1)} ${tallest.toFixed(1)}`);
    this.svg.style.height = `${(tallest * scale).toFixed(0)}px`;
  }

  zoomed(by) {
    this.zoom = Math.max(-6, Math.min(6, this.zoom + by));
    this.look();
  }
}

function legend(symbol, colour) {
  const swatch = h("span", { class: "swatch" });
  swatch.style.background = colour;
  swatch.style.opacity = 1;
  return h("li", {}, swatch, symbol);
}
