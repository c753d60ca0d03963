"""The component's exports: the domain, connected to the host's interfaces. It is the same for every domain."""

import io
import json
import sys

from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import host, index, log, store, types

import notehost
from domain import domain


class Host:
    """The host's interfaces, in the form that `notehost.Vault` takes."""

    Refused = Err
    host, index, store = host, index, store

    @staticmethod
    def write_log(level, message):
        log.write(log.Level[level.upper()], message)


class Lines(io.TextIOBase):
    """Writes standard output to the host's log; the sandbox has no other output."""

    def write(self, text):
        if text.strip():
            Host.write_log("info", text.rstrip("\n"))
        return len(text)


sys.stdout = sys.stderr = Lines()


class Domain(exports.Domain):
    """The contract's `domain` interface."""

    def describe(self):
        described = domain.describe()
        actions = [action(one) for one in described["actions"]]
        prompts = [prompt(one) for one in described["prompts"]]
        return types.Description(described["name"], described["version"], described["description"], actions, prompts)

    def call(self, vault, request):
        vault = notehost.Vault(vault, Host, request.time_left, request.reply_bytes)
        try:
            answer, text = domain.run(vault, request.action, **json.loads(request.arguments))
            return types.Reply(text, json.dumps(answer), [])
        except notehost.Refusal as refusal:
            raise Err(to_wire(refusal)) from None
        except Exception as error:
            raise Err(to_wire(domain.defect(vault, request.action, error))) from None


def action(described):
    """An action in the form of the contract: its schemas are JSON."""
    effect = types.Effect[described["effect"].upper()]
    schemas = [json.dumps(described[part]) for part in ("input", "output")]
    return types.Action(described["name"], described["description"], effect, *schemas)


def prompt(described):
    """A prompt in the form of the contract."""
    arguments = [
        types.PromptArgument(
            argument["name"],
            argument.get("description", ""),
            argument.get("required", False),
            types.ArgumentKind[argument.get("kind", "text").upper()],
        )
        for argument in described.get("arguments", [])
    ]
    return types.Prompt(
        described["name"], described.get("title"), described["description"], arguments, described["text"]
    )


def to_wire(refusal):
    """A refusal in the form of the contract."""
    details = None if refusal.details is None else json.dumps(refusal.details)
    return types.Error(refusal.code, refusal.message, refusal.hint, details)
