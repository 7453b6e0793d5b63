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
