// The page: which project is open, what is shown of it, and files that are dropped on it.

import * as api from "./api.js";
import { Belief } from "./belief.js";
import { $, announce, closeNotice, h, notice } from "./dom.js";
import { Editor } from "./editor.js";
import { WorldMap } from "./map.js";
import { Questions } from "./questions.js";
import { Walker, showDemos } from "./walk.js";

const TABLES = /\.(csv|tsv|parquet|xlsx)$/i;
const belief = new Belief();
const desk = { name: null, who: null, world: null, map: null, digest: "", demos: null };
const walker = new Walker(desk);
const questions = new Questions(desk, walker);
let editor = null;
let leave = () => {};
let shownDemo = null;

desk.moved = () => {
  const memory = belief.light(walker.walk.read);
  const arrows = belief.shown && $("show-way").checked ? belief.shown.arrows[memory] : [];
  desk.map.headed(arrows);
};
belief.changed = () => walker.walk && desk.moved();
desk.refused = (error) => notice(error.message);

function screen(name) {
  for (const each of ["desk", "start", "editor"]) $(each).hidden = each !== name;
  $("downloads").hidden = !desk.name;
  $("back").hidden = $("edit-this").hidden = !desk.name;
  if (desk.world) $("edit-this").hidden = !desk.world.drawn;
}

async function showStart() {
  const told = await api.studio();
  listProjects(told.projects);
  $("built-in").replaceChildren(
    ...Object.entries(told.built_in).map(([name, summary]) =>
      h("li", {}, h("button", { type: "button", on: { click: () => begin(name) } }, name, h("small", {}, summary))),
    ),
  );
  screen("start");
  $("start-title").focus?.();
}

function listProjects(names) {
  const options = names.map((name) => h("option", { value: name, selected: name === desk.name }, name));
  const none = h("option", { value: "", selected: !desk.name, disabled: true }, names.length ? "choose…" : "none yet");
  $("projects").replaceChildren(...(desk.name ? [] : [none]), ...options);
}

const begin = (world) => api.trying(async () => open((await api.begin(world)).project));

/** Open a project: its world, its walk, its demonstrations, and what is believed. */
async function open(name) {
  leave();
  leave = () => {};
  const told = await api.project(name, localStorage.getItem(`whence-who-${name}`));
  desk.name = name;
  desk.who = told.who;
  localStorage.setItem(`whence-who-${name}`, told.who);
  desk.world = await api.world(name);
  history.replaceState(null, "", `#${encodeURIComponent(name)}`);
  document.title = `${name} – whence studio`;
  screen("desk");
  desk.map = new WorldMap(desk.world, (state) => walker.go(state));
  walker.choosing = null;
  $("elsewhere").hidden = !desk.map.svg;
  belief.show(null, "", told.demos.count);
  await settle(told);
  walker.show(told.walk, true);
  listProjects((await api.studio()).projects);
  leave = api.listen(name, desk.who, heard, connected);
}

/** Show all of a project but its walk and its world. */
async function settle(told) {
  desk.digest = told.digest;
  desk.demos = told.demos;
  showDemos(told.demos, { show: showDemo, withdraw });
  const form = $("settings-form").elements;
  if (!$("settings-form").contains(document.activeElement)) {
    form.least.value = told.settings.least;
    form.most.value = told.settings.most;
    form.rewards.value = told.settings.rewards.join(", ");
    form.minutes.value = told.settings.minutes;
    form.auto.checked = told.settings.auto;
  }
  $("downloads").querySelector("ul").replaceChildren(
    ...told.files.map((kind) => h("li", {}, h("a", { href: api.file(desk.name, kind), download: true }, kind))),
  );
  belief.progress(told.progress, told.trouble);
  await refreshBelief();
}

async function refreshBelief() {
  const told = await api.belief(desk.name);
  desk.digest = told.digest;
  belief.show(told.belief, told.digest, desk.demos.count);
  questions.show(told.belief, told.digest);
  if (walker.walk) desk.moved();
}

async function refresh(walkToo) {
  const told = await api.project(desk.name, desk.who);
  if (walkToo && walker.ahead === 0 && told.walk.revision > walker.walk.revision) walker.show(told.walk, true);
  await settle(told);
}

/** Hear what changed: here, in another tab, or in the process that infers. */
async function heard(told) {
  if ("progress" in told) belief.progress(told.progress, told.trouble);
  if ("trouble" in told) notice(`Inference failed: ${told.trouble}`);
  if (told.walk !== undefined) await walker.waiting; // most are this tab's own
  const walked = told.walk !== undefined && told.walk > walker.walk.revision;
  if (told.demos || told.settings || walked) await refresh(true);
  else if (told.belief) await refreshBelief();
  else if (told.progress === null) await refresh(false);
}

function connected(now) {
  const before = $("connection").textContent;
  $("connection").textContent = now ? "" : "The studio does not answer; trying again…";
  if (now && before) refresh(true);
}

function showDemo(demo, button) {
  const same = shownDemo === demo.digest;
  for (const each of $("demos").querySelectorAll("[aria-pressed]")) each.setAttribute("aria-pressed", "false");
  shownDemo = same ? null : demo.digest;
  button.setAttribute("aria-pressed", String(!same));
  desk.map.show(same ? null : demo.states);
}

