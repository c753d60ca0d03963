//! Metadata of a component file, read without compiling or running it.

use notehost::registry::EMBEDDED;
use notehost::runtime::{Track, inspect};

use super::frozen;
use crate::support::guests::guest;

#[test]
fn inspect_reads_name_contract_and_manifest() {
    for embedded in EMBEDDED {
        let inspected = inspect(&embedded.wasm()).expect("a component");
        assert_eq!(inspected.track(), Ok(Track::V1Rc1));
        assert_eq!(
            inspected
                .contract()
                .map(|contract| contract.to_string())
                .as_deref(),
            Some("1.0.0-rc.1")
        );
        assert_eq!(inspected.size, embedded.wasm().len());
        assert_eq!(inspected.digest, embedded.digest());
        assert_eq!(inspected.manifest, None);
        let imports: Vec<&str> = inspected.imports.iter().map(String::as_str).collect();
        assert!(
            imports.contains(&"notehost:domain/vault@1.0.0-rc.1"),
            "{imports:?}"
        );
        assert_eq!(inspected.exports, ["notehost:domain/domain@1.0.0-rc.1"]);
        let mut producers = inspected.producers.iter();
        assert!(
            producers.any(|one| (one.role, one.name.as_str()) == ("processed-by", "wit-component")),
            "{:?}",
            inspected.producers
        );
    }
}

#[test]
fn inspect_lists_privileged_imports() {
    let bytes = std::fs::read(guest("smuggler_files")).expect("a component");
    let imports = inspect(&bytes).expect("a component").imports;
    assert!(
        imports
            .iter()
            .any(|import| import.starts_with("wasi:filesystem/types@0.2")),
        "{imports:?}"
    );
}

/// Any wrong byte and any truncation gives a result or an error.
#[test]
fn damaged_components_never_panic() {
    let whole = std::fs::read(frozen("1.0.0-rc.1")).expect("a component");
    let exports = inspect(&whole).expect("a component").exports;
    let mut refused = 0;
    for at in (0..whole.len()).step_by(61) {
        for wrong in [0x00, 0x7f, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] = wrong;
            refused += usize::from(inspect(&damaged).is_err());
        }
        // A cut between two sections leaves a valid component without its last sections: exports or custom sections.
        if let Ok(cut) = inspect(&whole[..at]) {
            let lacks = exports.len() - cut.exports.len();
            assert_eq!(cut.track().is_ok(), lacks == 0, "cut after {at} bytes");
        }
    }
    assert!(refused > 0, "some damage is detected without compiling");
}
