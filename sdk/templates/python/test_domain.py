"""Tests with plain Python: `python3 -m unittest`."""

import unittest

from domain import domain
from notehost import MemoryVault, Refusal


class Words(unittest.TestCase):
    def test_words_are_counted(self):
        vault = MemoryVault({"Work/Plan.md": "# A plan\n\nwith words"})
        answer, text = domain.run(vault, "count", path="plan")
        self.assertEqual(answer, {"path": "Work/Plan.md", "words": 5})
        self.assertEqual(text, "Work/Plan.md has 5 words")

    def test_a_line_is_added_at_the_end(self):
        vault = MemoryVault({"Plan.md": "first"})
        domain.run(vault, "add", path="Plan", line="second")
        self.assertEqual(vault.files["Plan.md"], "first\nsecond\n")
        with self.assertRaises(Refusal) as refused:
            domain.run(vault, "add", path="Plan", line="a\nb")
        self.assertEqual(refused.exception.code, "validation_error")

    def test_counting_a_missing_note_is_not_found(self):
        with self.assertRaises(Refusal) as refused:
            domain.run(MemoryVault(), "count", path="Plan")
        self.assertEqual(refused.exception.code, "not_found")


if __name__ == "__main__":
    unittest.main()