const withdraw = ({ index, digest }) => api.trying(async () => {
  desk.map.show(null);
  await api.demos(desk.name, { do: "withdraw", index, digest });
  announce("withdrawn");
}).then(() => refresh(false));

/** Take in a file; a table may be meant for the world that is open, or stand for one of its own. */
async function bring(file) {
  closeNotice();
  const forWorld = desk.name && !$("desk").hidden && /\.(jsonl|npz)$/i.test(file.name);
  if (TABLES.test(file.name) && desk.name && !$("desk").hidden) return choose(file);
  return take(file, forWorld ? desk.name : null, false);
}

function choose(file) {
  notice(`${file.name}: demonstrations in this world, or a log that stands for its own?`);
  const button = (text, project) => h("button", { type: "button", on: { click: () => (closeNotice(), take(file, project, false)) } }, text);
  $("notice-text").append(h("p", { class: "tools" }, button("Demonstrations here", desk.name), button("A world of its own", null)));
}

async function take(file, project, repair) {
  try {
    const told = await api.upload(file, file.name, project, repair);
    const count = told.added ? `${told.added} demonstration${told.added === 1 ? "" : "s"}` : "a world";
    if (told.project !== desk.name || !project) await open(told.project);
    else await refresh(false);
    announce(`${file.name}: ${count}`);
    if (told.notes.length) notice(`${file.name} was taken in.`, told.notes);
  } catch (error) {
    if (!(error instanceof api.Refused)) throw error;
    notice(`${file.name} was not taken in; nothing else has changed.`, error.told.problems?.length ? error.told.problems : [error.message]);
    if (!repair && /Repair:/.test(error.message)) {
      $("notice-text").append(h("p", {}, h("button", { type: "button", on: { click: () => (closeNotice(), take(file, project, true)) } }, "Make these repairs and open it")));
    }
  }
}

function drops() {
  let inside = 0;
  const files = (event) => [...(event.dataTransfer?.types || [])].includes("Files");
  addEventListener("dragenter", (event) => files(event) && (inside += 1) && ($("drop").hidden = false));
  addEventListener("dragleave", (event) => files(event) && (inside -= 1) <= 0 && ($("drop").hidden = true));
  addEventListener("dragover", (event) => files(event) && event.preventDefault());
  addEventListener("drop", (event) => {
    if (!files(event)) return;
    event.preventDefault();
    inside = 0;
    $("drop").hidden = true;
    for (const file of event.dataTransfer.files) bring(file);
  });
  $("file").addEventListener("change", () => {
    for (const file of $("file").files) bring(file);
    $("file").value = "";
  });
}

function keepSettings(event) {
  event.preventDefault();
  const form = $("settings-form").elements;
  const rewards = form.rewards.value.split(/[\s,;]+/).filter(Boolean).map(Number);
  if (rewards.some(Number.isNaN)) return void notice("rewards: give numbers, such as 0, 1");
  const settings = { least: Number(form.least.value), most: Number(form.most.value), rewards, minutes: Number(form.minutes.value), auto: form.auto.checked };
  api.trying(() => api.infer(desk.name, { do: settings.auto ? "start" : "settings", settings }));
}

function edit(fresh) {
  editor ??= new Editor((name) => open(name));
  if (!fresh) editor.load(desk.world.drawn, desk.name);
  screen("editor");
  $("canvas").focus();
}

function wire() {
  const on = (id, event, what) => $(id).addEventListener(event, what);
  on("map", "keydown", (event) => walker.key(event));
  on("undo", "click", () => walker.undo());
  on("again", "click", () => walker.again());
  on("elsewhere", "click", () => walker.chooseStart(walker.choosing === null));
  on("record", "click", () => walker.record());
  on("restore", "click", () => api.trying(() => api.demos(desk.name, { do: "restore" })).then(() => refresh(false)));
  on("infer", "click", () => api.trying(() => api.infer(desk.name, { do: "start" })));
  on("stop", "click", () => api.trying(() => api.infer(desk.name, { do: "stop" })));
  on("zoom-in", "click", () => desk.map.zoomed(1));
  on("zoom-out", "click", () => desk.map.zoomed(-1));
  on("show-way", "change", () => desk.moved());
  on("settings-form", "submit", keepSettings);
  on("projects", "change", () => api.trying(() => open($("projects").value)));
  on("open-start", "click", showStart);
  on("open-editor", "click", () => edit(true));
  on("edit-this", "click", () => edit(false));
  on("leave-editor", "click", () => (desk.name ? screen("desk") : showStart()));
  on("to-desk", "click", () => screen("desk"));
  on("notice-close", "click", closeNotice);
  on("skip", "click", (event) => {
    event.preventDefault();
    $("map").focus();
  });
  addEventListener("hashchange", () => {
    const name = decodeURIComponent(location.hash.slice(1));
    if (name && name !== desk.name) api.trying(() => open(name));
  });
  drops();
}

async function start() {
  wire();
  const { projects } = await api.studio();
  const named = decodeURIComponent(location.hash.slice(1));
  if (named && projects.includes(named)) return open(named);
  return showStart();
}

start();
