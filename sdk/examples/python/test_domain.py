"""Tests of the agenda with plain Python: `python3 -m unittest`."""

import unittest

from domain import domain
from notehost import MemoryVault, Refusal, conditions

NOTES = {
    "Work/Plan.md": "# Plan\r\n- [ ] call Hana 📅 2026-05-03\r\n- [x] old 📅 2026-05-01\r\n- [ ] no date\r\n",
    "Home.md": "- [ ] rent (due: 2026-04-30)\n```\n- [ ] code 📅 2026-05-02\n```\n* [ ] far [due:: 2027-01-01]\n",
    "Odd.md": "- [ ] never 📅 2026-02-31\n",
}
# 2026-05-01 23:30 in UTC; already the next day in the owner's time zone.
CLOCK = {"milliseconds": 1_777_678_200_000, "offset_minutes": 60}


class Agenda(unittest.TestCase):
    def setUp(self):
        self.vault = MemoryVault(NOTES, **CLOCK)

    def run_action(self, action, **fields):
        return domain.run(self.vault, action, **fields)[0]

    def test_list_returns_due_tasks_sorted_by_date(self):
        answer = self.run_action("list")
        self.assertEqual(answer["today"], "2026-05-02")
        self.assertEqual([(task["text"], task["days"]) for task in answer["items"]], [("rent", -2), ("call Hana", 1)])
        self.assertEqual(answer["overdue"], 1)
        self.assertEqual([task["text"] for task in self.run_action("list", done=True)["items"]], ["rent", "old", "call Hana"])
        self.assertEqual(len(self.run_action("list", until="2027-01-01")["items"]), 3)
        self.assertEqual(len(self.run_action("list", folder="Work/")["items"]), 1)

    def test_finish_checks_one_task_and_changes_nothing_else(self):
        self.run_action("finish", path="plan", line=2, text="call Hana")
        self.assertEqual(self.vault.files["Work/Plan.md"], NOTES["Work/Plan.md"].replace("[ ] call", "[x] call"))

    def test_finish_rejects_a_line_without_that_open_task(self):
        for fields, code in [
            ({"line": 2, "text": "call Tom"}, "conflict"),
            ({"line": 3}, "validation_error"),
            ({"line": 4}, "not_found"),
        ]:
            with self.assertRaises(Refusal) as refused:
                self.run_action("finish", path="Work/Plan", **fields)
            self.assertEqual(refused.exception.code, code)
        self.assertEqual(self.vault.files, NOTES)

    def test_publish_leaves_out_the_agenda_note_itself(self):
        for _ in range(2):
            self.assertEqual(self.run_action("publish"), {"path": "Agenda.md", "tasks": 2})
        self.assertEqual(
            self.vault.files["Agenda.md"],
            "# Agenda of 2026-05-02\n\n## 2026-04-30 (overdue)\n\n- rent ([[Home]])\n\n"
            "## 2026-05-03\n\n- call Hana ([[Work/Plan]])\n",
        )

    def test_conditions_become_the_list_of_the_contract(self):
        self.assertEqual(conditions(None), [])
        nested = {"all": [{"not": {"tag": "a"}}, {"any": [{"tag": "b"}, {"under": "C"}]}]}
        self.assertEqual(
            conditions(nested),
            [("all", [1, 2]), ("not", 3), ("any", [4, 5]), ("tag", "a"), ("tag", "b"), ("under", "C")],
        )


if __name__ == "__main__":
    unittest.main()
