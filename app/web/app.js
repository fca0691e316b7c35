// The page: ask, follow, decide, come back. The run in the address is the one that is shown.

import { addTask, decisionBody, hidePlan, showPlan } from "./plan.js";
import { language, translate, words } from "./text.js";
import * as view from "./view.js";

const API = "/api/v1";
const LIVE = ["queued", "running"];
let shown = null; // { id, source, seen }: events of any other run are not for this page

async function call(method, path, body) {
  const options = { method, headers: { Accept: "application/json" } };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(API + path, options);
  } catch {
    throw new Error(words.offline);
  }
  const found = response.status === 204 ? null : await response.json().catch(() => null);
  if (!response.ok) throw new Error((found && found.detail) || `HTTP ${response.status}`);
  return found;
}

const runPath = (id, part = "") => `/runs/${encodeURIComponent(id)}${part}`;

function guarded(action) {
  return async (event) => {
    if (event) event.preventDefault();
    try {
      view.notice("");
      await action(event);
    } catch (error) {
      view.notice(error.message);
    }
  };
}

// -- following a run

function open(run, question) {
  if (shown && shown.source) shown.source.close();
  shown = { id: run, source: null, seen: 0 };
  view.clearRun(question);
  hidePlan();
}

function follow(run) {
  if (run.source) run.source.close();
  const source = new EventSource(`${API}${runPath(run.id, "/events")}?after=${run.seen}`);
  run.source = source;
  for (const [name, handle] of Object.entries(HANDLERS)) {
    source.addEventListener(name, (event) => {
      if (shown !== run || run.source !== source || typeof event.data !== "string") return;
      run.seen = Number(event.lastEventId) || run.seen;
      handle(JSON.parse(event.data), run);
    });
  }
  source.addEventListener("error", (event) => {
    if (shown !== run || run.source !== source || typeof event.data === "string") return;
    if (source.readyState === EventSource.CLOSED) settle(run);
    else view.progress(words.lost);
  });
}

/** The server will send no more: show what is stored. */
async function settle(run) {
  try {
    const result = await call("GET", runPath(run.id));
    if (shown === run) showStored(result);
  } catch (error) {
    view.notice(error.message);
  }
}

function finish(run, result) {
  run.source.close();
  view.progress("");
  hidePlan();
  if (result) view.showResult(result);
  recent();
}

const HANDLERS = {
  run_started: () => view.showStatus("running"),
  node_started: ({ node }) => {
    hidePlan();
    view.showStatus("running");
    view.progress(words.node[node] || node);
  },
  task_started: ({ query }) => view.progress(words.searching(query)),
  task_finished: ({ found }) => view.progress(words.found(found ?? 0)),
  evidence: (citation) => {
    if (citation.number) view.addCitation(citation);
  },
  token: (sentence) => view.appendSentence(sentence),
  warning: (warning) => view.addWarning(warning),
  approval_required: (plan) => {
    view.showStatus("awaiting_approval");
    view.progress("");
    showPlan(plan);
    recent();
  },
  final: ({ result }, run) => finish(run, result),
  cancelled: ({ result }, run) => finish(run, result),
  error: ({ message, resumable }, run) => {
    finish(run, null);
    view.showStatus(resumable ? "resumable" : "failed");
    view.notice(message);
  },
};

function showStored(result) {
  view.showResult(result);
  view.progress("");
  if (result.status === "awaiting_approval") {
    showPlan({ tasks: result.research_tasks, plan_version: result.plan_version, reasons: result.reasons, estimate: result.estimate });
  }
}

async function restore() {
  const id = new URLSearchParams(location.hash.slice(1)).get("run");
  if (!id || (shown && shown.id === id)) return;
  const result = await call("GET", runPath(id));
  open(id, result.question);
  if (LIVE.includes(result.status)) {
    view.showStatus(result.status);
    follow(shown);
  } else {
    shown.seen = result.last_seq || 0;
    showStored(result);
  }
  recent();
}

// -- what a person does

async function ask() {
  const question = view.byId("question").value.trim();
  if (!question) return;
  view.byId("send").disabled = true;
  try {
    const body = { question, mode: view.byId("mode").value, approval: view.byId("approval").value };
    const created = await call("POST", "/runs", body);
    open(created.run_id, question);
    location.hash = `run=${encodeURIComponent(created.run_id)}`;
    view.showStatus(created.status);
    follow(shown);
    recent();
  } finally {
    view.byId("send").disabled = false;
  }
}

async function decide(decision) {
  const body = decisionBody(decision);
  if (!body) return;
  const run = shown;
  const taken = await call("POST", runPath(run.id, "/approval"), body);
  hidePlan();
  view.showStatus(taken.status);
  if (taken.dropped) view.addWarning({ code: "plan_truncated", message: words.dropped(taken.dropped) });
  follow(run);
}

async function resume() {
  const run = shown;
  const taken = await call("POST", runPath(run.id, "/resume"), {});
  view.showStatus(taken.status || "running");
  follow(run);
}

async function recent() {
  try {
    const found = await call("GET", "/runs?limit=12");
    view.showRecent(found.items, shown && shown.id);
  } catch {
    // The list is a convenience; the answer matters more than its failure.
  }
}

async function corpus() {
  try {
    const found = await (await fetch("/ready")).json();
    view.byId("corpus").textContent = words.corpus(found.corpus.documents, found.corpus.chunks, found.models.chat);
  } catch {
    view.byId("corpus").textContent = words.offline;
  }
}

function start() {
  translate(document);
  view.byId("ask").addEventListener("submit", guarded(ask));
  view.byId("question").addEventListener("keydown", (event) => {
    // Enter that confirms a Chinese input method is no wish to send.
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      view.byId("ask").requestSubmit();
    }
  });
  view.byId("plan-approve").addEventListener("click", guarded(() => decide("approve")));
  view.byId("plan-cancel").addEventListener("click", guarded(() => decide("cancel")));
  view.byId("plan-add").addEventListener("click", addTask);
  view.byId("stop").addEventListener("click", guarded(() => call("POST", runPath(shown.id, "/cancel"), {})));
  view.byId("resume").addEventListener("click", guarded(resume));
  view.byId("verify").addEventListener("click", guarded(async () => view.showVerified(await call("GET", runPath(shown.id, "/verify")))));
  document.addEventListener("click", (event) => {
    const cite = event.target.closest(".cite");
    if (cite) view.highlight(cite.dataset.number);
  });
  window.addEventListener("hashchange", guarded(restore));
  document.documentElement.dataset.language = language;
  guarded(restore)();
  recent();
  corpus();
}

start();
