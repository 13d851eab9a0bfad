// The page around the viewer: finds WebGPU, hands files over, keeps pictures. Also inlined into reports.

// `wasm`: the module's bytes or a response with them. `gallery`: where the list of things to look at is, or none.
// `files`: [{name, bytes}] to open at once.
async function toile_page({ wasm, gallery, files = [] }) {
  const say = document.getElementById("say");
  const tell = (text) => { say.hidden = false; say.firstElementChild.textContent = text; };
  // What went wrong first is what went wrong; whatever is touched afterwards fails too.
  let over = false;
  const failed = (why) => { if (!over) tell(`The viewer cannot go on: ${why}`); over = true; };
  if (!navigator.gpu || !(await navigator.gpu.requestAdapter().catch(() => null))) {
    document.querySelector("label.button")?.remove();
    return tell("This browser offers no WebGPU, which the viewer draws with. It is there in current Chrome and Edge, in " +
      "Firefox 141 and Safari 26 and later, where graphics acceleration is switched on. The program itself needs no " +
      "browser: toile view opens a window.");
  }
  const canvas = document.getElementById("canvas");
  const keep = () => canvas.toBlob((blob) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = "toile-view.png";
    link.click();
    URL.revokeObjectURL(link.href);
  });
  // Files that belong together come together; the viewer says what is wrong with them.
  const bring = async (list) => {
    const names = [];
    for (const file of list) {
      wasm_bindgen.hand_over(file.name, new Uint8Array(await file.arrayBuffer()));
      names.push(file.name);
    }
    if (names.length) wasm_bindgen.open(names);
  };
  try {
    await wasm_bindgen({ module_or_path: await wasm });
    for (const { name, bytes } of files) wasm_bindgen.hand_over(name, bytes);
    const narrow = canvas.clientWidth < 640;
    wasm_bindgen.start(canvas, files.map((f) => f.name), failed, keep, narrow);
  } catch (why) {
    // winit leaves its own start by an exception.
    if (!String(why).includes("Using exceptions for control flow")) return failed(why);
  }
  say.hidden = true;
  canvas.focus();
  const stage = document.getElementById("stage");
  for (const event of ["dragover", "dragleave", "drop"]) {
    stage.addEventListener(event, (e) => {
      e.preventDefault();
      document.body.classList.toggle("over", event === "dragover");
      if (event === "drop") bring(e.dataTransfer.files);
    });
  }
  const input = document.getElementById("files");
  if (input) input.addEventListener("change", () => bring(input.files).then(() => (input.value = "")));
  if (gallery) await show_gallery(gallery);
}

// Buttons for what was made when the page was built.
async function show_gallery(place) {
  const answer = await fetch(place).catch(() => null);
  if (!answer || !answer.ok) return;
  for (const { title, files, names = [] } of await answer.json()) {
    const button = document.createElement("button");
    button.textContent = title;
    button.addEventListener("click", async () => {
      for (const file of files) {
        const bytes = new Uint8Array(await (await fetch(file)).arrayBuffer());
        wasm_bindgen.hand_over(file, bytes);
      }
      wasm_bindgen.open([...names, ...files]);
    });
    document.getElementById("gallery").append(button, " ");
  }
}
