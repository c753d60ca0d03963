// The official TypeScript SDK as a judge: drives a running Notehost through everything a client does, and prints one
// JSON object, the verdict on each. Its only argument is the task, as JSON; tests/external_clients.rs writes it.
//
// Two packages: `@modelcontextprotocol/sdk` (version 1, the era of sessions) and `@modelcontextprotocol/client`
// (version 2, both eras).

import { existsSync } from "node:fs";
import { copyFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

const task = JSON.parse(process.argv[2]);
const sdk = task.sdk === 1 ? await versionOne() : await versionTwo();
const isModern = task.era === "modern";
const verdicts = {};

/** What both packages have, under one name. */
async function versionOne() {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const types = await import("@modelcontextprotocol/sdk/types.js");
  const schemas = {
    "elicitation/create": types.ElicitRequestSchema,
    "notifications/tools/list_changed": types.ToolListChangedNotificationSchema,
    "notifications/resources/updated": types.ResourceUpdatedNotificationSchema,
  };
  return {
    client: (capabilities) => new Client({ name: "judge", version: "1" }, { capabilities }),
    stdio: (options) => new StdioClientTransport(options),
    http: (url, requestInit) => new StreamableHTTPClientTransport(url, { requestInit }),
    onRequest: (client, method, handler) => client.setRequestHandler(schemas[method], handler),
    onNotification: (client, method, handler) => client.setNotificationHandler(schemas[method], handler),
    call: (client, params, options) => client.callTool(params, undefined, options),
  };
}

async function versionTwo() {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const mode = task.era === "modern" ? { pin: "2026-07-28" } : "legacy";
  return {
    client: (capabilities) =>
      new Client({ name: "judge", version: "2" }, { capabilities, versionNegotiation: { mode } }),
    stdio: (options) => new StdioClientTransport(options),
    http: (url, requestInit) => new StreamableHTTPClientTransport(url, { requestInit }),
    onRequest: (client, method, handler) => client.setRequestHandler(method, handler),
    onNotification: (client, method, handler) => client.setNotificationHandler(method, handler),
    call: (client, params, options) => client.callTool(params, options),
  };
}

function check(condition, words) {
  if (!condition) throw new Error(typeof words === "string" ? words : JSON.stringify(words));
}

function sleep(milliseconds) {
  return new Promise((done) => setTimeout(done, milliseconds));
}

/** Longer than anything takes, even on a busy machine; only a hang reaches it. */
async function inTime(promise, what) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`it took too long: ${what}`)), 40_000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Something that happens once, and can be waited for. */
function event() {
  let happened;
  const promise = new Promise((done) => (happened = done));
  return { happened, promise };
}

async function judge(name, work) {
  try {
    verdicts[name] = (await inTime(work(), name)) ?? "ok";
  } catch (error) {
    verdicts[name] = `${error?.name}: ${error?.message ?? error}`;
  }
}

const says = { approve: true };
const asked = [];
/** Every message of the server since the beginning, in the order in which the SDK got them. */
const arrived = [];
const client = sdk.client({ elicitation: { form: {} } });
sdk.onRequest(client, "elicitation/create", async (request) => {
  asked.push(request.params.message);
  return { action: "accept", content: { ...says } };
});
const call = (tool, args, options) => sdk.call(client, { name: tool, arguments: args }, options);
const note = (path) => join(task.vault, path);

await judge("connect", async () => {
  const transport = task.url
    ? sdk.http(new URL(task.url), { headers: { Authorization: task.authorization } })
    : sdk.stdio({ command: task.command[0], args: task.command.slice(1), stderr: "ignore" });
  await client.connect(transport);
  const hear = transport.onmessage;
  transport.onmessage = (message, ...more) => {
    arrived.push(message);
    return hear(message, ...more);
  };
  check(client.getServerVersion().name === "notehost", client.getServerVersion());
  if (client.getProtocolEra) check(client.getProtocolEra() === task.era, client.getProtocolEra());
});

await judge("list", async () => {
  const { tools } = await client.listTools();
  const document = tools.find((tool) => tool.name === "document");
  check(document?.inputSchema.type === "object", tools.map((tool) => tool.name));
  const { resources } = await client.listResources();
  check(resources.length > 0, "no resources");
});

await judge("call", async () => {
  const read = await call("document", { action: "read", path: "Work/Plan" });
  check(read.structuredContent.content === task.plan && !read.isError, read);
  const uri = "notehost://vault/main/Work/Plan.md";
  const { contents } = await client.readResource({ uri });
  check(contents[0].text.includes("write tests"), contents);
});

