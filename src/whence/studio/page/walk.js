// Walking: keys, clicks and buttons become steps, one after the other; and demonstrations.

import * as api from "./api.js";
import { $, announce, h, labels } from "./dom.js";

const ARROWS = { ArrowUp: ["up", [0, -1]], ArrowRight: ["right", [1, 0]], ArrowDown: ["down", [0, 1]], ArrowLeft: ["left", [-1, 0]] };
const SIGNS = { up: "↑", right: "→", down: "↓", left: "←", stay: "•" };
const MOST_WAITING = 6; // keys pressed ahead of the studio

export class Walker {
  constructor(desk) {
    this.desk = desk; // {name, who, world, map, moved(), demosChanged()}
    this.walk = null;
    this.waiting = Promise.resolve();
    this.ahead = 0;
    this.choosing = null; // the place under the cursor while a start is chosen
    this.going = 0; // which click is walked after; a new one ends the old
  }

  /** Draw the walk as the studio has it. */
  show(walk, quiet = false) {
    const before = this.walk;
    this.walk = walk;
    this.desk.map.walked(walk.states);
    const steps = walk.actions.length;
    $("where").replaceChildren(
      "At ", h("code", {}, walk.name), steps ? ` after ${steps} step${steps > 1 ? "s" : ""}. ` : ", the start. ",
      ...(walk.read.length ? ["Read: ", ...labels(walk.read)] : ["No label was read yet."]),
    );
    $("undo").disabled = $("record").disabled = steps === 0;
    this.buttons(walk.around);
    if (!quiet && before) {
      const read = walk.label && walk.actions.length > before.actions.length ? `, read ${walk.label}` : "";
      announce(`${walk.name}${read}, ${steps} step${steps === 1 ? "" : "s"}`);
    }
    this.desk.moved();
  }

  buttons(around) {
    const names = this.desk.world.actions;
    const compass = around.every(({ action }) => names[action] in SIGNS);
    const focused = document.activeElement && document.activeElement.dataset.action;
    $("actions").className = compass ? "pad compass" : "pad";
    $("actions").replaceChildren(
      ...around.map(({ action, name, label, sure }) => {
        const title = names[action];
        const leads = `${sure ? "to" : "probably to"} ${name}${label ? `, ${label}` : ""}`;
        const on = { click: () => this.step({ do: "step", action }) };
        const shown = compass ? [SIGNS[title]] : [title, h("small", {}, `→ ${name}${label ? ` (${label})` : ""}`)];
        return h("button", { type: "button", class: compass ? title : null, "data-action": action, "aria-label": `${title}: ${leads}`, on }, ...shown);
      }),
    );
    if (this.desk.world.all_actions > names.length) {
      $("actions").append(h("p", { class: "note" }, `and ${this.desk.world.all_actions - names.length} more actions`));
    }
    if (focused !== undefined) {
      const again = $("actions").querySelector(`[data-action="${CSS.escape(focused)}"]`);
      if (again) again.focus();
    }
  }

  /** Ask for a change, after those asked for before; a conflict shows how the walk stands. */
  step(change) {
    if (this.ahead >= MOST_WAITING) return this.waiting;
    this.ahead += 1;
    this.waiting = this.waiting.then(() => this.ask(change)).finally(() => (this.ahead -= 1));
    return this.waiting;
  }

  async ask(change) {
    try {
      const { who, name } = this.desk;
      const told = await api.walk(name, { who, revision: this.walk.revision, ...change });
      this.show(told.walk);
      return true;
    } catch (error) {
      if (!(error instanceof api.Refused)) throw error;
      if (error.told.walk) this.show(error.told.walk, true);
      if (error.status !== 409) this.desk.refused(error);
      announce(error.message);
      return false;
    }
  }

