// Pages have times in UTC, and say so: this writes them in the time zone of the browser. Days that
// values are computed for are days of UTC, and stay as they are.

const LOCAL = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
  timeZoneName: "short",
});
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function writeTime(moment) {
  const parts = {};
  for (const { type, value } of LOCAL.formatToParts(moment)) parts[type] = value;
  const day = `${parts.day} ${parts.month.slice(0, 3)} ${parts.year}`;
  return `${day}, ${parts.hour}:${parts.minute} ${parts.timeZoneName}`;
}

function localizeTime(element) {
  if (!element.dateTime.includes("T")) return;
  element.title = element.textContent;
  element.textContent = writeTime(new Date(element.dateTime));
}

// Round moments of the time zone, at steps that fit the chart; weeks begin on Mondays.
function* listTicks(since, until, step) {
  const at = new Date(since);
  at.setHours(0, 0, 0, 0);
  const days = Math.round(step / DAY);
  if (days > 1) {
    const number = Math.floor((at.getTime() - 60_000 * at.getTimezoneOffset()) / DAY);
    at.setDate(at.getDate() - ((number - (days % 7 === 0 ? 4 : 0)) % days));
  }
  while (at.getTime() <= until) {
    if (at.getTime() >= since) yield new Date(at);
    if (days >= 1) at.setDate(at.getDate() + days);
    else at.setHours(at.getHours() + step / HOUR);
  }
}

function writeTick(moment) {
  const [day, month] = LOCAL.format(moment).split(" ");
  const isMidnight = moment.getHours() === 0 && moment.getMinutes() === 0;
  if (isMidnight) return `${day} ${month.slice(0, 3)}`;
  const clock = [moment.getHours(), moment.getMinutes()];
  return clock.map((number) => String(number).padStart(2, "0")).join(":");
}

function localizeAxis(plane) {
  const [since, until, step] = ["since", "until", "step"].map((name) => Number(plane.dataset[name]));
  const old = plane.querySelectorAll(":scope > .tick, :scope > .notch");
  const texts = Array.from(listTicks(since, until, step));
  texts.forEach((moment, number) => {
    const x = `${(100 * (moment.getTime() - since)) / (until - since)}%`;
    const notch = makeMark("line", { class: "notch", x1: x, x2: x, y1: "100%", y2: "100%" });
    const share = (moment.getTime() - since) / (until - since);
    const anchor = share < 0.03 ? "start" : share > 0.97 ? "end" : "middle";
    const between = number % 2 === 1 && texts.length > 5 ? " between" : "";
    const place = { class: `tick${between}`, x, y: "100%", dy: "1.5em", "text-anchor": anchor };
    const text = makeMark("text", place);
    text.textContent = writeTick(moment);
    old[0]?.before(notch, text);
  });
  for (const each of old) each.remove();
}

function makeMark(kind, attributes) {
  const mark = document.createElementNS("http://www.w3.org/2000/svg", kind);
  for (const [name, value] of Object.entries(attributes)) mark.setAttribute(name, value);
  return mark;
}

function localize(root) {
  root.querySelectorAll("time").forEach(localizeTime);
  root.querySelectorAll(".plane[data-step]").forEach(localizeAxis);
  for (const each of root.querySelectorAll("[data-zone]")) {
    each.textContent = `Times are in your time zone, ${LOCAL.resolvedOptions().timeZone}.`;
  }
}

localize(document);
