"""The official Python SDK as a test client: drives a running Notehost through everything a client does, and prints one
JSON object with the result of each check. Its only argument is the task as JSON, from tests/external_clients.rs."""

import asyncio
import json
import os
import shutil
import sys

from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.types import ElicitResult

TASK = json.loads(sys.argv[1])
IS_MODERN = TASK["revision"] == "modern"
# Longer than any operation, even on a busy machine; only a hang reaches it.
TIMEOUT_SECONDS = 40
PLAN = "notehost://vault/main/Work/Plan.md"

results = {}
elicitations = []
user_answer = {"approve": True}
tools_changed = asyncio.Event()
plan_updated = asyncio.Event()


def check(condition, details):
    if not condition:
        raise AssertionError(str(details))


def note(path):
    return os.path.join(TASK["vault"], path)


async def elicit(_context, params):
    elicitations.append(params.message)
    return ElicitResult(action="accept", content=dict(user_answer))


async def on_message(message):
    method = getattr(message, "method", None) or getattr(getattr(message, "root", None), "method", None)
    if method == "notifications/tools/list_changed":
        tools_changed.set()
    if method == "notifications/resources/updated":
        plan_updated.set()


async def run_check(name, work):
    try:
        results[name] = await asyncio.wait_for(work, TIMEOUT_SECONDS) or "ok"
    except Exception as error:  # noqa: BLE001 - any exception is the result of the check
        results[name] = f"{type(error).__name__}: {error}"


async def connected(client):
    expected = "2026-07-28" if IS_MODERN else "2025-11-25"
    check(client.protocol_version == expected, client.protocol_version)
    check(client.server_info.name == "notehost", client.server_info)


async def list_(client):
    tools = (await client.list_tools()).tools
    document = [tool for tool in tools if tool.name == "document"]
    check(document and document[0].input_schema["type"] == "object", [tool.name for tool in tools])
    check((await client.list_resources()).resources, "no resources")


async def call(client):
    read = await client.call_tool("document", {"action": "read", "path": "Work/Plan"})
    check(read.structured_content["content"] == TASK["plan"] and not read.is_error, read)
    contents = (await client.read_resource(PLAN)).contents
    check("write tests" in contents[0].text, contents)


async def error(client):
    absent = await client.call_tool("document", {"action": "read", "path": "Absent"})
    check(absent.is_error and absent.structured_content["error"]["code"] == "not_found", absent)
    try:
        unknown = await client.call_tool("weather", {})
    except MCPError as refused:
        check(refused.error.code == -32602, refused)
    else:
        check(False, unknown)


async def progress(client):
    reported = []

    async def on_progress(done, total, message):
        reported.append((done, total, message))

    worked = await client.call_tool("slow__work", {"steps": 6, "pause": 100}, progress_callback=on_progress)
    check(worked.structured_content["steps"] == 6, worked)
    check(len(reported) >= 2 and reported[-1] == (6, 6, "steps"), reported)
    check(all(one[0] < other[0] for one, other in zip(reported, reported[1:])), reported)


async def cancel(client):
    # There is only one slot for calls: a guest that kept running would block every later call.
    arguments = {"steps": 100_000, "pause": 50, "path": "Work/Late.md"}
    endless = asyncio.create_task(client.call_tool("slow__work", arguments))
    await asyncio.sleep(0.5)
    endless.cancel()
    try:
        await endless
    except asyncio.CancelledError:
        pass
    else:
        check(False, "the call did not end")
    read = await client.call_tool("document", {"action": "read", "path": "Work/Plan"})
    check(not read.is_error, read)
    check(not os.path.exists(note("Work/Late.md")), "a cancelled call has written")


async def elicited(client):
    arguments = {"action": "remove", "paths": ["Work/Old.md"]}
    user_answer["approve"] = False
    declined = await client.call_tool("document", arguments)
    check(declined.is_error and declined.structured_content["error"]["code"] == "approval_invalid", declined)
    check(os.path.exists(note("Work/Old.md")), "it was removed although the user declined")
    user_answer["approve"] = True
    removed = await client.call_tool("document", arguments)
    check(not removed.is_error and not os.path.exists(note("Work/Old.md")), removed)
    check(len(elicitations) == 2 and all("-old" in message for message in elicitations), elicitations)


def edit():
    with open(note("Work/Plan.md"), "a", encoding="utf-8") as plan:
        plan.write("\nedited\n")


async def subscribe(client):
    resources = client.server_capabilities.resources
    if not (resources and resources.subscribe):
        return "not offered"
    if IS_MODERN:
        async with client.listen(resource_subscriptions=[PLAN]) as changes:
            edit()
            async for change in changes:
                check(change.uri == PLAN, change)
                break
    else:
        await client.subscribe_resource(PLAN)
        edit()
        await plan_updated.wait()
        await client.unsubscribe_resource(PLAN)
    return None


def swap():
    shutil.copyfile(TASK["swap"]["with"], TASK["swap"]["file"] + ".new")
    os.rename(TASK["swap"]["file"] + ".new", TASK["swap"]["file"])


async def list_changed(client):
    async def describes():
        tools = (await client.list_tools()).tools
        return json.dumps([tool.input_schema for tool in tools if tool.name == "steady"])

    check('"count"' not in await describes(), "the second version is already loaded")
    if IS_MODERN:
        async with client.listen(tools_list_changed=True) as changes:
            swap()
            async for _ in changes:
                break
    else:
        # The stream for server notifications may not be open yet.
        await asyncio.sleep(0.3)
        swap()
        await tools_changed.wait()
    check('"count"' in await describes(), "the tools are still those of the first version")
    counted = await client.call_tool("steady", {"action": "count", "text": "two words"})
    check(counted.structured_content["words"] == 2, counted)


async def pipelined(client):
    async def say(number):
        reply = await client.call_tool("steady", {"action": "say", "text": f"number {number}"})
        return reply.structured_content["words"][1] == str(number)

    answers = await asyncio.gather(*(say(number) for number in range(400)))
    check(all(answers), f"lost or mixed up: {answers.count(False)}")


async def main():
    if TASK.get("url"):
        http_client = create_mcp_http_client(headers={"Authorization": TASK["authorization"]})
        transport = streamable_http_client(TASK["url"], http_client=http_client)
    else:
        command = TASK["command"]
        parameters = StdioServerParameters(command=command[0], args=command[1:])
        transport = stdio_client(parameters, errlog=open(os.devnull, "w", encoding="utf-8"))
    client = Client(
        transport,
        mode="auto" if IS_MODERN else "legacy",
        elicitation_callback=elicit,
        message_handler=on_message,
    )
    async with client:
        await run_check("connect", connected(client))
        await run_check("list", list_(client))
        await run_check("call", call(client))
        await run_check("error", error(client))
        await run_check("progress", progress(client))
        await run_check("cancel", cancel(client))
        await run_check("elicit", elicited(client))
        await run_check("subscribe", subscribe(client))
        await run_check("list_changed", list_changed(client))
        await run_check("pipelined", pipelined(client))
    results["close"] = "ok"


asyncio.run(main())
print(json.dumps(results))
