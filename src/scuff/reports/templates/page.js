"use strict";
for (const button of document.querySelectorAll("button.copy")) {
  const code = button.parentElement.querySelector("code");
  button.hidden = false;
  button.addEventListener("click", async () => {
    let done = true;
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      // a page from disk may have no clipboard: select the text, for the reader's own keys
      const range = document.createRange();
      range.selectNodeContents(code);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      done = document.execCommand("copy");
    }
    const said = done ? "Copied" : "Selected";
    button.textContent = said;
    document.getElementById("status").textContent = said;
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}

// search and filters of examples
const bar = document.querySelector(".filters");
const list = document.getElementById("samples");
if (bar && list) {
  const STEP = 20;
  const more = document.getElementById("samples-more");
  if (more) {
    list.append(...more.querySelectorAll(".samples > li"));
    more.remove();
  }
  const all = [...list.children];
  const found = document.getElementById("filter-found");
  const whole = found.textContent;
  const next = document.getElementById("samples-next");
  const search = document.getElementById("filter-text");
  const selects = [...bar.querySelectorAll("select")];
  let shown = STEP, words = null;

  // what a reader may look for: the text before and the text after the change, each without the marks of the other
  const read = (node, both) => {
    for (const child of node.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) {
        both[0] += child.data;
        both[1] += child.data;
      } else if (child.nodeName === "DEL") {
        both[0] += child.textContent;
      } else if (child.nodeName === "INS") {
        both[1] += child.textContent;
      } else {
        read(child, both);
      }
    }
    return both;
  };
  const texts = () => words ??= all.map((one) => read(one, ["", ""]).join("\n").toLowerCase());

  const show = () => {
    const sought = search.value.trim().toLowerCase();
    const chosen = selects.filter((select) => select.value);
    let count = 0;
    all.forEach((one, at) => {
      const fits = chosen.every((select) => one.dataset[select.dataset.filter] === select.value)
        && (!sought || texts()[at].includes(sought));
      one.hidden = !fits || ++count > shown;
    });
    next.hidden = count <= shown;
    found.textContent = sought || chosen.length ? `${count} of ${all.length} examples.` : whole;
  };
  const anew = () => { shown = STEP; show(); };
  const clear = () => {
    search.value = "";
    for (const select of selects) select.value = "";
    anew();
  };
  search.addEventListener("input", anew);
  for (const select of selects) select.addEventListener("change", anew);
  document.getElementById("filter-none").addEventListener("click", clear);
  next.addEventListener("click", () => {
    const first = shown;
    shown += STEP;
    show();
    const fresh = all.filter((one) => !one.hidden)[first];
    if (fresh) { fresh.tabIndex = -1; fresh.focus(); }
  });
  for (const link of document.querySelectorAll("a[data-show]")) {
    link.addEventListener("click", () => {
      clear();
      for (const select of selects) if (select.dataset.filter === "dimension") select.value = link.dataset.show;
      anew();
    });
  }
  bar.hidden = false;
  show();
  (window.requestIdleCallback ?? setTimeout)(texts);
}