await judge("error", async () => {
  const absent = await call("document", { action: "read", path: "Absent" });
  check(absent.isError && absent.structuredContent.error.code === "not_found", absent);
  let refused;
  await call("weather", {}).catch((error) => (refused = error));
  check(refused?.code === -32602, `${refused}`);
});

await judge("progress", async () => {
  const seen = [];
  const worked = await call("slow__work", { steps: 6, pause: 100 }, { onprogress: (told) => seen.push(told) });
  check(worked.structuredContent.steps === 6, worked);
  // The SDK takes up a notification a moment later than an answer, and by then has forgotten who wanted it: what comes in one
  // piece with the answer never gets to `onprogress`. So the last word, which comes before the answer, is looked for where it
  // arrives.
  const answer = arrived.findLastIndex((message) => message.result?.structuredContent?.steps === 6);
  const told = arrived.slice(0, answer).filter((message) => message.method === "notifications/progress");
  const last = told.at(-1)?.params;
  check(answer > 0 && last?.progress === 6 && last.total === 6, told);
  check(seen.length >= 2 && seen.every((one) => one.total === 6), seen);
  check(seen.every((told, place) => place === 0 || told.progress > seen[place - 1].progress), seen);
});

await judge("cancel", async () => {
  const abort = new AbortController();
  // There is one place for calls: a guest that went on would keep every later call out.
  const endless = call("slow__work", { steps: 100_000, pause: 50, path: "Work/Late.md" }, { signal: abort.signal });
  await sleep(500);
  abort.abort("enough");
  let ended;
  await endless.catch((error) => (ended = error));
  check(ended, "the call did not end");
  const read = await call("document", { action: "read", path: "Work/Plan" });
  check(!read.isError, read);
  check(!existsSync(note("Work/Late.md")), "a cancelled call has written");
});

await judge("elicit", async () => {
  says.approve = false;
  const declined = await call("document", { action: "remove", paths: ["Work/Old.md"] });
  check(declined.isError && declined.structuredContent.error.code === "approval_invalid", declined);
  check(existsSync(note("Work/Old.md")), "it was removed although the person said no");
  says.approve = true;
  const removed = await call("document", { action: "remove", paths: ["Work/Old.md"] });
  check(!removed.isError && !existsSync(note("Work/Old.md")), removed);
  check(asked.length === 2 && asked.every((message) => message.includes("-old")), asked);
});

await judge("subscribe", async () => {
  if (!client.getServerCapabilities()?.resources?.subscribe) return "not offered";
  const uri = "notehost://vault/main/Work/Plan.md";
  const updated = event();
  sdk.onNotification(client, "notifications/resources/updated", (message) => {
    if (message.params.uri === uri) updated.happened();
  });
  const listening = isModern ? await client.listen({ resourceSubscriptions: [uri] }) : undefined;
  if (!isModern) await client.subscribeResource({ uri });
  await writeFile(note("Work/Plan.md"), `${task.plan}\nedited\n`);
  await updated.promise;
  await listening?.close();
  if (!isModern) await client.unsubscribeResource({ uri });
});

await judge("list_changed", async () => {
  const describes = async () => {
    const { tools } = await client.listTools();
    return JSON.stringify(tools.find((tool) => tool.name === "steady")?.inputSchema ?? {});
  };
  check(!(await describes()).includes('"count"'), "the second version is there already");
  const changed = event();
  sdk.onNotification(client, "notifications/tools/list_changed", () => changed.happened());
  const listening = isModern ? await client.listen({ toolsListChanged: true }) : undefined;
  // A stream for what the server says unasked may still be on its way up.
  if (!isModern) await sleep(300);
  await copyFile(task.swap.with, `${task.swap.file}.new`);
  await rename(`${task.swap.file}.new`, task.swap.file);
  await changed.promise;
  check((await describes()).includes('"count"'), "the tools are still those of the first version");
  const counted = await call("steady", { action: "count", text: "two words" });
  check(counted.structuredContent?.words === 2, counted);
  await listening?.close();
});

await judge("pipelined", async () => {
  const numbers = Array.from({ length: 400 }, (_, number) => number);
  const answers = await Promise.all(
    numbers.map((number) => call("steady", { action: "say", text: `number ${number}` })),
  );
  const lost = numbers.filter((number) => answers[number].structuredContent?.words?.[1] !== `${number}`);
  check(lost.length === 0, `lost or mixed up: ${lost.length}`);
});

await judge("close", async () => {
  await client.close();
});

console.log(JSON.stringify(verdicts));
process.exit(0);
