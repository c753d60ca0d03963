//! Plans the vault as a whole before any note is written: folders, names, tags and links.

use std::collections::HashSet;

use super::random::{Random, Zipf};
use super::words::{Script, Vocabulary};

/// Number of notes that link to the hub.
pub(crate) const HUB_LINKS: usize = 500;
/// The path of the hub. The folder's name has a space, so that some links must be percent-encoded.
pub(crate) const HUB: &str = "Knowledge base/Hub.md";
/// Number of notes that only seem to link to it.
pub(crate) const DECOYS: usize = 20;

/// The planned vault.
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) notes: Vec<PlannedNote>,
    /// Paths of images.
    pub(crate) assets: Vec<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) tag_ranks: Zipf,
    /// Link targets that do not exist.
    pub(crate) missing: Vec<String>,
    pub(crate) missing_ranks: Zipf,
}

/// A planned note.
pub(crate) struct PlannedNote {
    pub(crate) path: String,
    pub(crate) script: Script,
    /// Whether its name alone identifies it in links.
    pub(crate) is_unique: bool,
    pub(crate) links: Vec<Target>,
    /// Its relation to the hub.
    pub(crate) hub: Hub,
}

/// The target of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Note(u32),
    Missing,
}

/// The relation of a note to the hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hub {
    Nothing,
    /// The note is the hub.
    Itself,
    /// Links to the hub, in the form of this number.
    Link(usize),
    /// Names the hub without a link, in the form of this number.
    Decoy(usize),
}

impl PlannedNote {
    /// The name without folder and extension.
    pub(crate) fn name(&self) -> &str {
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        name.trim_end_matches(".md")
    }
}

impl Plan {
    /// Plans a vault with this many notes.
    pub(crate) fn new(count: usize, seed: u64) -> Plan {
        let vocabulary = Vocabulary::new(seed);
        let mut random = Random::new(seed, u64::MAX);
        let folders = folders(count, &vocabulary, &mut random);
        let mut names = HashSet::from(["hub".to_owned()]);
        let mut notes = Vec::with_capacity(count);
        let folder_ranks = Zipf::new(folders.len());
        let mut paths = HashSet::with_capacity(count);
        while notes.len() < count {
            let note = if notes.is_empty() {
                plan_notes(HUB.to_owned(), Script::Latin, true)
            } else {
                let folder = &folders[folder_ranks.rank(&mut random)];
                any_note(notes.len(), folder, &vocabulary, &mut names, &mut random)
            };
            if paths.insert(note.path.to_lowercase()) {
                notes.push(note);
            }
        }
        let missing: Vec<String> = (0..count / 20 + 1)
            .map(|_| unused_name(Script::Latin, &vocabulary, &mut names, &mut random))
            .collect();
        connect(&mut notes, &mut random);
        point_to_hub(&mut notes, &mut random);
        let tags = tags(300 + count / 50, &vocabulary, &mut random);
        let assets = (0..count / 20 + 1)
            .map(|number| match number % 3 {
                0 => format!("Attachments/Pasted image {number}.png"),
                _ => format!(
                    "Attachments/{}-{number}.png",
                    vocabulary.name(Script::Latin, &mut random)
                ),
            })
            .collect();
        Plan {
            seed,
            notes,
            assets,
            tag_ranks: Zipf::new(tags.len()),
            tags,
            missing_ranks: Zipf::new(missing.len()),
            missing,
            vocabulary,
        }
    }
}

fn plan_notes(path: String, script: Script, is_unique: bool) -> PlannedNote {
    PlannedNote {
        path,
        script,
        is_unique,
        links: Vec::new(),
        hub: Hub::Nothing,
    }
}

/// Folders from one to four levels deep. The first ones get most of the notes.
fn folders(count: usize, vocabulary: &Vocabulary, random: &mut Random) -> Vec<String> {
    let mut folders: Vec<String> = Vec::new();
    while folders.len() < 12.max(count / 25) {
        let mut name = capital(vocabulary.name(Script::Latin, random));
        if random.chance(0.3) {
            name = format!("{name} {}", vocabulary.name(Script::Latin, random));
        }
        if folders.len() >= 12 {
            let above = random.one(&folders);
            if above.matches('/').count() == 3 {
                continue;
            }
            name = format!("{above}/{name}");
        }
        if !folders.contains(&name) {
            folders.push(name);
        }
    }
    folders
}

fn any_note(
    number: usize,
    folder: &str,
    vocabulary: &Vocabulary,
    names: &mut HashSet<String>,
    random: &mut Random,
) -> PlannedNote {
    if number.is_multiple_of(33) {
        let day = number / 33;
        let (year, month, day) = (2015 + day / 336, day / 28 % 12 + 1, day % 28 + 1);
        let date = format!("{year}-{month:02}-{day:02}");
        return plan_notes(format!("Daily/{year}/{date}.md"), Script::Latin, true);
    }
    if random.chance(0.01) {
        let name = random.one(&["Index", "README", "Notes"]);
        return plan_notes(format!("{folder}/{name}.md"), Script::Latin, false);
    }
    let script = Script::any(random);
    let name = unused_name(script, vocabulary, names, random);
    plan_notes(format!("{folder}/{name}.md"), script, true)
}

