// Opens the viewer's page in headless Chromium as a user would: node page.mjs PROGRAM FOLDER PICTURES NODE_MODULES [REPORT]
// Fails where the console complains, the garment stands still, a file that is dropped or chosen does not appear, a broken one is
// not said, or a phone's width does not work; with a demo's report, where the live view in it does not move. Pictures of
// each are kept.
import { createRequire } from "node:module";
import { execFileSync, spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import fs from "node:fs";
import path from "node:path";

const [program, folder, pictures, modules, report] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(modules), "x.js"));
const { chromium } = require("playwright-core");
const server = spawn(program, ["view", "--web", "--folder", folder]);
const address = await new Promise((resolve, reject) => {
  server.stdout.on("data", (text) => resolve(String(text).match(/http:\S+/)[0]));
  server.stderr.on("data", (text) => reject(new Error(String(text))));
});
const quiet = ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];
const webgpu = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-unsafe-swiftshader",
  "--ignore-gpu-blocklist", "--use-gl=angle", "--use-angle=swiftshader", "--enable-features=Vulkan", "--use-vulkan=swiftshader"];
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const faults = [];

// A picture of the page as the reader sees it, and how many of its pixels differ from another.
const seen = async (page, name) => {
  const file = path.join(pictures, `page-${name}.png`);
  await page.screenshot({ path: file, timeout: 120000 });
  return fs.readFileSync(file);
};
const differ = (page, a, b) => page.evaluate(async ([a, b]) => {
  const pixels = async (base64) => {
    const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob());
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const context = canvas.getContext("2d");
    context.drawImage(bitmap, 0, 0);
    return context.getImageData(0, 0, bitmap.width, bitmap.height).data;
  };
  const [p, q] = [await pixels(a), await pixels(b)];
  let count = 0;
  for (let i = 0; i < Math.min(p.length, q.length); i += 4) {
    if (Math.abs(p[i] - q[i]) + Math.abs(p[i + 1] - q[i + 1]) + Math.abs(p[i + 2] - q[i + 2]) > 24) count += 1;
  }
  return count;
}, [a.toString("base64"), b.toString("base64")]);
const red = (page, picture) => page.evaluate(async (base64) => {
  const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob());
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext("2d");
  context.drawImage(bitmap, 0, 0);
  const p = context.getImageData(0, 0, bitmap.width, bitmap.height).data;
  let count = 0;
  for (let i = 0; i < p.length; i += 4) if (p[i] > 120 && p[i + 1] < 50 && p[i + 2] < 50) count += 1;
  return count;
}, picture.toString("base64"));
const drop = (page, name, bytes) => page.evaluate(async ([name, base64]) => {
  const data = new DataTransfer();
  data.items.add(new File([await (await fetch(`data:;base64,${base64}`)).blob()], name));
  document.getElementById("stage").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}, [name, Buffer.from(bytes).toString("base64")]);
