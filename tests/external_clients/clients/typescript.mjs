// The official TypeScript SDK as a test client: drives a running Notehost through everything a client does, and prints
// one JSON object with the result of each check. Its only argument is the task as JSON, from tests/external_clients.rs.
//
// Two packages: `@modelcontextprotocol/sdk` (version 1, session-based revisions) and
// `@modelcontextprotocol/client` (version 2, stateless and session-based revisions).

import { existsSync } from "node:fs";
import { copyFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

const task = JSON.parse(process.argv[2]);
const sdk = task.sdk === 1 ? await versionOne() : await versionTwo();
const isModern = task.revision === "modern";
const results = {};

/** The common interface of both packages. */
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
  const mode = task.revision === "modern" ? { pin: "2026-07-28" } : "legacy";
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

function check(condition, details) {
  if (!condition) throw new Error(typeof details === "string" ? details : JSON.stringify(details));
}

function sleep(milliseconds) {
  return new Promise((done) => setTimeout(done, milliseconds));
}

/** The timeout is longer than any operation, even on a busy machine; only a hang reaches it. */
async function inTime(promise, what) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`timed out: ${what}`)), 40_000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** A one-time event with a promise. */
function event() {
  let happened;
  const promise = new Promise((done) => (happened = done));
  return { happened, promise };
}

async function runCheck(name, work) {
  try {
    results[name] = (await inTime(work(), name)) ?? "ok";
  } catch (error) {
    results[name] = `${error?.name}: ${error?.message ?? error}`;
  }
}

const userAnswer = { approve: true };
const elicitations = [];
/** Every message of the server, in order of arrival. */
const arrived = [];
const client = sdk.client({ elicitation: { form: {} } });
sdk.onRequest(client, "elicitation/create", async (request) => {
  elicitations.push(request.params.message);
  return { action: "accept", content: { ...userAnswer } };
});
const call = (tool, args, options) => sdk.call(client, { name: tool, arguments: args }, options);
const note = (path) => join(task.vault, path);

await runCheck("connect", async () => {
  const transport = task.url
    ? sdk.http(new URL(task.url), { headers: { Authorization: task.authorization } })
    : sdk.stdio({ command: task.command[0], args: task.command.slice(1), stderr: "ignore" });
  await client.connect(transport);
  const onMessage = transport.onmessage;
  transport.onmessage = (message, ...more) => {
    arrived.push(message);
    return onMessage(message, ...more);
  };
  check(client.getServerVersion().name === "notehost", client.getServerVersion());
  if (client.getProtocolEra) check(client.getProtocolEra() === task.revision, client.getProtocolEra());
});

await runCheck("list", async () => {
  const { tools } = await client.listTools();
  const document = tools.find((tool) => tool.name === "document");
  check(document?.inputSchema.type === "object", tools.map((tool) => tool.name));
  const { resources } = await client.listResources();
  check(resources.length > 0, "no resources");
});

await runCheck("call", async () => {
  const read = await call("document", { action: "read", path: "Work/Plan" });
  check(read.structuredContent.content === task.plan && !read.isError, read);
  const uri = "notehost://vault/main/Work/Plan.md";
  const { contents } = await client.readResource({ uri });
  check(contents[0].text.includes("write tests"), contents);
});

await runCheck("error", async () => {
  const absent = await call("document", { action: "read", path: "Absent" });
  check(absent.isError && absent.structuredContent.error.code === "not_found", absent);
  let refused;
  await call("weather", {}).catch((error) => (refused = error));
  check(refused?.code === -32602, `${refused}`);
});

await runCheck("progress", async () => {
  const reported = [];
  const worked = await call("slow__work", { steps: 6, pause: 100 }, { onprogress: (progress) => reported.push(progress) });
  check(worked.structuredContent.steps === 6, worked);
  // The SDK handles a notification slightly later than a reply, and by then has dropped its progress handler: a
  // notification that arrives together with the reply never reaches `onprogress`. So look for the last one, which precedes
  // the reply, in the raw messages.
  const answer = arrived.findLastIndex((message) => message.result?.structuredContent?.steps === 6);
  const notifications = arrived.slice(0, answer).filter((message) => message.method === "notifications/progress");
  const last = notifications.at(-1)?.params;
  check(answer > 0 && last?.progress === 6 && last.total === 6, notifications);
  check(reported.length >= 2 && reported.every((one) => one.total === 6), reported);
  check(reported.every((progress, place) => place === 0 || progress.progress > reported[place - 1].progress), reported);
});

await runCheck("cancel", async () => {
  const abort = new AbortController();
  // There is only one slot for calls: a guest that kept running would block every later call.
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

await runCheck("elicit", async () => {
  userAnswer.approve = false;
  const declined = await call("document", { action: "remove", paths: ["Work/Old.md"] });
  check(declined.isError && declined.structuredContent.error.code === "approval_invalid", declined);
  check(existsSync(note("Work/Old.md")), "it was removed although the user declined");
  userAnswer.approve = true;
  const removed = await call("document", { action: "remove", paths: ["Work/Old.md"] });
  check(!removed.isError && !existsSync(note("Work/Old.md")), removed);
  check(elicitations.length === 2 && elicitations.every((message) => message.includes("-old")), elicitations);
});

await runCheck("subscribe", async () => {
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

await runCheck("list_changed", async () => {
  const describes = async () => {
    const { tools } = await client.listTools();
    return JSON.stringify(tools.find((tool) => tool.name === "steady")?.inputSchema ?? {});
  };
  check(!(await describes()).includes('"count"'), "the second version is already loaded");
  const changed = event();
  sdk.onNotification(client, "notifications/tools/list_changed", () => changed.happened());
  const listening = isModern ? await client.listen({ toolsListChanged: true }) : undefined;
  // The stream for server notifications may not be open yet.
  if (!isModern) await sleep(300);
  await copyFile(task.swap.with, `${task.swap.file}.new`);
  await rename(`${task.swap.file}.new`, task.swap.file);
  await changed.promise;
  check((await describes()).includes('"count"'), "the tools are still those of the first version");
  const counted = await call("steady", { action: "count", text: "two words" });
  check(counted.structuredContent?.words === 2, counted);
  await listening?.close();
});

await runCheck("pipelined", async () => {
  const numbers = Array.from({ length: 400 }, (_, number) => number);
  const answers = await Promise.all(
    numbers.map((number) => call("steady", { action: "say", text: `number ${number}` })),
  );
  const lost = numbers.filter((number) => answers[number].structuredContent?.words?.[1] !== `${number}`);
  check(lost.length === 0, `lost or mixed up: ${lost.length}`);
});

await runCheck("close", async () => {
  await client.close();
});

console.log(JSON.stringify(results));
process.exit(0);
