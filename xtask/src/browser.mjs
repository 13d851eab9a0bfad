// Opens a report in headless Chromium as a reader would: node browser.mjs REPORT.html PICTURES NODE_MODULES
// Fails where the console complains, anything is fetched, the film stands still or the page scrolls sideways.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import path from "node:path";

const [page_path, pictures, modules] = process.argv.slice(2);
const { chromium } = createRequire(path.join(path.resolve(modules), "x.js"))("playwright-core");
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
const faults = [];
for (const width of [1280, 400]) {
  for (const colorScheme of ["light", "dark"]) {
    const at = `${width} px, ${colorScheme}`;
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, deviceScaleFactor: width < 500 ? 2 : 1 });
    const page = await context.newPage();
    const fault = (what) => faults.push(`${at}: ${what}`);
    page.on("console", (m) => { if (["error", "warning"].includes(m.type())) fault(`console: ${m.text()}`); });
    page.on("pageerror", (e) => fault(`script: ${e.message}`));
    page.on("request", (r) => { if (!/^(file|data|blob):/.test(r.url())) fault(`fetched ${r.url()}`); });
    await page.goto(pathToFileURL(path.resolve(page_path)).href);
    const film = page.locator(".film").first();
    const frame = async () => Number(await film.getAttribute("data-frame"));
    const hash = () => film.locator("canvas").evaluate((c) => c.toDataURL().split("").reduce((h, x) => (31 * h + x.charCodeAt(0)) | 0, 7));
    const [first, picture] = [await frame(), await hash()];
    try {
      await page.waitForFunction((f) => Number(document.querySelector(".film").dataset.frame) !== f, first, { timeout: 5000 });
      await page.waitForTimeout(300);
      if (await hash() === picture) fault("the film's frame advances but its picture does not");
    } catch {
      fault("the film stands still");
    }
    // Paused and scrubbed, it stays where it was put, and the mark on the error plot goes along.
    await film.locator("input").evaluate((bar) => { bar.value = 3; bar.dispatchEvent(new Event("input")); });
    const mark = () => page.locator(".mark").first().getAttribute("x1");
    const here = await mark();
    await page.waitForTimeout(200);
    if (await frame() !== 3) fault("a film that was scrubbed plays on");
    await film.locator("input").evaluate((bar) => { bar.value = 0; bar.dispatchEvent(new Event("input")); });
    if (await mark() === here) fault("the mark on the error plot does not follow the film");
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (over > 0) fault(`the page is ${over} px too wide`);
    const blank = await page.evaluate(() => [...document.images].filter((i) => i.naturalWidth === 0).length);
    if (blank > 0) fault(`${blank} pictures do not load`);
    const odd = await page.evaluate(() => document.body.innerText.match(/\b(NaN|undefined|inf)\b/g));
    if (odd) fault(`the text says ${odd.join(", ")}`);
    await film.locator("button").click();
    await page.screenshot({ path: path.join(pictures, `report-${width}-${colorScheme}.png`), fullPage: true });
    await context.close();
  }
}
await browser.close();
for (const f of faults) console.error(f);
process.exit(faults.length > 0 ? 1 : 0);
