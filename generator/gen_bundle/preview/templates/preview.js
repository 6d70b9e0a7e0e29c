"use strict";
// Dates in the reader's own zone, what is running now, and where now lies on the axis. The page is complete without.
{
  const now = Date.now();
  const text = new Intl.DateTimeFormat("en-GB", {
    weekday: "short", day: "2-digit", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit",
  });
  for (const time of document.querySelectorAll("time[data-local]")) {
    time.textContent = text.format(new Date(time.dateTime)).replace(",", "");
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
  const axis = document.querySelector(".axis");
  if (axis) {
    const first = Date.parse(axis.dataset.first);
    const share = (now - first) / (Date.parse(axis.dataset.last) - first);
    const mark = axis.querySelector(".now");
    mark.style.left = `${100 * share}%`;
    mark.hidden = share < 0 || share > 1;
  }
}
