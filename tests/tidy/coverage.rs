//! Every action of every first-party component has a scenario in which it succeeds and one in which it fails.

use std::collections::BTreeSet;

use notehost::registry::EMBEDDED;
use notehost::runtime::Description;

use crate::support::repository;
use crate::transcript::{self, Script, StepKind};

#[test]
fn every_action_has_scenarios() {
    let (mut works, mut refuses) = (BTreeSet::new(), BTreeSet::new());
    for file in transcript::files(&repository().join("tests/scenarios")) {
        let text = std::fs::read_to_string(&file).expect("a transcript");
        for step in Script::parse(&text).steps {
            if let StepKind::Call { domain, action, .. } = &step.act {
                let seen = if step.recorded.starts_with('!') {
                    &mut refuses
                } else {
                    &mut works
                };
                seen.insert(format!("{domain}.{action}"));
            }
        }
    }
    let mut missing = Vec::new();
    for embedded in EMBEDDED {
        let description = Description::parse(embedded.description).expect("a description");
        for action in description.actions {
            let name = format!("{}.{}", embedded.name, action.name);
            if !works.contains(&name) {
                missing.push(format!("{name}: none in which it works"));
            }
            if !refuses.contains(&name) {
                missing.push(format!("{name}: none in which it refuses"));
            }
        }
    }
    assert!(
        missing.is_empty(),
        "scenarios are missing:\n{}",
        missing.join("\n")
    );
}
