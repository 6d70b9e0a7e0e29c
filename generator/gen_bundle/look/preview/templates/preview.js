"use strict";
// Dates in the reader's own zone, what is running now, and where now lies on the axis. The page is complete without.
{
  const now = Date.now();
  const format = new Intl.DateTimeFormat("en-US", {
    weekday: "short", day: "2-digit", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit",
    hourCycle: "h23",
  });
  for (const time of document.querySelectorAll("time[data-local]")) {
    const parts = format.formatToParts(new Date(time.dateTime));
    const part = Object.fromEntries(parts.map(({type, value}) => [type, value]));
    const day = [part.weekday, part.day, part.month, part.year].join("\u00a0");
    time.textContent = `${day}, ${part.hour}:${part.minute}`;
  }
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  for (const place of document.querySelectorAll("[data-zone]")) {
    place.textContent = `(${zone.replaceAll("_", " ")})`;
  }
  for (const badge of document.querySelectorAll("[data-starts]")) {
    const starts = Date.parse(badge.dataset.starts);
    const ends = Date.parse(badge.dataset.ends);
    if (Number.isNaN(starts)) continue;
    badge.textContent = now < starts ? "not yet open" : now > ends ? "over" : "open now";
    badge.classList.toggle("open", badge.textContent === "open now");
    badge.hidden = false;
  }
  // Wide tables say so, where there is something beyond their edge.
  const hints = [...document.querySelectorAll(".hint")];
  const look = () => {
    for (const hint of hints) {
      const table = hint.nextElementSibling;
      hint.hidden = table.scrollWidth <= table.clientWidth;
    }
  };
  look();
  addEventListener("resize", look);
  const axis = document.querySelector(".axis");
  if (axis) {
    const first = Date.parse(axis.dataset.first);
    const share = (now - first) / (Date.parse(axis.dataset.last) - first);
    const mark = axis.querySelector(".now");
    mark.style.left = `${100 * share}%`;
    mark.hidden = share < 0 || share > 1;
  }
}
