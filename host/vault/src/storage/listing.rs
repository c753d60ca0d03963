//! The names in one folder, and which of them differ only in case or normal form. Access rules are not applied here.

use std::{collections::HashMap, sync::OnceLock};

use crate::{path::folded, storage::stamp::Node};

/// The names of one folder that components can be shown, sorted.
#[derive(Debug)]
pub(crate) struct Listing {
    pub(crate) names: Vec<(String, Node)>,
    twins: OnceLock<HashMap<String, Vec<u32>>>,
}

impl Listing {
    pub(in crate::storage) fn new(mut names: Vec<(String, Node)>) -> Listing {
        names.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Listing {
            names,
            twins: OnceLock::new(),
        }
    }

    /// The names that differ from this one at most in case and normal form.
    pub(crate) fn twins<'listing>(
        &'listing self,
        name: &str,
    ) -> impl Iterator<Item = &'listing (String, Node)> {
        let twins = self.twins.get_or_init(|| {
            let mut twins: HashMap<String, Vec<u32>> = HashMap::with_capacity(self.names.len());
            for (index, (name, _)) in (0u32..).zip(&self.names) {
                twins.entry(folded(name)).or_default().push(index);
            }
            twins
        });
        twins
            .get(&folded(name))
            .into_iter()
            .flatten()
            .map(|index| &self.names[*index as usize])
    }
}
