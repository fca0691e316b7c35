// The words of the page, in English and Chinese.

function count(number, word) {
  const plural = word.endsWith("ch") ? `${word}es` : `${word}s`;
  return `${number} ${number === 1 ? word : plural}`;
}

const WORDS = {
  en: {
    skip: "Skip to the answer", askLabel: "Ask your documents", placeholder: "What do you want to know?",
    mode: "Mode", modeAuto: "automatic", modeDirect: "direct", modeResearch: "research",
    approval: "Plan approval", approvalAuto: "when it is big", approvalAlways: "always", approvalNever: "never",
    send: "Ask", stop: "Stop", resume: "Continue", verify: "Check citations again",
    sources: "Sources", recent: "Recent questions", noRuns: "Nothing has been asked yet.",
    planTitle: "The plan waits for you", approve: "Approve", approveEdited: "Approve with changes",
    addTask: "Add a task", rejectPlan: "Cancel the run", removeTask: "Remove task", task: "Task",
    page: "page", support: "support", conflict: "Sources disagree here.", missing: "What is missing",
    nearest: "Nearest passages, and why they did not do:",
    llm_calls: "Model calls", tokens: "Tokens", cost: "Cost", seconds: "Seconds",
    corpus: (n, chunks, model) => `${count(n, "document")}, ${count(chunks, "passage")} · ${model}`,
    lost: "The connection was lost; trying again…", offline: "The server cannot be reached.",
    verified: (n) => `${count(n, "citation")} checked, nothing wrong.`, unverified: (list) => `Citations that do not hold: ${list}`,
    used: (calls, searches, seconds) => `${count(calls, "model call")} · ${count(searches, "search")} · ${seconds} s`,
    dropped: (n) => `${count(n, "task")} dropped: a plan holds at most six.`, cite: (n) => `Show source ${n}`,
    searching: (query) => `Searching: ${query}`, found: (n) => `${count(n, "passage")} found`,
    node: { supervisor: "Deciding what to do…", direct: "Answering…", planner: "Making a plan…",
      researcher: "Researching…", writer: "Writing…" },
    status: { queued: "queued", running: "running", awaiting_approval: "waiting for you", completed: "answered",
      refused: "no answer", cancelled: "cancelled", failed: "failed", resumable: "interrupted" },
    reason: { no_evidence: "no evidence", irrelevant: "nothing relevant", budget: "budget used up", error: "an error" },
  },
  zh: {
    skip: "跳到答案", askLabel: "向文档提问", placeholder: "您想了解什么？",
    mode: "模式", modeAuto: "自动", modeDirect: "直接回答", modeResearch: "研究",
    approval: "计划审批", approvalAuto: "较大时", approvalAlways: "总是", approvalNever: "从不",
    send: "提问", stop: "停止", resume: "继续", verify: "重新核对引用",
    sources: "来源", recent: "最近的问题", noRuns: "还没有提问。",
    planTitle: "计划等待您的决定", approve: "批准", approveEdited: "按修改批准",
    addTask: "添加任务", rejectPlan: "取消本次运行", removeTask: "删除任务", task: "任务",
    page: "第", support: "支持度", conflict: "来源之间存在分歧。", missing: "缺少的内容",
    nearest: "最接近的段落，以及为何不足：",
    llm_calls: "模型调用", tokens: "词元", cost: "费用", seconds: "秒",
    corpus: (n, chunks, model) => `${n} 份文档，${chunks} 个段落 · ${model}`,
    lost: "连接中断，正在重试……", offline: "无法连接服务器。",
    verified: (n) => `全部 ${n} 条引用核对无误。`, unverified: (list) => `未通过核对的引用：${list}`,
    used: (calls, searches, seconds) => `模型调用 ${calls} 次 · 检索 ${searches} 次 · ${seconds} 秒`,
    dropped: (n) => `已舍去 ${n} 个任务：计划最多六个任务。`, cite: (n) => `查看来源 ${n}`,
    searching: (query) => `检索：${query}`, found: (n) => `找到 ${n} 个段落`,
    node: { supervisor: "正在决定下一步……", direct: "正在回答……", planner: "正在制定计划……",
      researcher: "正在研究……", writer: "正在撰写……" },
    status: { queued: "排队中", running: "进行中", awaiting_approval: "等待审批", completed: "已回答",
      refused: "无法回答", cancelled: "已取消", failed: "失败", resumable: "已中断" },
    reason: { no_evidence: "没有证据", irrelevant: "没有相关内容", budget: "预算用尽", error: "出错" },
  },
};

export const language = (navigator.language || "en").toLowerCase().startsWith("zh") ? "zh" : "en";
export const words = WORDS[language];

export function pageWord(label) {
  return language === "zh" ? `第 ${label} 页` : `page ${label}`;
}

export function ocrWord() {
  return language === "zh" ? "光学识别" : "read by OCR";
}

export function translate(root) {
  root.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  for (const element of root.querySelectorAll("[data-text]")) element.textContent = words[element.dataset.text];
  root.getElementById("question").placeholder = words.placeholder;
}
