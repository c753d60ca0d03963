//! Generates the text of one note.

use super::hub;
use super::plan::{Hub, Plan, PlannedNote, Target, capital};
use super::random::Random;
use super::words::Script;

/// Median size of a note in bytes.
const MEDIAN_BYTES: f64 = 1500.0;
const MAX_BYTES: f64 = 100_000.0;

/// The text of the note with this number.
pub(crate) fn text(plan: &Plan, number: usize) -> String {
    let note = &plan.notes[number];
    if note.hub == Hub::Itself {
        return hub::note();
    }
    let mut random = Random::new(plan.seed, number as u64);
    let length = random.log_normal(MEDIAN_BYTES, 1.0).clamp(40.0, MAX_BYTES) as usize;
    let mut writer = Writer {
        plan,
        note,
        number,
        // Links are spread evenly over the text.
        links: note.links.clone(),
        random,
        text: String::with_capacity(length + 512),
    };
    writer.frontmatter();
    writer.body(length);
    writer.text
}

/// The first heading of a note, which links in other notes may name.
fn heading(plan: &Plan, number: usize) -> String {
    let mut random = Random::new(plan.seed ^ 0x48, number as u64);
    let script = plan.notes[number].script;
    let words: Vec<&str> = (0..2)
        .map(|_| plan.vocabulary.name(script, &mut random))
        .collect();
    capital(&words.join(script.gap()))
}

/// The id of a note's first block, if it has one.
fn block_id(number: usize) -> Option<String> {
    number.is_multiple_of(10).then(|| format!("b{number:x}"))
}

struct Writer<'p> {
    plan: &'p Plan,
    note: &'p PlannedNote,
    number: usize,
    /// Links that are not written yet.
    links: Vec<Target>,
    random: Random,
    text: String,
}

impl<'p> Writer<'p> {
    fn frontmatter(&mut self) {
        let from_property = match self.note.hub {
            Hub::Link(number) if hub::is_property(number) => Some(hub::property(number)),
            _ => None,
        };
        if from_property.is_none() && !self.random.chance(0.4) {
            return;
        }
        self.text.push_str("---\n");
        if self.random.chance(0.7) {
            let tags: Vec<&str> = (0..1 + self.random.below(3)).map(|_| self.tag()).collect();
            if self.random.chance(0.5) {
                self.text
                    .push_str(&format!("tags: [{}]\n", tags.join(", ")));
            } else {
                self.text
                    .push_str(&format!("tags:\n  - {}\n", tags.join("\n  - ")));
            }
        }
        if self.random.chance(0.3) {
            let alias = capital(
                self.plan
                    .vocabulary
                    .name(self.note.script, &mut self.random),
            );
            self.text.push_str(&format!("aliases: [\"{alias}\"]\n"));
        }
        if self.random.chance(0.5) {
            let status = self.random.one(&["open", "done", "waiting", "draft"]);
            self.text.push_str(&format!("status: {status}\n"));
        }
        if self.random.chance(0.3) {
            let due = self.date();
            self.text.push_str(&format!("due: {due}\n"));
        }
        if self.random.chance(0.2) {
            self.text
                .push_str(&format!("rating: {}\n", 1 + self.random.below(5)));
        }
        self.text.push_str(from_property.unwrap_or_default());
        self.text.push_str("---\n");
    }

    fn body(&mut self, length: usize) {
        if self.random.chance(0.5) {
            self.text.push_str(&format!("# {}\n\n", self.note.name()));
        }
        self.text
            .push_str(&format!("## {}\n\n", heading(self.plan, self.number)));
        self.paragraph(2);
        if let Some(id) = block_id(self.number) {
            self.text.truncate(self.text.trim_end().len());
            self.text.push_str(&format!(" ^{id}\n\n"));
        }
        self.hub();
        let all = self.links.len();
        while self.text.len() < length || !self.links.is_empty() {
            // The number of links due by now; the rest become a list at the end.
            let share = (self.text.len() as f64 / length as f64).min(1.0);
            let left = all - (all as f64 * share) as usize;
            if self.text.len() >= length {
                self.list_of_links();
                break;
            }
            match self.random.below(100) {
                0..10 => self.section(),
                10..22 => self.list(false),
                22..30 => self.list(true),
                30..34 => self.quote(),
                34..37 => self.code(),
                37..40 => self.table(),
                40..46 => self.embed(),
                _ => {
                    let sentences = 1 + self.random.below(5);
                    self.paragraph(sentences);
                }
            }
            while self.links.len() > left {
                self.linking_sentence();
            }
        }
    }

    fn hub(&mut self) {
        match self.note.hub {
            Hub::Link(number) if !hub::is_property(number) => {
                let depth = self.note.path.matches('/').count();
                self.text.push_str(&hub::paragraph(number, depth));
                self.text.push('\n');
            }
            Hub::Decoy(number) => {
                self.text.push_str(hub::decoy(number));
                self.text.push('\n');
            }
            _ => {}
        }
    }

    fn section(&mut self) {
        let level = "#".repeat(2 + self.random.below(3));
        let title = self.words(2);
        self.text
            .push_str(&format!("{level} {}\n\n", capital(&title)));
    }

    fn paragraph(&mut self, sentences: usize) {
        for _ in 0..sentences {
            self.sentence();
        }
        if self.random.chance(0.12) {
            let tag = self.tag();
            self.text.push_str(&format!(" #{tag}"));
        }
        self.text.push_str("\n\n");
    }

