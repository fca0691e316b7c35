// What a run looks like. Data only ever becomes text nodes; citations are looked up by their number.

import { ocrWord, pageWord, words } from "./text.js";

export const byId = (id) => document.getElementById(id);

export function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined && text !== null) element.textContent = String(text);
  return element;
}

export function show(id, visible) {
  byId(id).hidden = !visible;
}

export function notice(text) {
  byId("notice").textContent = text || "";
  show("notice", Boolean(text));
}

export function showStatus(status) {
  byId("status").textContent = words.status[status] || status || "";
  byId("status").dataset.status = status || "";
  show("stop", ["queued", "running"].includes(status));
  show("resume", status === "resumable");
  show("verify", status === "completed");
}

export function progress(text) {
  byId("progress").textContent = text || "";
}

export function clearRun(question) {
  byId("asked").textContent = question;
  for (const id of ["answer", "citations", "gaps", "warnings", "plan-tasks", "plan-price"]) byId(id).replaceChildren();
  for (const id of ["progress", "verified", "usage", "plan-why"]) byId(id).textContent = "";
  for (const id of ["gaps", "warnings", "plan", "sources", "stop", "resume", "verify"]) show(id, false);
  notice("");
  show("answer-region", true);
}

// -- the answer

function citeButton(number) {
  const button = make("button", "cite", number);
  button.type = "button";
  button.dataset.number = String(number);
  button.setAttribute("aria-label", words.cite(number));
  return button;
}

/** Append a sentence; a marker such as [2] becomes a button in its place, other citations follow the sentence. */
function appendCited(parent, text, numbers) {
  const left = new Set(numbers);
  for (const part of text.split(/(\[\d+\])/)) {
    const number = /^\[\d+\]$/.test(part) ? Number(part.slice(1, -1)) : null;
    if (number !== null && numbers.includes(number)) {
      parent.append(citeButton(number));
      left.delete(number);
    } else if (part) {
      parent.append(document.createTextNode(part));
    }
  }
  for (const number of left) parent.append(citeButton(number));
}

/** Append a sentence as it comes; the space before it is part of its text. */
export function appendSentence({ text, citations }) {
  const answer = byId("answer");
  const sentence = make("span", "sentence");
  appendCited(sentence, text, citations || []);
  answer.append(sentence);
}

/** Show the whole answer. Spans count code points, which a JavaScript string does not. */
function showAnswer(result) {
  const answer = byId("answer");
  const text = Array.from(result.answer || "");
  const claims = [...(result.claims || [])].filter((claim) => claim.span).sort((a, b) => a.span.start - b.span.start);
  answer.replaceChildren();
  let position = 0;
  for (const claim of claims) {
    if (claim.span.start < position) continue;
    answer.append(document.createTextNode(text.slice(position, claim.span.start).join("")));
    const sentence = make("span", "sentence");
    // Markers that directly follow a claim belong to it.
    const trailing = /^(\s?\[\d+\])+/.exec(text.slice(claim.span.end).join(""));
    const end = claim.span.end + (trailing ? trailing[0].length : 0);
    appendCited(sentence, text.slice(claim.span.start, end).join(""), claim.citations || []);
    answer.append(sentence);
    position = end;
  }
  const all = (result.citations || []).map((citation) => citation.number);
  const rest = text.slice(position).join("");
  const marked = all.filter((number) => rest.includes(`[${number}]`));
  appendCited(answer, rest, marked);
}

// -- the sources

