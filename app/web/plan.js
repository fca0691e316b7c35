// The plan that waits for a decision: its tasks can be changed, removed and added before it is approved.

import { byId, make, show } from "./view.js";
import { words } from "./text.js";

const MOST = 6;
let plan = null;

export function showPlan({ tasks, plan_version, reasons, estimate }) {
  plan = { version: plan_version, tasks: (tasks || []).map((task) => ({ ...task })), edited: false };
  byId("plan-why").textContent = (reasons || []).join(" · ");
  showPrice(estimate || {});
  showTasks();
  show("plan", true);
}

export function hidePlan() {
  plan = null;
  show("plan", false);
}

/** Return the body of the decision, or null if there is no plan. */
export function decisionBody(decision) {
  if (!plan) return null;
  const body = { decision: decision === "approve" && plan.edited ? "edit" : decision, plan_version: plan.version };
  if (body.decision === "edit") body.tasks = plan.tasks.map(taskBody);
  return body;
}

export function addTask() {
  if (!plan || plan.tasks.length >= MOST) return;
  const taken = new Set(plan.tasks.map((task) => task.id));
  let number = plan.tasks.length + 1;
  while (taken.has(`t${number}`)) number += 1;
  plan.tasks.push({ id: `t${number}`, question: "", query: "" });
  changed();
  showTasks();
  byId("plan-tasks").lastElementChild.querySelector("input").focus();
}

function taskBody(task) {
  const body = { id: task.id, question: task.question, query: task.query };
  const ids = plan.tasks.map((other) => other.id);
  const before = (task.depends_on || []).filter((id) => ids.includes(id));
  if (before.length) body.depends_on = before;
  return body;
}

function changed() {
  plan.edited = true;
  byId("plan-approve").textContent = words.approveEdited;
}

function showTasks() {
  byId("plan-approve").textContent = plan.edited ? words.approveEdited : words.approve;
  byId("plan-add").disabled = plan.tasks.length >= MOST;
  byId("plan-tasks").replaceChildren(...plan.tasks.map(taskItem));
}

function taskItem(task, index) {
  const row = make("div", "task");
  const input = make("input");
  input.value = task.question || task.query || "";
  input.maxLength = 500;
  input.setAttribute("aria-label", `${words.task} ${index + 1}`);
  input.addEventListener("input", () => {
    task.question = input.value;
    task.query = input.value;
    changed();
  });
  const remove = make("button", "", "×");
  remove.type = "button";
  remove.disabled = plan.tasks.length < 2;
  remove.setAttribute("aria-label", `${words.removeTask} ${index + 1}`);
  remove.addEventListener("click", () => {
    plan.tasks.splice(plan.tasks.indexOf(task), 1);
    changed();
    showTasks();
  });
  row.append(input, remove);
  const item = make("li");
  item.append(row);
  return item;
}

function showPrice(estimate) {
  const tokens = sum(estimate.tokens_in, estimate.tokens_out);
  const rows = { llm_calls: estimate.llm_calls, tokens, seconds: estimate.seconds, cost: estimate.cost };
  byId("plan-price").replaceChildren();
  for (const [name, range] of Object.entries(rows)) {
    const value = rangeText(range);
    if (value === null) continue;
    const group = make("div");
    group.append(make("dt", "", words[name]), make("dd", "", value));
    byId("plan-price").append(group);
  }
}

function sum(a, b) {
  if (!a || !b) return a || b || null;
  return { low: a.low + b.low, expected: a.expected + b.expected, high: a.high + b.high };
}

function rangeText(range) {
  if (typeof range === "number") return short(range);
  if (!range || typeof range.expected !== "number") return null;
  if (range.low === range.high) return short(range.expected);
  return `${short(range.expected)} (${short(range.low)}–${short(range.high)})`;
}

function short(value) {
  if (value === 0) return "0";
  if (Math.abs(value) < 1) return value.toPrecision(2);
  return Math.round(value).toLocaleString();
}
