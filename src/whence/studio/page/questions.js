// The next question, and the answers that were given.

import * as api from "./api.js";
import { $, announce, h, marked, percent } from "./dom.js";

export class Questions {
  constructor(desk, walker) {
    this.desk = desk;
    this.walker = walker;
    this.all = [];
    this.skipped = new Set();
    this.sent = false;
  }

  /** Show the best question that was not skipped, as far as the run is about what is there now. */
  show(belief, digest) {
    this.sent = false;
    const ready = belief && belief.stage === "whole" && belief.digest === digest;
    const answers = ready ? belief.answers : [];
    this.all = (ready && belief.questions) || [];
    $("questions").hidden = !ready || (belief.questions !== null && !this.all.length && !answers.length);
    this.next(ready && belief.questions === null);
    const stand = answers.some((each) => !each.withdrawn);
    const wrong = stand ? [h("li", { class: "note" }, `${percent(belief.error_rate)} of answers are expected to be wrong.`)] : [];
    $("answers").replaceChildren(...answers.map((each) => this.given(each)), ...wrong);
  }

  next(thinking = false) {
    const question = this.all.find((each) => !this.skipped.has(each.id)) || this.all[0];
    this.desk.map.show(null, null);
    if (!question) {
      $("question").replaceChildren(h("p", { class: "note" }, thinking ? "Thinking about what to ask…" : "Nothing is left that would tell much."));
      return;
    }
    const more = this.all.length > 1 ? [h("button", { type: "button", on: { click: () => this.skip(question) } }, "Another question")] : [];
    $("question").replaceChildren(
      h("p", {}, ...marked(question.text)),
      ...(question.settles ? [h("p", { class: "note" }, "Would settle: ", ...marked(question.settles))] : []),
      h("p", { class: "note" }, worth(question)),
      ...(question.executions.length ? [h("p", { class: "note" }, ...shownOnMap(question))] : []),
      h("div", { class: "tools" }, ...this.choices(question), ...more),
    );
    const [first, second] = question.executions.map((each) => each.states);
    this.desk.map.show(first || null, second || null);
  }

  choices(question) {
    if (question.kind === "demonstration") {
      const on = { click: () => this.walker.startAt(question.state, question.labels[0]).then(() => $("map").focus()) };
      return [h("button", { type: "button", class: "main", on }, "Walk from there")];
    }
    const named = { first: "The first", second: "The second" };
    return question.answers.map((value, at) => {
      const text = named[value] || `It pays ${value}`;
      const chance = ` (expected: ${percent(question.chances[at])})`;
      return h("button", { type: "button", class: "reply", title: text + chance, on: { click: () => this.reply(question, value) } }, text);
    });
  }

  skip(question) {
    this.skipped.add(question.id);
    if (this.all.every((each) => this.skipped.has(each.id))) this.skipped.clear();
    this.next();
    $("question").querySelector("button")?.focus();
  }

  reply(question, value) {
    if (this.sent) return undefined;
    this.sent = true;
    return api.trying(() => api.question(this.desk.name, { do: "answer", id: question.id, value })).then((well) => {
      this.sent = well;
      if (well) announce("answered");
    });
  }

  given(answer) {
    const value = answer.value === "first" || answer.value === "second" ? `the ${answer.value}` : answer.value;
    const text = h("span", { class: answer.withdrawn ? "gone" : null }, ...marked(answer.text), ` ${value}`);
    if (answer.withdrawn) return h("li", {}, text, " withdrawn");
    const on = { click: () => api.trying(() => api.question(this.desk.name, { do: "withdraw", id: answer.id })) };
    return h("li", {}, text, h("button", { type: "button", "aria-label": `Withdraw the answer to: ${answer.text}`, on }, "Withdraw"));
  }
}

/** What an answer is expected to tell, and what it costs the person who gives it. */
function worth(question) {
  const about = question.error ? "about " : "";
  const gain = Number(question.gain.toPrecision(2));
  return `Expected to tell ${about}${gain} ${question.unit} for ${Math.round(question.seconds)} s of your time.`;
}

/** Where an execution reads its labels: with a line that crosses itself one cannot see the order. */
function told(way) {
  const read = way.labels.map((label, at) => [label, at]).slice(1).filter(([label]) => label !== null);
  return read.flatMap(([label, at], turn) => [turn ? ", then " : "", h("code", {}, label), ` after ${at} step${at === 1 ? "" : "s"}`]);
}

function shownOnMap(question) {
  const [first, second] = question.executions;
  return second
    ? ["The dotted line on the map shows the first (", ...told(first), "), the dashed one the second (", ...told(second), ")."]
    : ["The dotted line on the map is one way in which that happens: ", ...told(first), "."];
}
