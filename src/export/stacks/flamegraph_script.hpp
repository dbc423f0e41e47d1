#pragma once

#include <string_view>

namespace sonde {

// The program inside of a flame graph. It finds the frames by their class and reads name, place and
// width from their data attributes; sizes come from the root's. "#s=WORD" behind the file's name
// searches at the start, "#z=NAME" zooms. It must not contain the end of a CDATA section.
inline constexpr std::string_view kFlamegraphScript = R"js(
'use strict';
(function () {
  const svg = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const width = +svg.dataset.width, pad = +svg.dataset.pad, total = +svg.dataset.total;
  const frames = Array.from(document.querySelectorAll('g.f'), (g) => ({
    g, rect: g.querySelector('rect'), label: g.querySelector('text'),
    title: g.querySelector('title').textContent, name: g.dataset.n,
    x: +g.dataset.x, w: +g.dataset.w, d: +g.dataset.d, color: g.querySelector('rect').getAttribute('fill')
  }));
  let focus = frames[0], pattern = '';

  function fit(text, pixels) {
    const room = Math.floor((pixels - 6) / 7);
    const letters = Array.from(text);
    if (room < 3) return '';
    return letters.length <= room ? text : letters.slice(0, room - 2).join('') + '..';
  }

  function layout() {
    const scale = (width - 2 * pad) / focus.w;
    for (const f of frames) {
      const end = f.x + f.w, last = focus.x + focus.w;
      const above = f.d < focus.d && f.x <= focus.x && end >= last;
      const inside = f.d >= focus.d && f.x >= focus.x && end <= last;
      f.g.style.display = above || inside ? '' : 'none';
      if (!above && !inside) continue;
      const x = above ? pad : pad + (f.x - focus.x) * scale;
      const w = above ? width - 2 * pad : f.w * scale;
      f.rect.setAttribute('x', x);
      f.rect.setAttribute('width', Math.max(w, 0.1));
      f.label.setAttribute('x', x + 3);
      f.label.textContent = fit(f.name, w);
      f.g.style.opacity = above ? 0.6 : 1;
    }
    byId('reset').style.display = focus === frames[0] ? 'none' : '';
  }

  function zoom(frame) {
    focus = frame && frame.w > 0 ? frame : frames[0];
    layout();
    search(pattern);
  }

  function search(word) {
    pattern = word;
    let test = null;
    if (word) {
      try { const r = new RegExp(word); test = (s) => r.test(s); }
      catch (e) { test = (s) => s.includes(word); }
    }
    let sum = 0, until = -1, count = 0;
    for (const f of frames) {
      const hit = test !== null && f !== frames[0] && test(f.name);
      f.rect.setAttribute('fill', hit ? 'rgb(214,51,200)' : f.color);
      f.g.classList.toggle('hit', hit);
      if (!hit) continue;
      count += 1;
      // Frames come by place, the outer one first: what lies in a hit counts with it.
      if (f.x >= until) { sum += f.w; until = f.x + f.w; }
    }
    byId('matched').textContent = test === null ? '' :
      'Matched: ' + (100 * sum / total).toFixed(2) + '% in ' + count + (count === 1 ? ' frame' : ' frames');
    byId('search').textContent = test === null ? 'Search' : 'Clear search';
  }

  const byPlace = frames.slice().sort((a, b) => a.x - b.x || a.d - b.d);
  frames.splice(0, frames.length, ...byPlace);
  focus = frames[0];
  for (const f of frames) {
    f.g.addEventListener('click', () => zoom(f));
    f.g.addEventListener('mouseenter', () => { byId('details').textContent = f.title; });
    f.g.addEventListener('mouseleave', () => { byId('details').textContent = byId('details').dataset.rest; });
  }
  byId('reset').addEventListener('click', () => zoom(frames[0]));
  byId('search').addEventListener('click', () => {
    if (pattern) { search(''); return; }
    const word = prompt('Search for a name (a regular expression)', '');
    if (word) search(word);
  });
  addEventListener('keydown', (e) => {
    if (e.key === 'Escape') { zoom(frames[0]); search(''); }
    if ((e.ctrlKey && e.key === 'f') || e.key === 'F3') { e.preventDefault(); byId('search').dispatchEvent(new Event('click')); }
  });
  for (const part of location.hash.slice(1).split('&')) {
    const at = part.indexOf('=');
    if (at < 0) continue;
    let value = part.slice(at + 1);
    try { value = decodeURIComponent(value); } catch (e) { /* as it is */ }
    if (part.slice(0, at) === 'z') zoom(frames.find((f) => f.name === value));
    if (part.slice(0, at) === 's') search(value);
  }
  layout();
  svg.dataset.ready = 'yes';
})();
)js";

static_assert(kFlamegraphScript.find("]]>") == std::string_view::npos);

}  // namespace sonde
