// Films are sheets of frames; a canvas shows one at a time. Without scripts the first sheet stays visible.
const films = [...document.querySelectorAll(".film")];
const marks = [...document.querySelectorAll(".mark")];
for (const film of films) {
  const [wide, high, count, fps, across] = film.dataset.reel.split(" ").map(Number);
  const perSheet = Number(film.dataset.perSheet), panes = Number(film.dataset.panes);
  const sheets = [...film.querySelectorAll("img")];
  const canvas = film.querySelector("canvas"), bar = film.querySelector("input");
  const button = film.querySelector("button"), said = film.querySelector("output");
  const pen = canvas.getContext("2d"), narrow = matchMedia("(max-width: 40rem)");
  const pane = wide / panes;
  let columns = panes, frame = 0, playing = false, last = 0;
  const show = () => {
    const k = frame % perSheet, sheet = sheets[Math.floor(frame / perSheet)];
    const left = (k % across) * wide, top = Math.floor(k / across) * high;
    if (sheet.complete) {
      for (let p = 0; p < panes; p += 1) {
        pen.drawImage(sheet, left + p * pane, top, pane, high, (p % columns) * pane, Math.floor(p / columns) * high, pane, high);
      }
    }
    bar.value = frame;
    said.value = (frame / fps).toFixed(2) + " s";
    film.dataset.frame = frame;
    if (film !== films[0]) return;
    for (const mark of marks) {
      const [from, to, x0, x1] = mark.dataset.span.split(" ").map(Number);
      const x = x0 + (x1 - x0) * Math.min(1, Math.max(0, (frame / fps - from) / (to - from)));
      mark.setAttribute("x1", x);
      mark.setAttribute("x2", x);
    }
  };
  // Panes in a row would be stamps on a telephone: two by two there.
  const fit = () => {
    columns = narrow.matches && panes > 2 ? 2 : panes;
    canvas.width = columns * pane;
    canvas.height = Math.ceil(panes / columns) * high;
    show();
  };
  const set = (on) => { playing = on; button.textContent = on ? "❚❚" : "▶"; button.setAttribute("aria-label", on ? "Pause" : "Play"); };
  const tick = (now) => {
    if (playing && now - last >= 1000 / fps) {
      frame = (frame + Math.max(1, Math.min(3, Math.floor((now - last) * fps / 1000)))) % count;
      last = now;
      show();
    }
    requestAnimationFrame(tick);
  };
  button.onclick = () => set(!playing);
  bar.oninput = () => { set(false); frame = Number(bar.value); show(); };
  sheets.forEach((s) => { s.hidden = true; s.addEventListener("load", show); });
  canvas.hidden = false;
  film.querySelector(".reel").hidden = false;
  set(!matchMedia("(prefers-reduced-motion: reduce)").matches);
  narrow.addEventListener("change", fit);
  fit();
  requestAnimationFrame(tick);
}
