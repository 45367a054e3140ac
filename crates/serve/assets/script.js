"use strict";

const KEY = "gyrase-searches";
const MOST = 20;

function remembered() {
  try {
    const all = JSON.parse(localStorage.getItem(KEY));
    return Array.isArray(all) ? all : [];
  } catch {
    return [];
  }
}

function remember(id, title) {
  const others = remembered().filter((one) => one.id !== id);
  try {
    localStorage.setItem(KEY, JSON.stringify([{ id, title }, ...others].slice(0, MOST)));
  } catch {
    // Who keeps nothing has no list, and misses nothing else.
  }
}

function showRecent() {
  const section = document.getElementById("recent");
  const all = remembered();
  if (!section || all.length === 0) return;
  for (const { id, title } of all) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = "/jobs/" + encodeURIComponent(id);
    link.textContent = title || id;
    item.append(link);
    section.querySelector("ul").append(item);
  }
  section.hidden = false;
}

function takeDroppedFiles() {
  const form = document.getElementById("search");
  if (!form) return;
  const [area, file] = [form.elements.queries, form.elements.file];
  area.addEventListener("dragover", (event) => {
    event.preventDefault();
    area.classList.add("over");
  });
  area.addEventListener("dragleave", () => area.classList.remove("over"));
  area.addEventListener("drop", (event) => {
    area.classList.remove("over");
    if (event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    file.files = event.dataTransfer.files;
  });
}

function told(status) {
  if (status.state === "queued") {
    const before = status.before || 0;
    if (before === 0) return "Next in the queue";
    return before + (before === 1 ? " job" : " jobs") + " before this one in the queue";
  }
  return "Running" + (status.stage ? ": " + status.stage : "");
}

function follow() {
  const job = document.getElementById("job");
  if (!job) return;
  remember(job.dataset.id, document.querySelector("h1").textContent);
  if (job.dataset.state !== "queued" && job.dataset.state !== "running") return;
  const events = new EventSource("/api/v1/jobs/" + job.dataset.id + "/events");
  events.addEventListener("status", (event) => {
    const status = JSON.parse(event.data);
    if (status.state === "done" || status.state === "failed") {
      events.close();
      location.reload();
      return;
    }
    document.getElementById("told").textContent = told(status);
    const progress = document.getElementById("progress");
    if (status.percent === undefined) progress.removeAttribute("value");
    else progress.value = status.percent;
  });
}

showRecent();
takeDroppedFiles();
follow();