// Looks again until it is as it should be; drawing by software takes its time.
const until = async (what, fault, tries = 40) => {
  for (let k = 0; k < tries; k += 1) {
    const value = await what();
    if (value !== null) return value;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  fault();
  return null;
};

const cube = "v -0.3 0.9 -0.3\nv 0.3 0.9 -0.3\nv 0.3 1.2 -0.3\nv -0.3 1.2 -0.3\nv -0.3 0.9 0.3\nv 0.3 0.9 0.3\n" +
  "v 0.3 1.2 0.3\nv -0.3 1.2 0.3\nf 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 2 3 7 6\nf 4 1 5 8\n";
const character = path.join(pictures, "page-character.glb");
execFileSync(program, ["convert", "mannequin:male", character, "--motion", "run", "--garment", "skirt", "--force"]);
const model = path.join(folder, "gallery/dress.toile");
let browser = await chromium.launch({ executablePath, args: [...quiet, ...webgpu] });
for (const [name, width, height] of [["desk", 900, 600], ["phone", 390, 780]]) {
  const page = await (await browser.newContext({ viewport: { width, height } })).newPage();
  const fault = (what) => faults.push(`${name}: ${what}`);
  // Software draws a frame in a second where others work on the machine as well.
  page.setDefaultTimeout(120000);
  page.on("console", (m) => { if (m.type() === "error") fault(`console: ${m.text()}`); });
  page.on("pageerror", (e) => { if (!e.message.includes("control flow")) fault(`script: ${e.message}`); });
  await page.goto(address);
  const shown = await until(async () => (await page.locator("#say").isHidden()) ? true : null, () => fault("it never starts"), 60);
  if (!shown) { await seen(page, `${name}-failed`); continue; }
  await page.waitForTimeout(1500);
  const first = await seen(page, `${name}-open`);
  await until(async () => {
    const now = await seen(page, `${name}-plays`);
    return await differ(page, first, now) > 300 ? true : null;
  }, () => fault("the garment stands still"));
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (over > 0) fault(`the page is ${over} px too wide`);
  if (name === "desk") {
    const learned = page.getByRole("button", { name: "learned dress" });
    if (await learned.count()) {
      await learned.click();
      await page.waitForTimeout(4000);
      await seen(page, "desk-learned");
    }
    await page.locator("#canvas").focus();
    await page.keyboard.press("Space");
    await page.waitForTimeout(1500);
    const before = await seen(page, "desk-paused");
    const appears = (what, name, before, least = 2000) => until(async () => {
      const now = await seen(page, name);
      return await differ(page, before, now) > least ? now : null;
    }, () => fault(`${what} does not appear`));
    await drop(page, "cube.obj", cube);
    let now = await appears("a dropped garment", "desk-dropped", before);
    await drop(page, "character.glb", fs.readFileSync(character));
    now = await appears("a dropped character", "desk-character", now);
    if (now && fs.existsSync(model)) {
      // By the button this time, and the good part of a broken one after it.
      await page.locator("#files").setInputFiles(model);
      now = await appears("a model that was chosen", "desk-chosen", now);
    }
    const half = fs.existsSync(model) ? fs.readFileSync(model).subarray(0, 20000) : "this is no model";
    for (const [name, bytes] of [["cut.toile", half], ["empty.glb", ""], ["notes.txt", "hello"]]) {
      // Messages go after a while: first the one before, so that what is red is new.
      const file = `desk-broken-${name.split(".")[0]}`;
      await until(async () => (await red(page, await seen(page, file)) < 100 ? true : null),
        () => fault("what was said before never goes"), 120);
      // And the new one, where a picture takes longer than it stays: it is dropped again until it is seen.
      await until(async () => {
        await drop(page, name, bytes);
        await page.waitForTimeout(500);
        return await red(page, await seen(page, file)) > 1000 ? true : null;
      }, () => fault(`${name} is broken and that is not said`));
    }
  }
  await page.context().close();
}

// The live view in a report: in the file itself, nothing fetched, started by the reader.
if (report) {
  const page = await (await browser.newContext({ viewport: { width: 1000, height: 800 } })).newPage();
  const fault = (what) => faults.push(`report: ${what}`);
  page.setDefaultTimeout(120000);
  page.on("console", (m) => { if (m.type() === "error") fault(`console: ${m.text()}`); });
  page.on("pageerror", (e) => { if (!e.message.includes("control flow")) fault(`script: ${e.message}`); });
  page.on("request", (r) => { if (!/^(file|data|blob):/.test(r.url())) fault(`fetched ${r.url()}`); });
  await page.goto(pathToFileURL(path.resolve(report)).href);
  if (await page.locator("#start").count() === 0) {
    fault("it has no live view");
  } else {
    await page.locator("#start").scrollIntoViewIfNeeded();
    await page.locator("#start").click();
    await until(async () => (await page.locator("#say").isHidden()) ? true : null, () => fault("its live view never starts"), 60);
    await page.locator("#stage").scrollIntoViewIfNeeded();
    await page.waitForTimeout(1500);
    const first = await seen(page, "report-live");
    await until(async () => (await differ(page, first, await seen(page, "report-live")) > 300 ? true : null),
      () => fault("its live view stands still"));
  }
  await page.context().close();
}
await browser.close();

// Without WebGPU the page says so.
browser = await chromium.launch({ executablePath, args: [...quiet, "--disable-gpu", "--disable-features=WebGPU"] });
const page = await browser.newPage();
page.on("pageerror", (e) => faults.push(`without WebGPU: script: ${e.message}`));
await page.addInitScript(() => Object.defineProperty(navigator, "gpu", { value: undefined }));
await page.goto(address);
await page.waitForTimeout(800);
const said = await page.locator("#say").innerText();
if (!said.includes("WebGPU")) faults.push(`without WebGPU the page says: ${said}`);
await seen(page, "without-webgpu");
await browser.close();
server.kill();
for (const f of faults) console.error(f);
process.exit(faults.length > 0 ? 1 : 0);
