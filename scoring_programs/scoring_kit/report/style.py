"""How the results page looks: system fonts, one column, light and dark, from 360 pixels up."""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fff; --card: #f7f8fa; --ink: #1c2127; --soft: #57606c; --line: #d9dee4; --accent: #1f5fa8;
  --bar: #3d7cc2; --track: #e6eaef; --heat: 61, 124, 194; --tp: #1f7a6d; --fp: #b3541e; --fn: #8b95a1;
  --note: #fff6e0; --note-line: #c98a1b;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #111418; --card: #191e24; --ink: #e4e8ed; --soft: #a3adb9; --line: #303842; --accent: #86b7ee;
    --bar: #5f9de0; --track: #262d35; --heat: 95, 157, 224; --tp: #4fb8a8; --fp: #e08a55; --fn: #6f7b88;
    --note: #2a2416; --note-line: #d8a240;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: clamp(1rem, 4vw, 2.5rem); max-width: 60rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 1.5rem; letter-spacing: -.01em; }
h2 { font-size: 1.2rem; line-height: 1.3; margin: 0 0 .75rem; }
section { margin: 2.5rem 0 0; }
.eyebrow { margin: 0; font-size: .8rem; letter-spacing: .06em; text-transform: uppercase; color: var(--soft); }
.soft { color: var(--soft); font-size: .875rem; font-weight: 400; }
p.soft { margin: .25rem 0 .5rem; }
code { font-size: .85rem; overflow-wrap: anywhere; }
summary { cursor: pointer; padding: .5rem 0; font-weight: 600; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }

.facts { display: flex; flex-wrap: wrap; gap: .1rem 1.5rem; padding: 0; margin: -1rem 0 1.5rem; list-style: none; }
.facts li { color: var(--soft); font-size: .875rem; overflow-wrap: anywhere; }
.facts b { color: var(--ink); font-weight: 600; }

.primary {
  background: var(--card); border: 1px solid var(--accent); box-shadow: inset 0 3px 0 var(--accent);
  border-radius: .6rem; padding: .9rem 1.1rem; margin: 0;
}
.primary h2 { font-size: .95rem; font-weight: 600; margin: 0; }
.primary strong {
  display: block; font-size: 2.4rem; line-height: 1.25; font-weight: 650; letter-spacing: -.02em;
  font-variant-numeric: tabular-nums;
}
.primary.absent strong { color: var(--soft); font-weight: 400; }

.note {
  background: var(--note); border-left: 4px solid var(--note-line); border-radius: .3rem; padding: 1rem 1.25rem;
}
.note ul { margin: 0; padding-left: 1.1rem; overflow-wrap: anywhere; }
.note h2 { font-size: 1rem; margin-bottom: .4rem; }
.note p { margin: .4rem 0 0; overflow-wrap: anywhere; }

table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; font-weight: 400; }
tr > * { border-bottom: 1px solid var(--line); padding: .45rem .75rem .45rem 0; }
tr > :last-child { padding-right: 0; }
thead th { font-size: .8rem; color: var(--soft); vertical-align: bottom; }
th[scope="row"] { width: 100%; overflow-wrap: anywhere; }
th[scope="rowgroup"] { font-size: .875rem; color: var(--soft); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.scores th[scope="row"] > span:first-child { font-weight: 600; display: block; }
.scores td.number:nth-child(2) { font-weight: 650; }
.better { white-space: nowrap; }

figure { margin: 1.75rem 0 0; }
figcaption { font-weight: 600; }
.bars td, .bars th[scope="row"] { font-size: .9rem; line-height: 1.35; }
.bars svg { display: block; margin-top: .2rem; border-radius: 4px; }
.track { fill: var(--track); } .bar { fill: var(--bar); }
.tp { fill: var(--tp); } .fp { fill: var(--fp); } .fn { fill: var(--fn); }
.counts tr > * { padding-right: .6rem; }
@media (min-width: 40rem) {
  .bars tr > * { padding-top: .25rem; padding-bottom: .25rem; }
  .bars th > div { display: grid; grid-template-columns: 16rem 1fr; gap: 1rem; align-items: center; }
}
.legend {
  display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; margin: .25rem 0; list-style: none;
  font-size: .875rem;
}
.scroll { overflow-x: auto; }
.matrix { width: auto; }
.matrix th, .matrix td { border: 0; font-size: .9rem; line-height: 1.3; }
.matrix thead th { padding: .3rem; text-align: center; }
.matrix thead th:first-child { padding-left: 0; text-align: left; }
.matrix th[scope="row"] { width: auto; overflow-wrap: normal; padding: .55rem .75rem .55rem 0; }
.matrix td {
  text-align: center; vertical-align: middle; min-width: 2.9rem; padding: .55rem .3rem;
  font-variant-numeric: tabular-nums; border: 2px solid var(--paper);
  background: rgba(var(--heat), calc(var(--share, 0) * .55));
}
.matrix td.right { box-shadow: inset 0 0 0 2px var(--accent); font-weight: 650; }
"""
