// Drawing a map: cells, walls between them, labels and starts.

import * as api from "./api.js";
import { $, announce, h, s } from "./dom.js";

const BRUSHES = { floor: "Floor", solid: "Solid", wall: "Wall", label: "Label", start: "Start" };
const COLOURS = ["#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7"];
const ARROWS = { ArrowUp: [0, 1], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowLeft: [-1, 0] };
const KEPT = "whence-studio-drawing";

export class Editor {
  constructor(saved) {
    this.saved = saved;
    this.clear(8, 6);
    this.brush = "wall";
    this.stroke = null;
    $("brushes").replaceChildren(
      ...Object.entries(BRUSHES).map(([name, title]) =>
        h("label", {}, h("input", { type: "radio", name: "brush", value: name, checked: name === this.brush, on: { change: () => (this.brush = name) } }), title),
      ),
    );
    for (const id of ["map-width", "map-height"]) $(id).addEventListener("change", () => this.resize());
    for (const id of ["map-name", "map-slip", "map-stay", "map-unavailable"]) $(id).addEventListener("change", () => this.keep());
    $("save-map").addEventListener("click", () => this.save());
    $("canvas").addEventListener("keydown", (event) => this.key(event));
    const canvas = $("canvas");
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    for (const end of ["pointerup", "pointercancel", "pointerleave"]) canvas.addEventListener(end, () => this.lift());
    this.restore();
  }

  clear(width, height) {
    this.width = width;
    this.height = height;
    this.solid = new Set();
    this.walls = new Set();
    this.labels = new Map();
    this.starts = new Set([0]);
    this.at = [0, 0];
  }

  cell(x, y) {
    return y * this.width + x;
  }

  /** Take over the map of a world with a grid. */
  load(grid, name) {
    this.clear(grid.width, grid.height);
    for (const at of grid.solid) this.solid.add(at);
    for (const [x, y, side] of grid.walls) this.walls.add(`${x},${y},${side}`);
    for (const [at, label] of grid.labels) this.labels.set(at, label);
    this.starts = new Set(grid.starts);
    $("map-name").value = name;
    $("map-slip").value = grid.slip;
    $("map-stay").checked = Boolean(grid.stay);
    $("map-unavailable").checked = Boolean(grid.unavailable);
    this.fields();
    this.keep();
    this.draw();
  }

  fields() {
    $("map-width").value = this.width;
    $("map-height").value = this.height;
  }

  resize() {
    const bound = (id) => Math.max(1, Math.min(60, Math.round(Number($(id).value)) || 1));
    const [width, height] = [bound("map-width"), bound("map-height")];
    const moved = (at) => [at % this.width, Math.floor(at / this.width)];
    const inside = ([x, y]) => x < width && y < height;
    const renumbered = (all) => [...all].map(moved).filter(inside).map(([x, y]) => y * width + x);
    const labels = [...this.labels].filter(([at]) => inside(moved(at))).map(([at, label]) => [moved(at)[1] * width + moved(at)[0], label]);
    this.solid = new Set(renumbered(this.solid));
    this.starts = new Set(renumbered(this.starts));
    this.labels = new Map(labels);
    this.walls = new Set([...this.walls].filter((wall) => inside(wall.split(",").map(Number))));
    this.width = width;
    this.height = height;
    this.at = [Math.min(this.at[0], width - 1), Math.min(this.at[1], height - 1)];
    this.fields();
    this.keep();
    this.draw();
  }

  document() {
    return {
      name: $("map-name").value.trim() || "map", width: this.width, height: this.height,
      solid: [...this.solid], walls: [...this.walls].map((wall) => wall.split(",")).map(([x, y, side]) => [Number(x), Number(y), side]),
      labels: [...this.labels], starts: [...this.starts], slip: Number($("map-slip").value) || 0, stay: $("map-stay").checked,
      unavailable: $("map-unavailable").checked,
    };
  }

  /** Keep the drawing in the browser, so that closing it loses nothing. */
  keep() {
    localStorage.setItem(KEPT, JSON.stringify(this.document()));
  }

  restore() {
    try {
      const kept = JSON.parse(localStorage.getItem(KEPT));
      if (kept) this.load(kept, kept.name);
    } catch {
      localStorage.removeItem(KEPT);
    }
    this.fields();
    this.draw();
  }

  draw() {
    const { width, height } = this;
    const svg = s("svg", { viewBox: `-0.2 -0.2 ${width + 0.4} ${height + 0.4}`, role: "img" }, s("title", {}, `${width} by ${height} cells`));
    const symbols = [...new Set(this.labels.values())].sort();
    for (let y = 0; y < height; y += 1) {
      for (let x = 0; x < width; x += 1) {
        const at = this.cell(x, y);
        const top = height - 1 - y;
        const kind = this.solid.has(at) ? "solid" : this.starts.has(at) ? "start" : "";
        svg.append(s("rect", { class: `cell ${kind}`, x: x + 0.05 * (kind === "start"), y: top + 0.05 * (kind === "start"), width: 1 - 0.1 * (kind === "start"), height: 1 - 0.1 * (kind === "start"), "stroke-width": 0.02 }));
        const label = this.labels.get(at);
        if (label !== undefined) {
          svg.append(s("rect", { x: x + 0.14, y: top + 0.14, width: 0.72, height: 0.72, rx: 0.12, fill: COLOURS[symbols.indexOf(label) % COLOURS.length] }));
          const text = s("text", { x: x + 0.5, y: top + 0.53, fill: "#000000" }, label.length > 6 ? `${label.slice(0, 5)}…` : label);
          if (label.length > 4) text.setAttribute("font-size", "0.2");
          text.style.fontSize = `${Math.min(0.34, 1.2 / Math.min(6, label.length))}px`;
          svg.append(text);
        }
      }
    }
    for (const wall of this.walls) svg.append(this.line(wall));
    svg.append(s("rect", { x: 0, y: 0, width, height, fill: "none", class: "wall" }));
    svg.append(s("rect", { class: "here", x: this.at[0] + 0.08, y: height - 1 - this.at[1] + 0.08, width: 0.84, height: 0.84, rx: 0.1 }));
    $("canvas").replaceChildren(svg);
    $("map-labels").replaceChildren(...symbols.map((symbol) => h("option", { value: symbol })));
  }

