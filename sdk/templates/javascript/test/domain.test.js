import assert from "node:assert/strict";
import { test } from "node:test";
import definition from "../src/domain.js";
import { memoryVault, run } from "../src/notehost.js";

const refusal = (code) => (error) => error.code === code;

test("words are counted", () => {
  const vault = memoryVault({ "Work/Plan.md": "# A plan\n\nwith words" });
  assert.deepEqual(run(definition, vault, "count", { path: "plan" }), { path: "Work/Plan.md", words: 5 });
});

test("a line is added at the end", () => {
  const vault = memoryVault({ "Plan.md": "first" });
  assert.equal(run(definition, vault, "add", { path: "Plan", line: "second" }).words, 2);
  assert.equal(vault.files.get("Plan.md"), "first\nsecond\n");
  assert.throws(() => run(definition, vault, "add", { path: "Plan", line: "a\nb" }), refusal("validation_error"));
});

test("counting a missing note is not_found", () => {
  assert.throws(() => run(definition, memoryVault(), "count", { path: "Plan" }), refusal("not_found"));
});
