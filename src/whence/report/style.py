"""How the page looks: light and dark, on a screen, on a phone and on paper."""

from __future__ import annotations

LIGHT = """
  --paper: #ffffff; --panel: #ffffff; --shade: #f3f5f8; --ink: #1f2328; --quiet: #57606a;
  --line: #d0d7de; --accent: #0a58a8; --loss: #a8381a; --good: #e8f5ec; --good-edge: #1a7f37;
  --doubt: #fff4e0; --doubt-edge: #a35a00; --alive: #eaf2fb; --dead: #eceef0; --solid: #424a53;
  --one: #0a58a8; --two: #b34a00; --three: #00735a; --four: #8a3fa0; --five: #6b5900;
  --six: #a3245f; --heat: #7b4fb5; --lit: #ffd257;
"""

DARK = """
  --paper: #12161b; --panel: #1a2027; --shade: #1f262e; --ink: #e8edf2; --quiet: #aab4bf;
  --line: #3a434d; --accent: #7ab8ff; --loss: #ff9f7d; --good: #12301d; --good-edge: #4ac26b;
  --doubt: #3a2a10; --doubt-edge: #f0a83c; --alive: #22364d; --dead: #2a3037; --solid: #59636e;
  --one: #7ab8ff; --two: #ffa05c; --three: #4fd1ae; --four: #d9a2ea; --five: #e0c54a;
  --six: #ff93bf; --heat: #a97ff0; --lit: #8a6a00;
"""

