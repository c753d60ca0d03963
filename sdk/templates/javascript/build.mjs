// Builds `dist/domain_name.wasm` from the engine, this domain's source and the contract's imports.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { componentize } from "@bytecodealliance/componentize-js";

const { name } = JSON.parse(await readFile("package.json", "utf8"));
const { component } = await componentize({
  sourcePath: "src/component.js",
  witPath: "wit",
  worldName: "component",
  // A domain has access to its vault only: no clock, network, files or output.
  disableFeatures: ["clocks", "fetch-event", "http", "random", "stdio"],
});
await mkdir("dist", { recursive: true });
await writeFile(`dist/${name}.wasm`, component);
console.log(`dist/${name}.wasm: ${(component.length / 1e6).toFixed(1)} MB`);
