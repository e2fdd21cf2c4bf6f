// Asks the studio. Every address is below the one that the page was opened with: its token.

import { notice } from "./dom.js";

const ROOT = new URL(".", new URL("..", import.meta.url));

export const address = (path) => new URL(path, ROOT).href;
const inProject = (name, path = "") => address(`api/project/${encodeURIComponent(name)}${path}`);

export class Refused extends Error {
  constructor(status, told) {
    super(told.error || "the studio does not answer");
    this.status = status;
    this.told = told;
  }
}

async function ask(url, options = {}) {
  let response;
  try {
    response = await fetch(url, { cache: "no-store", ...options });
  } catch {
    throw new Refused(0, { error: "the studio cannot be reached; is it still running?" });
  }
  if (response.status === 429) {
    await new Promise((done) => setTimeout(done, 300));
    return ask(url, options);
  }
  const text = await response.text();
  let told;
  try {
    told = JSON.parse(text);
  } catch {
    told = { error: text.trim() };
  }
  if (!response.ok) throw new Refused(response.status, told);
  return told;
}

const post = (url, value) =>
  ask(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(value) });

export const studio = () => ask(address("api/studio"));
export const begin = (world) => post(address("api/new"), { world });
export const saveMap = (drawn) => post(address("api/draw"), drawn);
export const project = (name, who) => ask(inProject(name, who ? `?who=${who}` : ""));
export const world = (name) => ask(inProject(name, "/world"));
export const belief = (name) => ask(inProject(name, "/belief"));
export const walk = (name, change) => post(inProject(name, "/walk"), change);
export const demos = (name, change) => post(inProject(name, "/demos"), change);
export const infer = (name, what) => post(inProject(name, "/infer"), what);
export const question = (name, what) => post(inProject(name, "/ask"), what);
export const file = (name, kind) => inProject(name, `/file/${kind}`);

export function upload(data, name, project, repair) {
  const query = new URLSearchParams({ name });
  if (project) query.set("project", project);
  if (repair) query.set("repair", "yes");
  return ask(address(`api/upload?${query}`), { method: "POST", body: data });
}

/** Listen to what changes in a project; returns a function that ends it. */
export function listen(name, who, heard, connected) {
  const source = new EventSource(inProject(name, `/events?who=${who}`));
  source.onopen = () => connected(true);
  source.onerror = () => connected(false);
  source.onmessage = (event) => heard(JSON.parse(event.data));
  return () => source.close();
}

/** Do something, and show why where it is refused; returns whether it went well. */
export async function trying(what) {
  try {
    await what();
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    notice(error.message, error.told.problems && error.told.problems.length > 1 ? [] : []);
    return false;
  }
}