  line(wall) {
    const [x, y, side] = wall.split(",");
    const [left, top] = [Number(x), this.height - 1 - Number(y)];
    return side === "right" ? s("line", { class: "wall", x1: left + 1, x2: left + 1, y1: top, y2: top + 1 }) : s("line", { class: "wall", x1: left, x2: left + 1, y1: top, y2: top });
  }

  /** Return the cell under the pointer, and the wall nearest to it. */
  under(event) {
    const svg = $("canvas").querySelector("svg");
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const [x, y] = [Math.floor(point.x), this.height - 1 - Math.floor(point.y)];
    if (x < 0 || y < 0 || x >= this.width || y >= this.height) return null;
    const [dx, dy] = [point.x - x, y - (this.height - 1 - point.y)];
    const sides = [[1 - dx, `${x},${y},right`, x < this.width - 1], [dx, `${x - 1},${y},right`, x > 0], [1 - dy, `${x},${y},up`, y < this.height - 1], [dy, `${x},${y - 1},up`, y > 0]];
    const near = sides.filter((side) => side[2]).sort((a, b) => a[0] - b[0])[0];
    return { x, y, wall: near && near[0] < 0.3 ? near[1] : null };
  }

  press(event) {
    const found = this.under(event);
    if (!found) return;
    event.preventDefault();
    $("canvas").focus();
    this.at = [found.x, found.y];
    this.stroke = { on: !this.has(found), done: new Set() };
    this.paint(found);
  }

  drag(event) {
    if (!this.stroke) return;
    const found = this.under(event);
    if (found) this.paint(found);
  }

  lift() {
    if (this.stroke) this.keep();
    this.stroke = null;
  }

  has({ x, y, wall }) {
    const at = this.cell(x, y);
    if (this.brush === "wall") return wall !== null && this.walls.has(wall);
    if (this.brush === "start") return this.starts.has(at);
    if (this.brush === "label") return this.labels.get(at) === $("map-label").value.trim();
    return this.brush === "solid" ? this.solid.has(at) : false;
  }

  paint(found) {
    const key = this.brush === "wall" ? found.wall : `${found.x},${found.y}`;
    if (key === null || this.stroke.done.has(key)) return;
    this.stroke.done.add(key);
    this.put(found, this.stroke.on);
    this.at = [found.x, found.y];
    this.draw();
  }

  put({ x, y, wall }, on) {
    const at = this.cell(x, y);
    const set = (all, what) => (on ? all.add(what) : all.delete(what));
    if (this.brush === "wall") set(this.walls, wall);
    else if (this.brush === "solid") {
      set(this.solid, at);
      this.labels.delete(at);
      this.starts.delete(at);
    } else if (this.brush === "floor") {
      this.solid.delete(at);
      this.labels.delete(at);
      this.starts.delete(at);
    } else if (this.brush === "start") {
      this.solid.delete(at);
      set(this.starts, at);
    } else {
      const label = $("map-label").value.trim();
      this.solid.delete(at);
      if (on && label) this.labels.set(at, label);
      else this.labels.delete(at);
    }
  }

  key(event) {
    const arrow = ARROWS[event.key];
    if (!arrow && event.key !== " ") return;
    event.preventDefault();
    const [x, y] = this.at;
    if (!arrow) {
      if (this.brush === "wall") return void announce("with Shift, an arrow key puts up a wall on that side");
      this.put({ x, y }, !this.has({ x, y }));
    } else if (event.shiftKey) this.toggleWall(x, y, arrow);
    else this.at = [Math.max(0, Math.min(this.width - 1, x + arrow[0])), Math.max(0, Math.min(this.height - 1, y + arrow[1]))];
    this.keep();
    this.draw();
    announce(this.described());
  }

  toggleWall(x, y, [dx, dy]) {
    const [wx, wy] = [x + Math.min(dx, 0), y + Math.min(dy, 0)];
    if (x + dx < 0 || y + dy < 0 || x + dx >= this.width || y + dy >= this.height) return;
    const wall = `${wx},${wy},${dx ? "right" : "up"}`;
    if (!this.walls.delete(wall)) this.walls.add(wall);
  }

  described() {
    const [x, y] = this.at;
    const at = this.cell(x, y);
    const parts = [this.solid.has(at) ? "solid" : this.labels.get(at) || "floor"];
    if (this.starts.has(at)) parts.push("start");
    const sides = { right: `${x},${y},right`, left: `${x - 1},${y},right`, above: `${x},${y},up`, below: `${x},${y - 1},up` };
    for (const [side, wall] of Object.entries(sides)) if (this.walls.has(wall)) parts.push(`wall ${side}`);
    return `(${x}, ${y}): ${parts.join(", ")}`;
  }

  save() {
    return api.trying(async () => {
      const { project } = await api.saveMap(this.document());
      localStorage.removeItem(KEPT);
      this.saved(project);
    });
  }
}