  /** Walk to a place, step by step, until it is reached or something else is asked for. */
  async go(state) {
    if (this.choosing !== null) return this.startAt(state);
    const mine = ++this.going;
    for (let left = 400; left > 0 && mine === this.going; left -= 1) {
      if (this.walk.states[this.walk.states.length - 1] === state) return;
      if ((await this.step({ do: "toward", state })) === false) return;
    }
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const arrow = ARROWS[event.key];
    if (arrow) {
      event.preventDefault();
      this.going += 1;
      return this.choosing === null ? this.arrow(...arrow) : this.moveCursor(arrow[1]);
    }
    const act = {
      Backspace: () => this.undo(), Enter: () => (this.choosing === null ? this.record() : this.startAt(this.choosing)),
      Escape: () => this.chooseStart(false), " ": () => this.named("stay"),
    }[event.key];
    if (act) {
      event.preventDefault();
      return act();
    }
    const number = "123456789".indexOf(event.key);
    if (number >= 0 && this.walk.around[number]) {
      event.preventDefault();
      this.step({ do: "step", action: this.walk.around[number].action });
    }
  }

  named(name) {
    const action = this.desk.world.actions.indexOf(name);
    if (action >= 0) this.step({ do: "step", action });
    return action >= 0;
  }

  /** Take the action that an arrow key names, else the one that leads that way on the drawing. */
  arrow(name, direction) {
    if (this.named(name) || !this.desk.map.svg) return;
    const points = this.desk.world.points;
    const [x, y] = points[this.walk.states[this.walk.states.length - 1]];
    const best = this.walk.around
      .map(({ action, to }) => {
        const [dx, dy] = [points[to][0] - x, points[to][1] - y];
        return [(dx * direction[0] + dy * direction[1]) / (Math.hypot(dx, dy) || 1), action];
      })
      .sort((a, b) => b[0] - a[0])[0];
    if (best && best[0] > 0.3) this.step({ do: "step", action: best[1] });
    else announce("nothing leads that way");
  }

  undo() {
    this.going += 1;
    return this.step({ do: "undo" });
  }

  async record() {
    this.going += 1;
    const ended = $("ended").checked ? true : null;
    const steps = this.walk.actions.length;
    if (steps === 0) return announce("there is no step to record yet");
    if ((await this.step({ do: "record", ended })) === false) return undefined;
    $("ended").checked = false;
    return announce(`recorded ${steps} steps; a new walk begins at ${this.walk.name}`);
  }

  again() {
    this.going += 1;
    return this.step({ do: "begin" });
  }

  /** Begin or end choosing where to start. */
  chooseStart(on) {
    const here = this.walk.states[this.walk.states.length - 1];
    this.choosing = on && this.desk.map.svg ? here : null;
    $("elsewhere").setAttribute("aria-pressed", String(this.choosing !== null));
    this.desk.map.choose(this.choosing);
    if (this.choosing === null) return;
    announce("choose a place with the arrow keys and Enter, or click one; Escape ends it");
    $("map").focus();
  }

  moveCursor(direction) {
    const next = this.desk.map.toward(this.choosing, direction);
    if (next === null) return;
    this.choosing = next;
    this.desk.map.choose(next);
    const label = this.desk.world.labels[next];
    announce(`place ${next}${label >= 0 ? `, ${this.desk.world.alphabet[label]}` : ""}`);
  }

  startAt(state, history = []) {
    this.chooseStart(false);
    this.going += 1;
    return this.step({ do: "begin", state, history });
  }
}

/** List the demonstrations, the last first. */
export function showDemos(demos, { show, withdraw }) {
  $("demos-title").textContent = demos.count ? `Demonstrations: ${demos.count}` : "Demonstrations";
  $("demos-none").hidden = demos.count > 0;
  $("restore").hidden = demos.withdrawn === 0;
  $("demos").replaceChildren(
    ...[...demos.listed].reverse().map((demo) => {
      const read = demo.read.length ? ["read ", ...labels(demo.read), demo.more ? ` and ${demo.more} more` : ""] : ["read nothing"];
      const who = demo.subject ? ` by ${demo.subject}` : "";
      return h(
        "li", {},
        h("span", {}, `${demo.index + 1}. ${demo.steps} steps from `, h("code", {}, demo.start), `${who}${demo.ended ? ", then it was over" : ""}`),
        h("span", { class: "labels" }, ...read),
        h("button", { type: "button", "aria-pressed": "false", "aria-label": `Show demonstration ${demo.index + 1} on the map`, on: { click: (event) => show(demo, event.currentTarget) } }, "Show"),
        h("button", { type: "button", "aria-label": `Withdraw demonstration ${demo.index + 1}`, on: { click: () => withdraw(demo) } }, "Withdraw"),
      );
    }),
  );
}
