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
        return json.dumps(domain.describe())

    def call(self, vault, action, arguments):
        vault = notehost.Vault(vault, Host)
        try:
            answer, text = domain.run(vault, action, **json.loads(arguments))
            return types.Reply(text, json.dumps(answer), [])
        except notehost.Refusal as refusal:
            raise Err(to_wire(refusal)) from None
        except Exception as error:
            raise Err(to_wire(domain.defect(vault, action, error))) from None


def to_wire(refusal):
    """A refusal in the form of the contract."""
    details = None if refusal.details is None else json.dumps(refusal.details)
    return types.Error(refusal.code, refusal.message, refusal.hint, details)