fn unused_name(
    script: Script,
    vocabulary: &Vocabulary,
    names: &mut HashSet<String>,
    random: &mut Random,
) -> String {
    loop {
        let words: Vec<&str> = (0..1 + random.below(4))
            .map(|_| vocabulary.name(script, random))
            .collect();
        let name = capital(&words.join(script.gap()));
        if names.insert(name.to_lowercase()) {
            return name;
        }
    }
}

/// Capitalizes the first letter.
pub(crate) fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// Tags up to three levels deep, frequent ones first.
fn tags(count: usize, vocabulary: &Vocabulary, random: &mut Random) -> Vec<String> {
    let mut tags: Vec<String> = Vec::with_capacity(count);
    let mut seen = HashSet::new();
    while tags.len() < count {
        let name = vocabulary.name(Script::Latin, random);
        let tag = match tags.len() {
            20.. if random.chance(0.5) => {
                let above = &tags[random.below(tags.len().min(60))];
                if above.matches('/').count() == 2 {
                    continue;
                }
                format!("{above}/{name}")
            }
            _ => name.to_owned(),
        };
        if seen.insert(tag.clone()) {
            tags.push(tag);
        }
    }
    tags
}

/// Preferential attachment: three of four links point to the target of an earlier link, so that a few notes get
/// thousands. The hub gets none of these.
fn connect(notes: &mut [PlannedNote], random: &mut Random) {
    if notes.len() < 2 {
        return;
    }
    let mut earlier: Vec<u32> = Vec::new();
    for number in 0..notes.len() {
        if random.chance(0.15) {
            continue;
        }
        let count = (random.log_normal(4.0, 0.9) as usize).min(200);
        for _ in 0..count {
            if random.chance(0.05) {
                notes[number].links.push(Target::Missing);
                continue;
            }
            let target = if !earlier.is_empty() && random.chance(0.75) {
                *random.one(&earlier)
            } else {
                1 + random.below(notes.len() - 1) as u32
            };
            earlier.push(target);
            notes[number].links.push(Target::Note(target));
        }
    }
}

/// Chooses the notes that link to the hub and those that only seem to. In a small vault, all but a few.
fn point_to_hub(notes: &mut [PlannedNote], random: &mut Random) {
    notes[0].hub = Hub::Itself;
    let decoys = DECOYS.min((notes.len() - 1) / 10);
    let links = HUB_LINKS.min(notes.len() - 1 - decoys);
    let mut chosen = 0;
    while chosen < links + decoys {
        let note = &mut notes[random.below(notes.len() - 1) + 1];
        if note.hub == Hub::Nothing {
            note.hub = if chosen < links {
                Hub::Link(chosen)
            } else {
                Hub::Decoy(chosen - links)
            };
            chosen += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_gives_the_same_plan() {
        let paths = |seed| -> Vec<String> {
            let plan = Plan::new(300, seed);
            plan.notes.into_iter().map(|note| note.path).collect()
        };
        assert_eq!(paths(1), paths(1));
        assert_ne!(paths(1), paths(2));
    }

    #[test]
    fn hub_has_exactly_the_planned_links() {
        let plan = Plan::new(2000, 1);
        let links = plan
            .notes
            .iter()
            .filter(|note| matches!(note.hub, Hub::Link(_)));
        assert_eq!(links.count(), HUB_LINKS);
        assert!(
            plan.notes
                .iter()
                .all(|note| !note.links.contains(&Target::Note(0)))
        );
        let names = plan
            .notes
            .iter()
            .filter(|note| note.name().eq_ignore_ascii_case("hub"));
        assert_eq!(names.count(), 1);
    }

    #[test]
    fn a_few_notes_get_many_links() {
        let plan = Plan::new(5000, 1);
        let mut counts = vec![0_usize; 5000];
        for target in plan.notes.iter().flat_map(|note| &note.links) {
            if let Target::Note(target) = target {
                counts[*target as usize] += 1;
            }
        }
        counts.sort_unstable_by(|left, right| right.cmp(left));
        assert!(counts[0] > 300, "{}", counts[0]);
        assert!(counts[2500] < 10, "{}", counts[2500]);
    }

    #[test]
    fn folders_are_up_to_four_deep() {
        let plan = Plan::new(5000, 1);
        let depths: HashSet<usize> = plan
            .notes
            .iter()
            .map(|note| note.path.matches('/').count())
            .collect();
        assert_eq!(depths, HashSet::from([1, 2, 3, 4]));
    }
}