    fn sentence(&mut self) {
        let words = 4 + self.random.below(14);
        let mut sentence = self.words(words);
        if self.random.chance(0.05) {
            let strong = self.words(2);
            let gap = self.note.script.gap();
            sentence.push_str(&format!("{gap}**{strong}**"));
        }
        self.text.push_str(&capital(&sentence));
        self.text.push_str(self.note.script.stop());
    }

    fn linking_sentence(&mut self) {
        let before = self.words(3);
        let after = self.words(4);
        let Some(link) = self.links.pop().map(|target| self.link(target)) else {
            return;
        };
        // Scripts with spaces put one before a link.
        self.text.push_str(&format!(
            "{} {link} {after}{}\n\n",
            capital(&before),
            self.note.script.stop().trim_end()
        ));
    }

    fn list_of_links(&mut self) {
        while let Some(target) = self.links.pop() {
            let link = self.link(target);
            self.text.push_str(&format!("- {link}\n"));
        }
        self.text.push('\n');
    }

    fn list(&mut self, of_tasks: bool) {
        for _ in 0..2 + self.random.below(5) {
            let indent = if self.random.chance(0.2) { "  " } else { "" };
            let length = 2 + self.random.below(8);
            let words = self.words(length);
            let mark = match of_tasks {
                true if self.random.chance(0.4) => "[x] ",
                true => "[ ] ",
                false => "",
            };
            self.text.push_str(&format!("{indent}- {mark}{words}"));
            if of_tasks && self.random.chance(0.3) {
                let date = self.date();
                self.text.push_str(&format!(" 📅 {date}"));
            }
            self.text.push('\n');
        }
        self.text.push('\n');
    }

    fn quote(&mut self) {
        let kind = *self.random.one(&["> ", "> [!note] ", "> [!warning]- "]);
        let (first, second) = (self.words(4), self.words(9));
        self.text
            .push_str(&format!("{kind}{first}\n> {second}\n\n"));
    }

    fn code(&mut self) {
        let (name, other) = (
            self.plan.vocabulary.word(Script::Latin, &mut self.random),
            self.plan.vocabulary.word(Script::Latin, &mut self.random),
        );
        self.text.push_str(&format!(
            "```rust\nfn {name}_{other}() {{\n    let {other} = [[0; 4]; 4]; // #no-tag\n}}\n```\n\n"
        ));
    }

    fn table(&mut self) {
        let (left, right) = (self.words(1), self.words(1));
        self.text
            .push_str(&format!("| {left} | {right} |\n|---|---|\n"));
        for _ in 0..2 + self.random.below(4) {
            let (left, right) = (self.words(2), self.words(3));
            self.text.push_str(&format!("| {left} | {right} |\n"));
        }
        self.text.push('\n');
    }

    fn embed(&mut self) {
        let asset = self.random.one(&self.plan.assets);
        let name = asset.rsplit('/').next().unwrap_or(asset);
        let embed = match self.random.below(4) {
            0 => format!("![[{name}|300]]"),
            1 => format!("![a picture]({})", asset.replace(' ', "%20")),
            2 => format!("![[{asset}]]"),
            _ => format!("![[{name}]]"),
        };
        self.text.push_str(&embed);
        self.text.push_str("\n\n");
    }

    fn link(&mut self, target: Target) -> String {
        let Target::Note(target) = target else {
            let rank = self.plan.missing_ranks.rank(&mut self.random);
            return format!("[[{}]]", self.plan.missing[rank]);
        };
        let target = target as usize;
        let note = &self.plan.notes[target];
        let whole = note.path.trim_end_matches(".md");
        let name = if note.is_unique { note.name() } else { whole };
        match self.random.below(100) {
            0..50 => format!("[[{name}]]"),
            50..70 => {
                let shown = self.words(2);
                format!("[[{name}|{shown}]]")
            }
            70..80 => format!("[[{name}#{}]]", heading(self.plan, target)),
            80..86 => match block_id(target) {
                Some(id) => format!("[[{name}#^{id}]]"),
                None => format!("[[{whole}]]"),
            },
            86..92 => {
                let shown = self.words(2);
                format!("[{shown}]({})", note.path.replace(' ', "%20"))
            }
            92..96 => format!("![[{name}]]"),
            _ => {
                let shown = self.words(1);
                format!("[[{whole}|{shown}]]")
            }
        }
    }

    fn words(&mut self, count: usize) -> String {
        let script = self.note.script;
        let mut text = String::new();
        for number in 0..count {
            if number > 0 {
                text.push_str(script.gap());
            }
            // Other scripts quote a Latin word now and then.
            if script != Script::Latin && self.random.chance(0.02) {
                text.push_str(&format!(
                    " {} ",
                    self.plan.vocabulary.word(Script::Latin, &mut self.random)
                ));
            } else {
                text.push_str(self.plan.vocabulary.word(script, &mut self.random));
            }
        }
        text
    }

    fn tag(&mut self) -> &'p str {
        let rank = self.plan.tag_ranks.rank(&mut self.random);
        &self.plan.tags[rank]
    }

    fn date(&mut self) -> String {
        format!(
            "{}-{:02}-{:02}",
            2019 + self.random.below(8),
            1 + self.random.below(12),
            1 + self.random.below(28)
        )
    }
}
