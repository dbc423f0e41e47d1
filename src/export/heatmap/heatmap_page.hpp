#pragma once

#include <string_view>

namespace sonde {

// Styles and script of the page. The colour of a line is the share that its row names in --t, --h,
// --m and --d; the buttons choose which.
inline constexpr std::string_view kHeatmapStyle = R"css(
:root { color-scheme: light dark; --hot: 226, 72, 24; }
* { box-sizing: border-box; }
body { margin: 0; font: 14px/1.4 system-ui, sans-serif; display: grid;
  grid-template-columns: minmax(14rem, 22rem) 1fr; min-height: 100vh; }
nav { padding: 1rem; border-right: 1px solid #8884; overflow: auto; max-height: 100vh;
  position: sticky; top: 0; }
main { padding: 1rem; overflow-x: auto; }
h1 { font-size: 1.1rem; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 0 0 .5rem; overflow-wrap: anywhere; }
nav ol { list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: .2rem .4rem; color: inherit; text-decoration: none;
  border-radius: .2rem; overflow-wrap: anywhere;
  background: linear-gradient(to right, rgba(var(--hot), .35) calc(var(--s) * 100%), transparent 0); }
nav a:hover, nav a:focus { outline: 2px solid rgba(var(--hot), .8); }
nav small { display: block; opacity: .75; }
.by button { font: inherit; padding: .2rem .7rem; margin: 0 .2rem .6rem 0; }
.by button[aria-pressed=true] { background: rgba(var(--hot), .85); color: #fff; }
section { margin-bottom: 2.5rem; }
table { border-collapse: collapse; font: 12px/1.35 ui-monospace, monospace; }
th { text-align: right; font-weight: 600; padding: 0 .6rem; opacity: .75; }
th:last-child { text-align: left; }
td { text-align: right; padding: 0 .6rem; white-space: nowrap; }
td:last-child { text-align: left; white-space: pre; padding-left: 1rem; }
td:first-child { opacity: .6; }
body.time tr { background: rgba(var(--hot), calc(var(--t, 0) * .8)); }
body.hits tr { background: rgba(30, 110, 220, calc(var(--h, 0) * .7)); }
body.memory tr { background: rgba(120, 60, 200, calc(var(--m, 0) * .7)); }
body.device tr { background: rgba(60, 150, 40, calc(var(--d, 0) * .7)); }
p { max-width: 50rem; }
)css";

inline constexpr std::string_view kHeatmapScript = R"js(
const buttons = document.querySelectorAll('.by button');
for (const button of buttons) {
  button.addEventListener('click', () => {
    document.body.className = button.dataset.by;
    for (const other of buttons) other.setAttribute('aria-pressed', String(other === button));
  });
}
const asked = location.hash.match(/^#by=(time|hits|memory|device)$/);
if (asked) document.querySelector(`.by button[data-by=${asked[1]}]`)?.click();
document.documentElement.dataset.ready = 'yes';
)js";

}  // namespace sonde
