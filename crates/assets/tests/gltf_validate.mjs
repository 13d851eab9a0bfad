// Runs the Khronos glTF validator over the files named on the command line.
// Usage: node gltf_validate.mjs FOLDER_WITH_NODE_MODULES FILE…
// Prints one line per issue and exits with 1 if there is any error or warning.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [folder, ...files] = process.argv.slice(2);
const validator = createRequire(join(folder, "package.json"))("gltf-validator");
let faults = 0;
for (const file of files) {
  const report = await validator.validateBytes(new Uint8Array(readFileSync(file)), { maxIssues: 50 });
  const { numErrors, numWarnings, numInfos } = report.issues;
  console.log(`${file}: ${numErrors} errors, ${numWarnings} warnings, ${numInfos} remarks`);
  for (const m of report.issues.messages) {
    // Severity 0 is an error, 1 a warning, 2 a remark, 3 a hint.
    if (m.severity < 2) {
      faults += 1;
      console.log(`  ${m.severity === 0 ? "error" : "warning"} ${m.code} ${m.pointer ?? ""}: ${m.message}`);
    }
  }
}
process.exit(faults > 0 ? 1 : 0);
