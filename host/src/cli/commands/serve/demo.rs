//! The sample notes of `notehost serve --demo`, and their temporary folder.

use std::io;
use std::path::PathBuf;

use crate::cli::ui::terminal::Terminal;
use notehost_platform::private::new_folder_in;
use notehost_platform::shell::quoted;

macro_rules! notes {
    ($($path:literal),* $(,)?) => {
        [$(($path, include_str!(concat!("../../../../demo/", $path)))),*]
    };
}

/// Every sample note, by its path in the vault.
const NOTES: [(&str, &str); 14] = notes![
    "Welcome.md",
    "Coffee/Beans.md",
    "Coffee/Brewing flashcards.md",
    "Coffee/Kissa notes 喫茶店.md",
    "Coffee/The morning cup.md",
    "Garden/Balcony plan.md",
    "Garden/Compost.md",
    "Garden/Sowing calendar.md",
    "Garden/Tomatoes.md",
    "Journal/2026-04-11.md",
    "Journal/2026-04-12.md",
    "People/Hana.md",
    "People/Tomás.md",
    "People/Supper club.md",
];

/// A folder with the sample notes in it.
pub(crate) struct Demo {
    folder: PathBuf,
}

impl Demo {
    /// Writes the sample notes to a new temporary folder. It is kept when the program ends, so that a person can
    /// inspect what a client did.
    pub(crate) fn make() -> io::Result<Demo> {
        let demo = Demo {
            folder: new_folder_in(&std::env::temp_dir(), "notehost-demo")?,
        };
        for (path, text) in NOTES {
            let file = demo.notes().join(path);
            file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            std::fs::write(file, text)?;
        }
        Ok(demo)
    }

    /// The vault.
    pub(crate) fn notes(&self) -> PathBuf {
        self.folder.join("notes")
    }

    /// The state folder.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.join("state")
    }

    /// The introduction: where the notes are and what to try.
    pub(crate) fn introduction(&self, terminal: &Terminal) -> String {
        let folder = self.notes();
        let shown = quoted(&folder.to_string_lossy());
        format!(
            "{}\n  {} sample notes about coffee, a balcony garden and friends, to read, edit and delete freely:\n    \
             {}\n  Open the folder in Obsidian, or ask a client:\n    “What is still to do in the garden?”\n    “Add the \
             shopping for Saturday's supper club to today's note.”\n    “Rename Beans to Bean shelf and check that every \
             link follows.”\n",
            terminal.strong("Notehost demo"),
            NOTES.len(),
            terminal.good(&shown),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_sample_file_is_a_sample_note() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("demo");
        let mut found = HashSet::new();
        for notebook in std::fs::read_dir(&folder).expect("the folder").flatten() {
            let name = notebook.file_name().into_string().expect("a name");
            match std::fs::read_dir(notebook.path()) {
                Ok(notes) => found.extend(
                    notes
                        .flatten()
                        .map(|note| format!("{name}/{}", note.file_name().to_string_lossy())),
                ),
                Err(_) => _ = found.insert(name),
            }
        }
        assert_eq!(
            found,
            NOTES.iter().map(|(path, _)| (*path).to_owned()).collect()
        );
    }

    #[test]
    fn every_link_between_them_leads_somewhere() {
        let names: HashSet<&str> = NOTES
            .iter()
            .filter_map(|(path, _)| path.rsplit('/').next()?.strip_suffix(".md"))
            .collect();
        for (path, text) in NOTES {
            for link in text
                .split("[[")
                .skip(1)
                .filter_map(|rest| rest.split("]]").next())
            {
                let target = link.split(['|', '#', '\\']).next().unwrap_or_default();
                assert!(
                    target.is_empty() || names.contains(target),
                    "{path}: [[{link}]]"
                );
            }
        }
    }
}