PAGE = """
*, ::before, ::after { box-sizing: border-box; }
html { color-scheme: light dark; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: anywhere;
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
header, nav, main, footer { max-width: 62rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 1.2rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0; }
.subtitle { margin: .2rem 0; }
h2 { font-size: 1.35rem; margin: 0 0 .75rem; padding-top: .25rem; }
h3 { font-size: 1.1rem; margin: 1.75rem 0 .5rem; }
p { margin: .6rem 0; max-width: 46rem; }
a { color: var(--accent); }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
  font-size: .92em; }
code { background: var(--shade); border-radius: .25rem; padding: .05em .3em;
  white-space: pre-wrap; }
pre { background: var(--shade); border-radius: .5rem; padding: .8rem 1rem; margin: .8rem 0; }
pre code { padding: 0; background: none; white-space: pre; overflow-wrap: normal; }
.subtitle, .note, figcaption, caption { color: var(--quiet); }
.note, figcaption, caption { font-size: .92rem; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--paper); padding: .5rem 1rem; z-index: 1; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
nav { font-size: .95rem; }
nav ul { display: flex; flex-wrap: wrap; gap: .3rem .95rem; list-style: none; padding: .7rem 0;
  margin: .5rem 0 0; border-block: 1px solid var(--line); }
section { padding: 1.2rem 0; border-bottom: 1px solid var(--line); }
section:last-of-type { border-bottom: 0; }
.lead { font-size: 1.25rem; line-height: 1.5; max-width: 50rem; }
.sure { white-space: nowrap; font-size: .8em; font-weight: 600; color: var(--good-edge);
  border: 1px solid; border-radius: 1em; padding: .1em .6em; margin-left: .2em; }
.shaky { color: var(--doubt-edge); white-space: normal; display: inline-block; line-height: 1.3; }
.surer { margin: .5rem 0; max-width: none; }
.command { user-select: all; }
.first { display: grid; gap: 1rem; margin: .8rem 0;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }
.first figure { margin: 0; display: flex; flex-direction: column; }
.first .scroll { flex: 1; display: grid; place-items: center; }
.first svg { max-height: 18.5rem; width: auto; }
.words { max-width: 46rem; }
.words dt { font-weight: 600; }
.words dd { margin: 0 0 .5rem; }
.notice { border-left: 4px solid; border-radius: .25rem; padding: .3rem 1rem; margin: 1rem 0; }
.notice ul { margin: .3rem 0 .6rem; padding-left: 1.2rem; }
.good { background: var(--good); border-color: var(--good-edge); }
.doubt { background: var(--doubt); border-color: var(--doubt-edge); }
.facts { display: grid; gap: .75rem; margin: 1.2rem 0 .2rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 10.5rem), 1fr)); }
.facts div { background: var(--shade); border-radius: .5rem; padding: .7rem .9rem;
  display: flex; flex-direction: column; justify-content: space-between; gap: .3rem; }
.facts dt { color: var(--quiet); font-size: .88rem; line-height: 1.3; }
.facts dd { margin: 0; font-size: 1.2rem; font-weight: 600; }
.scroll { overflow-x: auto; }
figure { margin: 1rem 0; }
figcaption { max-width: 46rem; margin-top: .4rem; }
.drawing .scroll { border: 1px solid var(--line); border-radius: .5rem; background: var(--panel);
  padding: .5rem; text-align: center; }
.drawing svg { display: inline-block; vertical-align: top; height: auto; max-width: 100%;
  min-width: var(--least); }
.cards { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); }
.cards figure { margin: 0; }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1rem; margin: 1rem 0 .7rem;
  font-size: .92rem; color: var(--quiet); align-items: center; }
.legend ul { display: flex; flex-wrap: wrap; gap: .2rem .9rem; list-style: none; margin: 0;
  padding: 0; }
.swatch { display: inline-block; width: 1.1em; height: 1.1em; border-radius: .2em;
  margin-right: .35em; vertical-align: -.2em; background: var(--heat);
  opacity: var(--heat-shade); }
.key { white-space: nowrap; margin-right: .8rem; }
.dash { display: inline-block; width: 1.4em; border-top: 3px solid; vertical-align: .25em;
  margin-right: .35em; }
table { border-collapse: collapse; margin: .8rem 0; font-variant-numeric: tabular-nums;
  overflow-wrap: normal; }
caption { text-align: left; padding-bottom: .35rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .9rem .35rem 0;
  border-bottom: 1px solid var(--line); }
th:last-child, td:last-child { padding-right: 0; }
thead th { border-bottom: 2px solid var(--line); font-size: .92rem; vertical-align: bottom; }
tbody th { font-weight: 400; }
.number { text-align: right; white-space: nowrap; }
.sequence { white-space: nowrap; }
.bar { display: block; width: calc(9rem * var(--n, 1)); height: .55rem; border-radius: .2rem;
  margin-top: .35rem; margin-bottom: .1rem; background: linear-gradient(to right,
  var(--one) var(--share), var(--shade) var(--share)); }
details { margin: .9rem 0; }
summary { cursor: pointer; color: var(--accent); width: fit-content; padding: .2rem 0; }
footer { color: var(--quiet); font-size: .92rem; padding-top: 1rem; padding-bottom: 3rem; }
"""

