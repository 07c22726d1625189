// Keeps a page up to date while somebody looks at it, without moving what they look at.

const STATUS = document.querySelector("[data-refresh]");
const PAUSED = "rankscope-paused";

function startRefreshing(status) {
  const seconds = Number(status.dataset.refresh);
  const words = document.createElement("span");
  const trouble = document.createElement("span");
  trouble.setAttribute("role", "status");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "plain";
  status.append(words, trouble, " ", button);
  let shown = document.querySelector("main").innerHTML;
  let waiting = null;
  let asked = 0;
  let answered = 0;
  let isPaused = sessionStorage.getItem(PAUSED) === "yes";
  let updated = new Date();

  function tell(problem = "") {
    const clock = updated.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
    words.textContent = problem ? "" : `Updated ${clock}`;
    trouble.textContent = problem && `Not updated since ${clock}: ${problem}`;
    button.textContent = waiting !== null ? "Show newer data" : isPaused ? "Resume" : "Pause";
  }

  async function load() {
    if (isPaused || document.hidden) return;
    asked += 1;
    const request = asked;
    let answer;
    let text = "";
    let problem = "";
    try {
      answer = await fetch(location.href, { headers: { accept: "text/html" } });
      text = await answer.text();
      if (!answer.ok) problem = "the service cannot answer now.";
    } catch {
      problem = "the service does not answer.";
    }
    // A slow answer may come after that of a later request, and says what is no longer so.
    if (request < answered) return;
    answered = request;
    if (answer?.redirected) {
      location.reload();
      return;
    }
    if (problem) {
      tell(problem);
      return;
    }
    const page = new DOMParser().parseFromString(text, "text/html");
    const content = page.querySelector("main").innerHTML;
    if (content !== shown) waiting = page;
    shown = content;
    updated = new Date();
    if (waiting !== null && !isBusy()) replace();
    tell();
  }

  // Who sorts, selects or fills in something has the page as it is until they ask for more.
  function isBusy() {
    const main = document.querySelector("main");
    const focused = document.activeElement;
    return (
      (main.contains(focused) && focused !== main) ||
      !getSelection().isCollapsed ||
      main.querySelector("[aria-sort], .picked") !== null
    );
  }

  function replace() {
    const main = document.querySelector("main");
    const open = Array.from(main.querySelectorAll("details"), (each) => each.open);
    const places = Array.from(main.querySelectorAll(".scroll"), (each) => each.scrollTop);
    const footer = document.querySelector("footer");
    main.replaceChildren(...waiting.querySelector("main").childNodes);
    footer.replaceChildren(...waiting.querySelector("footer").childNodes);
    main.querySelectorAll("details").forEach((each, number) => {
      each.open = open[number] ?? each.open;
    });
    document.title = waiting.title;
    waiting = null;
    prepare(main);
    prepare(footer);
    main.querySelectorAll(".scroll").forEach((each, number) => {
      each.scrollTop = places[number] ?? 0;
    });
  }

  button.addEventListener("click", () => {
    if (waiting !== null) replace();
    else {
      isPaused = !isPaused;
      sessionStorage.setItem(PAUSED, isPaused ? "yes" : "no");
    }
    tell();
    load();
  });
  document.addEventListener("visibilitychange", load);
  setInterval(load, 1000 * seconds);
  tell();
  load();
}

function prepare(root) {
  localize(root);
  prepareTables(root);
  prepareCharts(root);
}

if (STATUS !== null) startRefreshing(STATUS);
