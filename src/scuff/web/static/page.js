// The playground: asks the server at every keystroke, and puts its answers into rows that stay where they are.
"use strict";

const $ = (id) => document.getElementById(id);
const PATIENCE = 250; // milliseconds after which a request that is no longer wanted is given up
const STEP = 40; // milliseconds between two tries of an attack that are shown
const TRIES = 8; // that are shown at once
let about = null;

function make(tag, kind, text) {
  const made = document.createElement(tag);
  if (kind) made.className = kind;
  if (text !== undefined) made.textContent = text;
  return made;
}

async function ask(path, body, options = {}) {
  // Returns the answer of the server; throws an Error with its own words if it refuses.
  const post = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let answer;
  try {
    answer = await fetch(path, { ...post, ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer: is `scuff serve` still running?");
  }
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error);
  return found;
}

function trouble(text) {
  $("trouble").textContent = text;
  $("trouble").hidden = !text;
}

// Answers as bars

function shownLabels(answer) {
  const names = Object.keys(answer.scores);
  if (names.length <= 3) return names;
  return names.sort((a, b) => answer.scores[b] - answer.scores[a]).slice(0, 3);
}

function draw(bars, answer) {
  if (!answer || !answer.scores) {
    const text = !answer ? "" : answer.said === null ? `no answer: ${answer.problem}` : answer.said;
    bars.replaceChildren(make("span", "words", text));
    return;
  }
  const names = shownLabels(answer);
  if (bars.childElementCount !== 3 * names.length || !bars.querySelector(".bar")) {
    bars.replaceChildren();
    for (let at = 0; at < names.length; at++) {
      const bar = make("span", "bar");
      bar.append(make("i"));
      bars.append(make("span", "label"), bar, make("span", "number"));
    }
  }
  names.forEach((name, at) => {
    const [label, bar, number] = [0, 1, 2].map((part) => bars.children[3 * at + part]);
    const first = answer.labels.includes(name);
    label.textContent = label.title = name;
    label.classList.toggle("first", first);
    bar.classList.toggle("first", first);
    bar.firstChild.style.width = `${100 * answer.scores[name]}%`;
    number.textContent = answer.scores[name].toFixed(2);
  });
}

// Perturbations

const rows = new Map();

function buildRows() {
  for (const part of about.perturbations.filter((one) => !one.missing)) {
    const item = make("li");
    const name = make("h2", "", part.name);
    name.title = part.summary;
    const sign = make("span", "sign");
    name.append(sign);
    const text = make("div");
    const shown = make("p", "shown");
    shown.dir = "auto";
    const mended = make("p", "mended");
    mended.dir = "auto";
    const names = make("details", "names");
    names.append(make("summary"), make("span"));
    names.hidden = true;
    text.append(shown, names, mended);
    const bars = make("div", "bars");
    item.append(name, text, bars);
    $("rows").append(item);
    rows.set(part.name, { item, sign, shown, names, mended, bars, changed: false });
    if (!part.quick) offerSlow(part.name);
  }
  listMissing($("missing"), about.perturbations, "perturbations need something first");
}

function offerSlow(name) {
  // A perturbation that takes seconds waits until somebody wants it.
  const place = rows.get(name);
  const button = make("button", "", "Compute (slow)");
  button.type = "button";
  button.addEventListener("click", () => refreshSlow(name));
  place.changed = false;
  place.item.classList.remove("changed");
  place.sign.textContent = "";
  place.shown.replaceChildren(button);
  place.names.hidden = place.mended.hidden = true;
  place.bars.replaceChildren();
}

function showNames(box, names) {
  box.hidden = !names.length;
  const more = names.length > 2 ? ` · ${names.length - 2} more` : "";
  box.firstChild.textContent = names.slice(0, 2).join(" · ") + more;
  box.lastChild.textContent = names.slice(2).join(" · ");
}

function listMissing(box, parts, text) {
  const missing = parts.filter((one) => one.missing);
  box.hidden = !missing.length;
  box.firstElementChild.textContent = `${missing.length} ${text}`;
  for (const one of missing) {
    const item = make("li");
    item.append(make("b", "", one.name), `: ${one.missing}`);
    box.lastElementChild.append(item);
  }
}

function showMended(box, mended) {
  box.hidden = !mended;
  if (!mended) return;
  if (!mended.repairs.length) {
    box.textContent = "The shield changes nothing.";
    return;
  }
  box.innerHTML = mended.marked; // escaped by the server
  const kinds = [...new Set(mended.repairs.flatMap((one) => one.kinds))].join(", ");
  box.prepend(make("b", "", `The shield mends (${kinds}): `));
}

function render(found) {
  draw($("clean"), found.answer);
  showMended($("clean-mended"), found.mended);
  for (const row of found.rows) {
    const place = rows.get(row.perturbation);
    place.changed = row.changed;
    place.item.classList.toggle("changed", row.changed);
    const same = !row.edits.length;
    place.sign.textContent = row.problem ? "failed" : same ? "nothing to change" : !row.answer ? "not asked" : row.changed ? "✗ answer changes" : "✓ answer holds";
    place.shown.innerHTML = row.marked; // escaped by the server
    place.shown.classList.toggle("same", same);
    showNames(place.names, row.problem ? [row.problem] : row.characters);
    showMended(place.mended, same ? null : row.mended);
    draw(place.bars, row.answer);
  }
  const all = [...rows.values()].filter((one) => one.sign.textContent && one.sign.textContent !== "nothing to change");
  const changed = found.answer ? `${all.filter((one) => one.changed).length} of ` : "";
  const what = found.answer ? "change the answer" : "change the text";
  $("tally").textContent = all.length ? `${changed}${all.length} perturbations ${what}.` : "Nothing to perturb: type a text.";
}

function asked(perturbations) {
  return {
    text: $("text").value,
    strength: Number($("strength").value) / 100,
    seed: Math.max(0, Math.trunc(Number($("seed").value) || 0)),
    shield: $("shielded").checked ? $("shield").value : null,
    marked: true,
    predict: about.live || paying,
    ...(perturbations ? { perturbations } : {}),
  };
}

let paying = false; // whether a model whose answers cost is asked this time
let flight = null; // the request that is under way
let wanted = false; // whether the text has changed since

async function refresh() {
  // One request at a time; what is typed meanwhile is asked for as soon as it is answered, and only its last state.
  if (flight) {
    wanted = true;
    if (performance.now() - flight.since > PATIENCE) flight.control.abort();
    return;
  }
  wanted = false;
  const mine = (flight = { control: new AbortController(), since: performance.now() });
  const request = asked();
  paying = false;
  try {
    const found = await ask("/api/perturb", request, { signal: mine.control.signal });
    if (!wanted) {
      slowOnes().forEach(offerSlow);
      render(found);
      trouble("");
    }
  } catch (error) {
    if (error.name !== "AbortError") trouble(error.message);
  }
  flight = null;
  if (wanted) refresh();
}

function slowOnes() {
  return about.perturbations.filter((one) => !one.missing && !one.quick).map((one) => one.name);
}

async function refreshSlow(name) {
  const request = asked([name]);
  rows.get(name).shown.textContent = "computing …";
  try {
    const found = await ask("/api/perturb", request);
    if (JSON.stringify(request) === JSON.stringify(asked([name]))) render(found);
  } catch (error) {
    offerSlow(name);
    trouble(error.message);
  }
}

// Attacks

let attack = null;

function buildAttack() {
  for (const part of about.recipes) {
    const option = make("option", "", part.name);
    option.disabled = Boolean(part.missing);
    $("recipe").append(option);
  }
  const first = about.recipes.find((one) => one.name === "deepwordbug" && !one.missing) || about.recipes.find((one) => !one.missing);
  if (first) $("recipe").value = first.name;
  $("start").disabled = !first;
  describe();
  listMissing($("unfit"), about.recipes, "recipes cannot be run");
}

function describe() {
  const part = about.recipes.find((one) => one.name === $("recipe").value);
  $("paper").textContent = part ? part.summary : "";
}

function buildHeat(text) {
  const letters = Array.from(text); // positions count code points, as the server does
  const words = [];
  const box = $("heat");
  box.replaceChildren();
  for (let at = 0; at < letters.length; ) {
    let stop = at;
    const blank = /\s/u.test(letters[at]);
    while (stop < letters.length && /\s/u.test(letters[stop]) === blank) stop++;
    const piece = letters.slice(at, stop).join("");
    if (blank) box.append(piece);
    else {
      const span = make("span", "", piece);
      box.append(span);
      words.push({ start: at, stop, span, drop: 0 });
    }
    at = stop;
  }
  return words;
}

async function startAttack() {
  endAttack();
  const text = $("text").value;
  const mine = (attack = { words: buildHeat(text), queue: [], done: null, score: null, said: null, timer: 0, source: null, id: null });
  $("found").hidden = true;
  $("tries").replaceChildren();
  $("start").disabled = true;
  $("cancel").disabled = false;
  $("hunt").textContent = "Asking the model …";
  $("spent").hidden = false;
  $("spent").value = 0;
  const budget = Number($("budget").value);
  try {
    const job = await ask("/api/attack", {
      text, recipe: $("recipe").value, max_queries: budget, seed: asked().seed, shield: asked().shield,
    });
    if (attack !== mine) { // cancelled before it had a number
      ask(`/api/attack/${job.id}`, undefined, { method: "DELETE" }).catch(() => {});
      return;
    }
    mine.id = job.id;
    $("spent").max = job.max_queries;
  } catch (error) {
    if (attack === mine) finish(error.message);
    return;
  }
  mine.source = new EventSource(`/api/attack/${mine.id}/events`);
  mine.source.addEventListener("clean", (event) => {
    const { answer } = JSON.parse(event.data);
    mine.said = answer.said;
    mine.score = answer.scores ? answer.scores[answer.labels[0]] ?? null : null;
  });
  mine.source.addEventListener("tried", (event) => {
    const { queries, tries } = JSON.parse(event.data);
    mine.queue.push(...tries.map((one) => ({ ...one, queries })));
  });
  mine.source.addEventListener("done", (event) => {
    mine.done = JSON.parse(event.data);
    mine.source.close();
  });
  mine.source.addEventListener("error", (event) => {
    mine.source.close();
    if (mine.done || attack !== mine) return;
    finish(event.data ? JSON.parse(event.data).error : "The stream of events broke off.");
  });
  play(mine);
}

function play(mine) {
  // Shows the tries one after the other, faster if many wait, so that one sees them even if the model answers at once.
  if (attack !== mine) return;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const count = still ? mine.queue.length : Math.ceil(mine.queue.length / 60);
  const some = mine.queue.splice(0, count);
  some.forEach((one) => heat(mine, one));
  if (some.length) {
    const last = some[some.length - 1];
    $("spent").value = last.queries;
    $("hunt").textContent = `${last.queries} questions asked …`;
    for (const one of some.slice(-TRIES)) $("tries").prepend(tryLine(mine, one));
    while ($("tries").childElementCount > TRIES) $("tries").lastChild.remove();
  }
  if (mine.done && !mine.queue.length) return showOutcome(mine.done);
  mine.timer = setTimeout(() => play(mine), STEP);
}

function heat(mine, tried) {
  const drop = mine.score !== null && tried.score !== null ? Math.max(0, mine.score - tried.score) : 0;
  for (const word of mine.words) {
    const now = tried.words.some((one) => one.start < word.stop && (one.stop > word.start || one.start === word.start));
    word.span.classList.toggle("now", now);
    if (now && tried.words.length === 1 && drop > word.drop) {
      word.drop = drop;
      word.span.style.backgroundColor = `color-mix(in srgb, var(--worst) ${Math.round(8 + 52 * Math.min(1, drop))}%, transparent)`;
    }
  }
}

function tryLine(mine, tried) {
  const line = make("li");
  const text = Array.from($("heat").textContent);
  const words = make("span");
  tried.words.slice(0, 6).forEach((one, at) => {
    if (at) words.append(" · ");
    words.append(make("del", "", text.slice(one.start, one.stop).join("")), " → ", make("ins", "", one.new || "(left out)"));
  });
  const score = tried.score === null ? "" : ` ${tried.score.toFixed(2)}`;
  const said = tried.said === null ? "no answer" : tried.said === mine.said ? `${mine.said}${score}` : `✗ ${tried.said} (${mine.said}${score})`;
  line.append(words, make("span", "soft", said));
  return line;
}

function showOutcome(found) {
  const words = { succeeded: "Found", failed: "Nothing found", skipped: "Not attacked", cancelled: "Cancelled" }[found.state] || "Error";
  const why = found.reason ? `: ${found.reason}` : "";
  const change = found.state === "succeeded" ? `: ${found.before.said} becomes ${found.after.said}` : why;
  finish(`${words} after ${found.queries} questions${change}.`);
  if (found.state !== "succeeded") return;
  const box = $("found");
  const text = make("p");
  text.dir = "auto";
  text.innerHTML = found.marked; // escaped by the server
  const pairs = make("div", "pairs");
  for (const [name, answer] of [["before", found.before], ["after", found.after]]) {
    const one = make("div");
    const bars = make("div", "bars");
    draw(bars, answer);
    one.append(make("span", "name", name), bars);
    pairs.append(one);
  }
  box.replaceChildren(text, ...(found.characters.length ? [make("p", "names", found.characters.join(" · "))] : []), pairs);
  box.hidden = false;
}

function finish(text) {
  endAttack();
  $("hunt").textContent = text;
  document.querySelectorAll(".heat .now").forEach((one) => one.classList.remove("now"));
}

function endAttack() {
  if (attack) {
    clearTimeout(attack.timer);
    attack.source?.close();
    attack = null;
  }
  $("start").disabled = false;
  $("cancel").disabled = true;
  $("spent").hidden = true;
}

function cancelAttack() {
  const { id, done } = attack || {};
  if (id && !done) ask(`/api/attack/${id}`, undefined, { method: "DELETE", keepalive: true }).catch(() => {});
  const asked = $("spent").value;
  finish(`Cancelled after ${asked} questions.`);
}

// Runs

async function listRuns() {
  const chosen = new Set();
  try {
    const { runs, left_out } = await ask("/api/runs");
    const more = left_out ? ` ${left_out} older ones are left out.` : "";
    $("runs-told").textContent = runs.length ? `${runs.length} runs.${more}` : "No runs yet: `scuff evaluate` and `scuff attack` write some.";
    const comparing = runs.filter((one) => one.comparable).length > 1;
    offerComparison(comparing, chosen);
    const [head, body] = [$("runs-table").tHead, $("runs-table").tBodies[0]];
    head.replaceChildren();
    body.replaceChildren();
    if (!runs.length) return;
    const top = head.insertRow();
    for (const name of [...(comparing ? ["compare"] : []), "run", "command", "model", "data", "result"]) {
      const cell = make("th", "", name);
      cell.scope = "col";
      top.append(cell);
    }
    for (const run of runs) {
      const line = body.insertRow();
      if (comparing) {
        const box = make("input");
        box.type = "checkbox";
        box.disabled = !run.comparable;
        box.setAttribute("aria-label", `compare ${run.run}`);
        box.addEventListener("change", () => {
          box.checked ? chosen.add(run.run) : chosen.delete(run.run);
          offerComparison(true, chosen);
        });
        line.insertCell().append(box);
      }
      const name = make("th", "", run.report ? undefined : run.run);
      name.scope = "row";
      if (run.report) {
        const link = make("a", "", run.run);
        link.href = run.report;
        link.target = "_blank";
        link.rel = "noopener";
        name.append(link);
      }
      line.append(name);
      for (const text of [run.kind, run.model, run.data, run.what]) line.insertCell().textContent = text;
    }
  } catch (error) {
    $("runs-told").textContent = error.message;
  }
}

function offerComparison(any, chosen) {
  $("compare").hidden = !any;
  if (chosen.size > 1) $("compare").href = `/compare?${new URLSearchParams([...chosen].map((run) => ["run", run]))}`;
  else $("compare").removeAttribute("href");
  $("compare").setAttribute("aria-disabled", String(chosen.size < 2));
}

// The page

function choose(tab) {
  for (const one of document.querySelectorAll("[role=tab]")) {
    const mine = one === tab;
    one.setAttribute("aria-selected", String(mine));
    one.tabIndex = mine ? 0 : -1;
    $(one.getAttribute("aria-controls")).hidden = !mine;
  }
  if (tab.id === "tab-runs") listRuns();
  if (tab.id === "tab-perturb") refresh();
}

function begin() {
  for (const part of about.shields) {
    const option = make("option", "", part.name);
    option.title = part.summary;
    $("shield").append(option);
  }
  $("shield").value = about.shield;
  const labels = about.labels.length ? ` · ${about.labels.slice(0, 8).join(", ")}${about.labels.length > 8 ? ", …" : ""}` : "";
  $("model").textContent = `${about.model}${labels} · scuff ${about.version}`;
  buildRows();
  buildAttack();
  $("dear").hidden = about.live;
  $("ask").addEventListener("click", () => {
    paying = true;
    refresh();
  });
  for (const id of ["text", "strength", "seed"]) $(id).addEventListener("input", refresh);
  for (const id of ["shielded", "shield"]) $(id).addEventListener("change", refresh);
  $("strength").addEventListener("input", () => { $("share").textContent = `${$("strength").value} %`; });
  $("again").addEventListener("click", () => {
    $("seed").value = String((asked().seed + 1) % 1000000);
    refresh();
  });
  $("recipe").addEventListener("change", describe);
  $("start").addEventListener("click", startAttack);
  $("cancel").addEventListener("click", cancelAttack);
  $("refresh").addEventListener("click", listRuns);
  const tabs = [...document.querySelectorAll("[role=tab]")];
  tabs.forEach((tab, at) => {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(at + step + tabs.length) % tabs.length];
      next.focus();
      choose(next);
    });
  });
  addEventListener("pagehide", () => attack && cancelAttack());
  refresh();
}

ask("/api/about").then((found) => {
  about = found;
  begin();
}).catch((error) => trouble(error.message));