export function addCitation(citation) {
  const list = byId("citations");
  const old = byId(`citation-${Number(citation.number)}`);
  const item = make("li");
  item.id = `citation-${Number(citation.number)}`;
  item.dataset.number = String(citation.number);
  item.tabIndex = -1;
  const source = make("p", "source");
  source.append(make("span", "number", citation.number), make("span", "", citation.document.title || citation.document.path));
  const place = [citation.document.path];
  const label = citation.page_label || citation.page;
  if (label !== null && label !== undefined) place.push(pageWord(label));
  if (citation.headings && citation.headings.length) place.push(citation.headings.join(" › "));
  if ((citation.quotes || []).some((quote) => quote.ocr)) place.push(ocrWord());
  item.append(source, make("p", "place", place.join(" · ")));
  for (const quote of citation.quotes || []) item.append(make("blockquote", "", quote.text));
  if (old) old.replaceWith(item);
  else list.append(item);
  const sorted = [...list.children].sort((a, b) => Number(a.dataset.number) - Number(b.dataset.number));
  list.replaceChildren(...sorted);
  show("sources", true);
}

export function highlight(number) {
  for (const element of document.querySelectorAll(".cite, .citations > li")) {
    element.classList.toggle("on", element.dataset.number === String(number));
  }
  const item = byId(`citation-${Number(number)}`);
  if (item) {
    item.scrollIntoView({ block: "nearest" });
    item.focus({ preventScroll: true });
  }
}

// -- warnings, gaps, cost

export function addWarning(warning) {
  const list = byId("warnings");
  if ([...list.children].some((item) => item.dataset.key === `${warning.code} ${warning.message}`)) return;
  const item = make("li", "", `${warning.message || ""} `);
  item.dataset.key = `${warning.code} ${warning.message}`;
  item.append(make("code", "", warning.code));
  list.append(item);
  show("warnings", true);
}

function showGaps(gaps) {
  const box = byId("gaps");
  box.replaceChildren();
  show("gaps", gaps.length > 0);
  if (!gaps.length) return;
  box.append(make("h3", "", words.missing));
  for (const gap of gaps) {
    const reason = words.reason[gap.reason] || gap.reason || "";
    box.append(make("p", "", reason ? `${gap.missing} (${reason})` : gap.missing));
    if (!gap.nearest || !gap.nearest.length) continue;
    box.append(make("p", "muted", words.nearest));
    const list = make("ul", "muted");
    for (const near of gap.nearest) list.append(make("li", "", nearText(near)));
    box.append(list);
  }
}

function nearText(near) {
  const title = typeof near.document === "object" && near.document ? near.document.title : near.document;
  const parts = [title];
  if (near.page !== null && near.page !== undefined) parts.push(pageWord(near.page));
  if (typeof near.score === "number") parts.push(near.score.toFixed(2));
  return `${parts.join(" · ")}${near.why_not ? ` — ${near.why_not}` : ""}`;
}

function showUsage(usage) {
  if (!usage) return;
  const seconds = typeof usage.seconds === "number" ? usage.seconds.toFixed(1) : "–";
  byId("usage").textContent = words.used(usage.llm_calls ?? 0, usage.searches ?? 0, seconds);
}

/** Show everything that a result holds. */
export function showResult(result) {
  showStatus(result.status);
  byId("citations").replaceChildren();
  show("sources", false);
  for (const citation of result.citations || []) addCitation(citation);
  if (result.answer) showAnswer(result);
  for (const warning of result.warnings || []) addWarning(warning);
  showGaps(result.gaps || []);
  showUsage(result.usage);
}

export function showVerified(found) {
  const bad = found.citations.filter((citation) => !citation.ok).map((citation) => `[${citation.number}] ${citation.reason || ""}`);
  byId("verified").textContent = bad.length ? words.unverified(bad.join(", ")) : words.verified(found.citations.length);
}

export function showRecent(items, current) {
  const list = byId("recent");
  list.replaceChildren();
  if (!items.length) list.append(make("li", "muted", words.noRuns));
  for (const run of items) {
    const link = make("a");
    link.href = `#run=${encodeURIComponent(run.run_id)}`;
    link.title = run.question;
    if (run.run_id === current) link.setAttribute("aria-current", "true");
    link.append(make("span", "q", run.question), make("span", "s", words.status[run.status] || run.status));
    const item = make("li");
    item.append(link);
    list.append(item);
  }
}
