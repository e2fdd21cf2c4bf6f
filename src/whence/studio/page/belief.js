// What is believed: the answer, facts with bars, the machine, and how inference goes.

import { $, drawing, h, labels, marked, percent } from "./dom.js";

export class Belief {
  constructor() {
    this.found = null; // what a run believes
    this.best = null; // while it runs: the best machine so far
    this.changed = () => {};
  }

  /** The machine that is drawn. */
  get shown() {
    return this.best || this.found;
  }

  /** Show what was found, and whether it is about the demonstrations as they are now. */
  show(found, digest, count) {
    this.found = found;
    this.best = null;
    $("machine-title").textContent = "The machine that illustrates it";
    $("found").hidden = !found;
    $("answer").classList.toggle("stale", Boolean(found) && found.digest !== digest);
    if (!found) {
      $("answer").replaceChildren(count ? "Nothing is inferred yet." : "Nothing is known yet: record a demonstration.");
      $("stage").replaceChildren();
      $("facts").replaceChildren();
      $("routes").replaceChildren();
      $("routes-title").hidden = true;
      $("untested").replaceChildren();
      $("machine").replaceChildren();
      return;
    }
    $("answer").replaceChildren(...marked(found.answer));
    $("stage").replaceChildren(stage(found, digest));
    this.facts(found);
    this.machine(found.svg);
    this.open(found.open);
  }

  facts(found) {
    $("facts").replaceChildren(...found.facts.map((fact) => bar(fact.text, fact.probability, fact.stated)));
    $("routes").replaceChildren(...found.routes.map((route) => bar(route.text, route.probability)));
    $("routes-title").hidden = !found.routes.length;
    const untested = found.untested.map((text) => h("li", {}, ...marked(text)));
    $("untested").replaceChildren(...(untested.length ? [h("details", {}, h("summary", {}, `What cannot be told: ${untested.length}`), h("ul", {}, ...untested))] : []));
  }

  machine(svg) {
    $("machine").replaceChildren(drawing(svg));
  }

  open(questions) {
    const rows = questions.map((each) =>
      h(
        "li", {}, "What does ", ...labels(each.labels), " pay? ",
        each.pays.map((one) => `${one.reward} (${percent(one.probability)})`).join(", "),
      ),
    );
    $("open").replaceChildren(...(rows.length ? [h("details", {}, h("summary", {}, `Still open: ${rows.length}`), h("ul", {}, ...rows))] : []));
  }

  /** Show the best machine so far, and where one would go that it pays. */
  soFar(machine) {
    if (this.found && this.found.stage === "so far") return;
    this.best = machine;
    $("found").hidden = false;
    $("machine-title").textContent = "The best machine so far";
    this.machine(machine.svg);
    this.changed();
  }

  /** Return the machine's state after labels, and light it. */
  light(read) {
    const found = this.shown;
    if (!found) return 0;
    let state = 0;
    for (const label of read) {
      const column = found.alphabet.indexOf(label);
      if (column >= 0) state = found.transitions[state][column];
    }
    for (const each of $("machine").querySelectorAll("[data-state]")) {
      each.classList.toggle("lit", each.dataset.state === String(state));
    }
    return state;
  }

  /** Say how inference goes. */
  progress(now, trouble) {
    $("stop").hidden = !now;
    $("infer").hidden = Boolean(now);
    const bar = $("progress");
    bar.hidden = !now;
    bar.removeAttribute("value");
    if (!now) {
      $("progress-text").textContent = trouble ? `It failed: ${trouble}` : "";
      return;
    }
    const about = now.look || now.steps;
    if (now.step && about) bar.value = Math.min(1, now.step / about);
    $("progress-text").textContent = words(now);
    if (now.machine) this.soFar(now.machine);
  }
}

export function bar(text, share, strong = false) {
  const inner = h("i");
  inner.style.width = `${100 * share}%`;
  const meter = h("span", { class: "meter", role: "img", "aria-label": percent(share) }, inner);
  return h("li", { class: strong ? "stated" : null }, h("span", { class: "told", title: text }, ...marked(text)), meter, h("span", { class: "share" }, percent(share)));
}

function stage(found, digest) {
  const from = `from ${found.episodes} demonstration${found.episodes === 1 ? "" : "s"}`;
  const old = found.digest === digest ? "" : "; demonstrations have changed since";
  if (found.stage === "so far") return `So far, ${from}; the search goes on${old}.`;
  const cut = found.stopped === "minutes" ? ", cut off by its time limit: “How to infer” can allow it more" : "";
  return `Inferred ${from} in ${found.seconds.toFixed(0)} s${cut}${old}.`;
}

function words(now) {
  if (now.event === "starting") return "starting…";
  if (now.event === "refreshing") return "drawing more machines, since the answers leave few…";
  if (now.event === "analysing") return "working out what that means…";
  if (!now.step) return "looking…";
  return `step ${now.step.toLocaleString("en")}, ${now.evaluations.toLocaleString("en")} machines scored in ${now.seconds.toFixed(0)} s`;
}