DRAWINGS = """
.drawing rect.background { fill: var(--panel); }
.drawing rect.label { fill: var(--panel); }
.drawing rect.state[fill="#eaf2fb"] { fill: var(--alive); }
.drawing rect.state[fill="#eceef0"] { fill: var(--dead); }
.drawing [stroke="#1f2328"] { stroke: var(--ink); }
.drawing [stroke="#6e7781"] { stroke: var(--quiet); }
.drawing [stroke="#0a58a8"] { stroke: var(--accent); }
.drawing [stroke="#b3401f"] { stroke: var(--loss); }
.drawing [stroke="#d8dee4"] { stroke: var(--line); }
.drawing [fill="#1f2328"] { fill: var(--ink); }
.drawing [fill="#57606a"], .drawing [fill="#6e7781"] { fill: var(--quiet); }
.drawing [fill="#0a58a8"] { fill: var(--accent); }
.drawing [fill="#b3401f"] { fill: var(--loss); }
.drawing [fill="#424a53"] { fill: var(--solid); }
.drawing .heat { fill: var(--heat); }
.drawing .policy[fill="#1f2328"] { stroke: var(--panel); stroke-width: 2; paint-order: stroke; }
.drawing circle.place[fill="#ffffff"] { fill: var(--panel); }
.way path[fill="none"] { stroke: var(--series); }
.way path:not([fill]), .way circle { fill: var(--series); }
.one-way, .agent-way { --series: var(--one); } .other-way, .expert-way { --series: var(--two); }
.expert-way, .agent-way { opacity: .45; }
.token circle { fill: var(--two); stroke: var(--panel); stroke-width: 2; }
.agent-panel .token circle { fill: var(--one); }
.next { border: 1px solid var(--line); border-radius: .5rem; padding: .4rem 1.1rem .8rem; }
.next .dash { border-color: var(--series); }
.next svg { max-height: 24rem; width: auto; }
.light { text-align: center; margin-top: .5rem; }
.light svg { max-height: 15rem; width: auto; }
.replay .token, .replay .light rect.state { animation-duration: var(--length);
  animation-timing-function: linear; animation-iteration-count: infinite; }
.replay .light rect.state { animation-timing-function: step-end; }
.still { margin: .4rem .5rem .8rem 0; }
.still:checked ~ .replay * { animation-play-state: paused !important; }
.chart { font-family: inherit; }
.chart text { fill: var(--quiet); }
.chart .grid { stroke: var(--line); }
.chart .axis { stroke: var(--quiet); }
.chart .line { fill: none; stroke: var(--series); stroke-width: 1.5; stroke-linejoin: round; }
.chart rect { fill: var(--series); }
.dash { border-color: var(--series); }
.series-0 { --series: var(--one); } .series-1 { --series: var(--two); }
.series-2 { --series: var(--three); } .series-3 { --series: var(--four); }
.series-4 { --series: var(--five); } .series-5 { --series: var(--six); }
"""

CALM = """
@media (prefers-reduced-motion: reduce) {
  .replay * { animation: none !important; }
  .still, .still + label { display: none; }
}
"""

PHONE = """
@media (max-width: 36rem) {
  body { font-size: .97rem; }
  header, nav, main, footer { padding-left: .9rem; padding-right: .9rem; }
  h1 { font-size: 1.5rem; }
  .lead { font-size: 1.1rem; }
  .drawing .scroll { padding: .25rem; }
  table { font-size: .9rem; }
  th, td { padding-right: .6rem; min-width: 2.4rem; }
  tbody th { min-width: 6.5rem; }
}
"""

PAPER = """
@page { margin: 18mm 16mm; }
@media print {
  html { font-size: 9.5pt; }
  body { font-size: 1rem; }
  nav, .skip { display: none; }
  header, main, footer { max-width: none; padding-left: 0; padding-right: 0; }
  header { padding-top: 0; }
  section { padding: .9rem 0; }
  .scroll { overflow: visible; }
  .drawing .scroll { border-color: #d0d7de; }
  .drawing svg { min-width: 0; max-height: 9cm; }
  .drawing .chart { width: 13cm; }
  .cards { display: block; }
  .cards > * { display: inline-block; width: 48.5%; margin-right: 1%; vertical-align: top; }
  .next, #replay { break-inside: avoid; }
  .next svg, .cards svg { max-height: 7cm; }
  .replay * { animation: none !important; }
  .still, .still + label { display: none; }
  pre code { white-space: pre-wrap; }
  table { font-size: .92rem; overflow-wrap: anywhere; }
  .number, .sequence { white-space: normal; }
  h2, h3, caption, summary, thead, dt { break-after: avoid; }
  .facts { grid-template-columns: repeat(5, 1fr); }
  .legend { break-inside: avoid; break-after: avoid; }
  figure, tr, caption, .short, .notice, .facts, .cards > *, pre { break-inside: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; }
  summary { list-style: none; color: inherit; font-weight: 600; }
  a { color: inherit; text-decoration: none; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""


def css() -> str:
    """Return the style sheet; paper is always light."""
    return (
        f":root {{{LIGHT}}}\n@media screen and (prefers-color-scheme: dark) {{ :root {{{DARK}}} }}"
        f"\n{PAGE}{DRAWINGS}{CALM}{PHONE}{PAPER}"
    )
