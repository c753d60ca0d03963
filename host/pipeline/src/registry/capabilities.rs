//! Differences between two versions of a component in what they request: imports, and the ceilings in their manifests.

use super::difference::{Change, Difference};
use notehost_runtime::{Inspected, Manifest};
use notehost_vault::Effect;

impl Difference {
    /// The same, including what inspecting their bytes found.
    pub fn with_capabilities(mut self, old: &Inspected, new: &Inspected) -> Difference {
        let interface = |import: &str| import.split('@').next().unwrap_or(import).to_owned();
        let before: Vec<String> = old.imports.iter().map(|import| interface(import)).collect();
        for import in &new.imports {
            let name = interface(import);
            if !before.contains(&name) {
                self.changes.push(Change {
                    widens: name.starts_with("wasi:http/outgoing"),
                    words: format!("it requests `{name}`"),
                });
            }
        }
        let (before, after) = (&old.manifest, &new.manifest);
        self.compare_manifests(
            &before.clone().unwrap_or_default(),
            &after.clone().unwrap_or_default(),
        );
        self
    }

    fn compare_manifests(&mut self, old: &Manifest, new: &Manifest) {
        let mut report = |words: String, widens: bool| self.changes.push(Change { words, widens });
        let most = |effect: Option<Effect>| effect.map_or("anything", Effect::as_str);
        if old.effect != new.effect {
            let widens = match (old.effect, new.effect) {
                (Some(before), Some(after)) => after > before,
                (Some(_), None) => true,
                (None, _) => false,
            };
            let (before, after) = (most(old.effect), most(new.effect));
            let words = format!("its manifest allows the effect `{after}` instead of `{before}`");
            report(words, widens);
        }
        for host in new.http.iter().filter(|host| !old.http.contains(host)) {
            let words = format!("its manifest allows HTTP requests to `{host}`");
            report(words, true);
        }
        for (what, before, after) in [
            ("bytes in its store", old.store_bytes, new.store_bytes),
            (
                "bytes of memory",
                old.limits.memory_bytes,
                new.limits.memory_bytes,
            ),
            (
                "milliseconds for a call",
                old.limits.call_ms,
                new.limits.call_ms,
            ),
        ] {
            if before == after {
                continue;
            }
            let word =
                |bound: Option<u64>| bound.map_or("any number of".to_owned(), |n| n.to_string());
            let widens = before.is_some_and(|before| after.is_none_or(|after| after > before));
            report(
                format!(
                    "its manifest allows {} {what} instead of {}",
                    word(after),
                    word(before)
                ),
                widens,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inspected(imports: &[&str], manifest: Option<&str>) -> Inspected {
        Inspected {
            size: 0,
            digest: String::new(),
            imports: imports.iter().map(|import| (*import).to_owned()).collect(),
            exports: Vec::new(),
            manifest: manifest.map(|json| Manifest::parse(json.as_bytes()).expect("a manifest")),
            producers: Vec::new(),
        }
    }

    fn widening(old: (&[&str], Option<&str>), new: (&[&str], Option<&str>)) -> Vec<String> {
        let (old, new) = (inspected(old.0, old.1), inspected(new.0, new.1));
        let difference = Difference::default().with_capabilities(&old, &new);
        difference
            .widening()
            .map(|change| change.words.clone())
            .collect()
    }

    #[test]
    fn larger_requests_widen() {
        let small = Some(r#"{"effect": "read", "store_bytes": 5, "http": ["a.example"]}"#);
        let large =
            Some(r#"{"effect": "write", "store_bytes": 6, "http": ["a.example", "b.example"]}"#);
        assert_eq!(widening((&[], small), (&[], large)).len(), 3);
        assert!(widening((&[], large), (&[], small)).is_empty());
        assert_eq!(
            widening((&[], small), (&[], None)).len(),
            2,
            "no ceiling at all"
        );
        let sends = ["wasi:http/outgoing-handler@0.2.6"];
        assert_eq!(widening((&[], None), (&sends, None)).len(), 1);
        let later = ["wasi:http/outgoing-handler@0.2.9"];
        assert!(widening((&sends, None), (&later, None)).is_empty());
    }
}
