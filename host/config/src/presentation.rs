//! How what there is looks to a client: which tools it is shown, and how much of an answer stands in its text. For
//! everybody, or for one caller.

use serde::{Deserialize, Serialize};

use super::Settings;

/// How the tools are presented to a client.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Surface {
    /// One tool per domain, with an `action`.
    #[default]
    Domain,
    /// One tool per domain and effect.
    Split,
    /// One tool per action.
    Flat,
    /// Three tools: find, describe and call an action.
    Finder,
}

impl Surface {
    /// All of them.
    pub const ALL: [Surface; 4] = [
        Surface::Domain,
        Surface::Split,
        Surface::Flat,
        Surface::Finder,
    ];

    /// The word for it in the config.
    pub fn word(self) -> &'static str {
        match self {
            Surface::Domain => "domain",
            Surface::Split => "split",
            Surface::Flat => "flat",
            Surface::Finder => "finder",
        }
    }
}

/// How much of a long text that stands in the structured part of an answer is said in its text as well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LongText {
    /// All of it for clients that are known to show their model nothing else, the beginning for all others.
    #[default]
    Auto,
    /// All of it.
    Full,
    /// The beginning.
    Short,
}

impl Settings {
    /// How a caller is shown the tools.
    pub fn surface_of(&self, caller: &str) -> Surface {
        let own = self.callers.get(caller).and_then(|own| own.surface);
        own.unwrap_or(self.surface)
    }

    /// How much of long texts a caller is told twice.
    pub fn long_text_of(&self, caller: &str) -> LongText {
        let own = self.callers.get(caller).and_then(|own| own.long_text);
        own.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_may_have_a_surface_of_its_own() {
        let settings: Settings = toml::from_str(
            "tool_surface = 'split'\n[callers.phone]\nsurface = 'finder'\nlong_text = 'full'\n[callers.desk]\nscopes = []",
        )
        .expect("settings");
        assert_eq!(settings.surface_of("phone"), Surface::Finder);
        assert_eq!(settings.surface_of("desk"), Surface::Split);
        assert_eq!(settings.surface_of("nobody"), Surface::Split);
        assert_eq!(settings.long_text_of("phone"), LongText::Full);
        assert_eq!(settings.long_text_of("desk"), LongText::Auto);
    }
}
