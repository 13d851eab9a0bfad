// Films are sheets of frames; a canvas shows one at a time. Without scripts the first sheet stays visible.
for (const film of document.querySelectorAll(".film")) {
  const [wide, high, count, fps, across] = film.dataset.reel.split(" ").map(Number);
  const perSheet = Number(film.dataset.perSheet);
  const sheets = [...film.querySelectorAll("img")];
  const canvas = film.querySelector("canvas"), bar = film.querySelector("input");
  const button = film.querySelector("button"), said = film.querySelector("output");
  const pen = canvas.getContext("2d");
  let frame = 0, playing = false, last = 0;
  const show = () => {
    const k = frame % perSheet, sheet = sheets[Math.floor(frame / perSheet)];
    if (sheet.complete) pen.drawImage(sheet, (k % across) * wide, Math.floor(k / across) * high, wide, high, 0, 0, wide, high);
    bar.value = frame;
    said.value = (frame / fps).toFixed(2) + " s";
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
  show();
  requestAnimationFrame(tick);
}
