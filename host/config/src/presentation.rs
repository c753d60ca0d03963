//! How tools and replies are presented to a client: the tool surface, and how much of a reply is repeated in its text. For
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
    /// All surfaces.
    pub const ALL: [Surface; 4] = [
        Surface::Domain,
        Surface::Split,
        Surface::Flat,
        Surface::Finder,
    ];

    /// The config value.
    pub fn as_str(self) -> &'static str {
        match self {
            Surface::Domain => "domain",
            Surface::Split => "split",
            Surface::Flat => "flat",
            Surface::Finder => "finder",
        }
    }
}

/// How much of a long text in the structured part of a reply is repeated in its text part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LongText {
    /// All of it for clients that are known to show only the text to their model, the beginning for others.
    #[default]
    Auto,
    /// All of it.
    Full,
    /// The beginning.
    Short,
}

impl Settings {
    /// The tool surface of a caller.
    pub fn surface_of(&self, caller: &str) -> Surface {
        let own = self.callers.get(caller).and_then(|own| own.surface);
        own.unwrap_or(self.surface)
    }

    /// How much of long texts is repeated for a caller.
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
