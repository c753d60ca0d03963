//! Scopes: what a caller may do regardless of notebooks, such as `read` and `flashcard:write`.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use notehost_vault::Effect;

/// A scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Actions that look.
    Read,
    /// Actions that change.
    Write,
    /// Actions that remove.
    Delete,
    /// The `admin` tool.
    Admin,
}

impl Scope {
    /// The scope that an effect requires.
    pub fn of(effect: Effect) -> Scope {
        match effect {
            Effect::Read => Scope::Read,
            Effect::Write => Scope::Write,
            Effect::Delete => Scope::Delete,
        }
    }

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Write => "write",
            Scope::Delete => "delete",
            Scope::Admin => "admin",
        }
    }
}

/// The scopes of a caller, for all domains or for single ones.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Scopes(BTreeSet<(Option<String>, Scope)>);

/// An unknown scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a scope: use read, write, delete, admin, or one of a single domain such as document:write"
)]
pub struct UnknownScope(String);

impl Scopes {
    /// All of them.
    pub fn everything() -> Scopes {
        Scopes::of([Scope::Read, Scope::Write, Scope::Delete, Scope::Admin])
    }

    /// All scopes for working with notes.
    pub fn everything_but_admin() -> Scopes {
        Scopes::of([Scope::Read, Scope::Write, Scope::Delete])
    }

    fn of<const N: usize>(scopes: [Scope; N]) -> Scopes {
        Scopes(scopes.into_iter().map(|scope| (None, scope)).collect())
    }

    /// Parses scopes; commas and spaces separate them.
    pub fn parse<'w>(words: impl IntoIterator<Item = &'w str>) -> Result<Scopes, UnknownScope> {
        let mut scopes = BTreeSet::new();
        for word in words {
            for part in word.split([',', ' ']).filter(|part| !part.is_empty()) {
                scopes.insert(one(part)?);
            }
        }
        Ok(Scopes(scopes))
    }

    /// Whether actions that need this scope may be called in a domain.
    pub fn allow(&self, domain: &str, scope: Scope) -> bool {
        self.0.contains(&(None, scope))
            || self
                .0
                .iter()
                .any(|(only, held)| *held == scope && only.as_deref() == Some(domain))
    }

    /// The intersection.
    pub fn both(&self, other: &Scopes) -> Scopes {
        let narrowed = |a: &Scopes, b: &Scopes| -> Vec<(Option<String>, Scope)> {
            let held = a.0.iter();
            held.filter(|(domain, scope)| {
                b.0.contains(&(None, *scope)) || b.0.contains(&(domain.clone(), *scope))
            })
            .cloned()
            .collect()
        };
        Scopes(
            narrowed(self, other)
                .into_iter()
                .chain(narrowed(other, self))
                .collect(),
        )
    }

    /// Whether nothing is allowed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The words, in a fixed order.
    pub fn words(&self) -> Vec<String> {
        let word = |(domain, scope): &(Option<String>, Scope)| match domain {
            Some(domain) => format!("{domain}:{}", scope.as_str()),
            None => scope.as_str().to_owned(),
        };
        self.0.iter().map(word).collect()
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.words().join(" "))
    }
}

impl FromStr for Scopes {
    type Err = UnknownScope;

    fn from_str(words: &str) -> Result<Scopes, UnknownScope> {
        Scopes::parse([words])
    }
}

fn one(word: &str) -> Result<(Option<String>, Scope), UnknownScope> {
    let (domain, name) = match word.split_once(':') {
        Some((domain, name)) => (Some(domain), name),
        None => (None, word),
    };
    let unknown = || UnknownScope(word.to_owned());
    let scope = [Scope::Read, Scope::Write, Scope::Delete, Scope::Admin]
        .into_iter()
        .find(|scope| scope.as_str() == name)
        .ok_or_else(unknown)?;
    let is_name = |domain: &str| {
        !domain.is_empty()
            && domain
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    match domain {
        Some(domain) if !is_name(domain) || scope == Scope::Admin => Err(unknown()),
        _ => Ok((domain.map(str::to_owned), scope)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(words: &str) -> Scopes {
        words.parse().expect("scopes")
    }

    #[test]
    fn scopes_apply_to_all_or_one_domain() {
        let held = scopes("read,flashcard:write");
        assert!(held.allow("document", Scope::Read));
        assert!(held.allow("flashcard", Scope::Write));
        assert!(!held.allow("document", Scope::Write));
        assert!(!held.allow("flashcard", Scope::Delete));
        assert_eq!(held.to_string(), "read flashcard:write");
    }

    #[test]
    fn invalid_scopes_are_rejected() {
        for word in [
            "reed",
            "",
            "document:",
            ":read",
            "document:admin",
            "a:b:read",
        ] {
            let parsed = Scopes::parse([word]);
            assert!(
                parsed.is_ok_and(|scopes| scopes.is_empty()) == word.is_empty(),
                "{word}"
            );
        }
    }

    #[test]
    fn scope_intersection_is_the_narrower() {
        let wide = scopes("read write");
        let narrow = scopes("document:write read admin");
        assert_eq!(wide.both(&narrow).to_string(), "read document:write");
        assert_eq!(narrow.both(&wide), wide.both(&narrow));
    }
}
