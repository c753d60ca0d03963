import assert from "node:assert/strict";
import { test } from "node:test";
import { conditions, describe, memoryVault, run } from "../src/notehost.js";
import reading from "../src/domain.js";

const refusal = (code) => (error) => error.code === code;

test("frontmatter, code and link targets are not counted", () => {
  const vault = memoryVault({
    "Plan.md": "---\ntags: [a, b]\n---\nRead [[Other note|this]] now.\n\n```js\nlet x = 1;\n```\nDone!\n",
  });
  const { words, sentences, minutes } = run(reading, vault, "note", { path: "plan" });
  assert.deepEqual({ words, sentences, minutes }, { words: 4, sentences: 2, minutes: 1 });
});

test("words are counted in scripts without spaces", () => {
  const vault = memoryVault({ "喫茶店.md": "今日は雨。" });
  assert.equal(run(reading, vault, "note", { path: "喫茶店" }).words, 4);
});

test("longest lists only notes of the folder, longest first", () => {
  const vault = memoryVault({ "A/a.md": "one", "A/b.md": "one two three", "B/c.md": "one two three four", "A/x.txt": "no" });
  const { items, notes, words } = run(reading, vault, "longest", { folder: "A/", limit: 1 });
  assert.deepEqual([items.map(({ path }) => path), notes, words], [["A/b.md"], 2, 4]);
});

test("longest lists only notes with the tag", () => {
  const vault = memoryVault({ "A/a.md": "#tea one", "A/b.md": "#tea/green", "A/c.md": "#teapot", "B/d.md": "#tea" });
  const { items } = run(reading, vault, "longest", { folder: "A", tag: "#tea" });
  assert.deepEqual(items.map(({ path }) => path).sort(), ["A/a.md", "A/b.md"]);
});

test("conditions become the list of the contract", () => {
  assert.deepEqual(conditions(undefined), []);
  const list = conditions({ all: [{ not: { has: "openTasks" } }, { property: { key: "n", atLeast: 4 } }, { size: { from: 5 } }] });
  assert.deepEqual(list, [
    { tag: "all", val: [1, 2, 3] },
    { tag: "not", val: 4 },
    { tag: "property", val: { key: "n", atLeast: "4" } },
    { tag: "size", val: { from: 5n, to: undefined } },
    { tag: "has", val: "open-tasks" },
  ]);
});

test("the description has the form of the contract", () => {
  const { name, actions, prompts } = describe(reading);
  assert.deepEqual([name, prompts], ["reading", []]);
  assert.equal(JSON.parse(actions[0].input).additionalProperties, false);
});

test("stamp changes only the line of the property", () => {
  const vault = memoryVault({
    "new.md": "Text.\n",
    "old.md": "---\r\ntitle: x # mine\r\nreading_minutes: 9\r\n---\r\nText.\r\n",
    "rule.md": "Text\n\n---\nnot: frontmatter\n---\n",
  });
  for (const path of ["new", "old", "rule"]) run(reading, vault, "stamp", { path });
  assert.equal(vault.files.get("new.md"), "---\nreading_minutes: 1\n---\nText.\n");
  assert.equal(vault.files.get("old.md"), "---\r\ntitle: x # mine\r\nreading_minutes: 1\r\n---\r\nText.\r\n");
  assert.ok(vault.files.get("rule.md").startsWith("---\nreading_minutes: 1\n---\nText\n\n---\nnot"));
});

test("errors have the codes of the contract", () => {
  const vault = memoryVault({ "a/n.md": "", "b/n.md": "" });
  assert.throws(() => run(reading, vault, "note", { path: "missing" }), refusal("not_found"));
  assert.throws(() => run(reading, vault, "note", { path: "n" }), refusal("ambiguous_name"));
  assert.throws(() => run(reading, vault, "stamp", { path: "a/n", property: "a: b" }), refusal("validation_error"));
});
