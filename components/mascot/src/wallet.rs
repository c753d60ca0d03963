//! What a caller earned and spent. What was earned the host counts; what was spent is kept in the component's store, for
//! each caller under a key of its own.

use notehost_sdk::prelude::*;
use notehost_sdk::serde_json;

use crate::shop::Thing;

/// The longest part of a caller's name that a key has; a store's keys are bounded.
const LONGEST_NAME: usize = 100;

/// What one caller has.
pub(crate) struct Wallet {
    key: String,
    pub(crate) earned: u64,
    pub(crate) spent: u64,
    pub(crate) items: Vec<String>,
}

impl Wallet {
    /// The wallet of whoever calls.
    pub(crate) fn of_caller(vault: &Vault) -> Result<Wallet> {
        let caller = vault.caller()?;
        let key = key(&caller.name);
        let kept = vault.store_get(&key)?.unwrap_or_default();
        // What cannot be read is an empty wallet: nobody loses a note by it.
        let kept: serde_json::Value = serde_json::from_slice(&kept).unwrap_or_default();
        let items = kept["items"].as_array().into_iter().flatten();
        Ok(Wallet {
            key,
            earned: caller.calls,
            spent: kept["spent"].as_u64().unwrap_or(0),
            items: items
                .filter_map(|item| item.as_str().map(str::to_owned))
                .collect(),
        })
    }

    /// What is left to spend.
    pub(crate) fn coins(&self) -> u64 {
        self.earned.saturating_sub(self.spent)
    }

    pub(crate) fn has(&self, item: &str) -> bool {
        self.items.iter().any(|had| had == item)
    }

    /// Spend what a thing costs, if it is not had yet and there is enough.
    pub(crate) fn pay(&mut self, thing: &Thing) -> Result<()> {
        if self.has(thing.name) {
            return Err(Error::new(
                Code::AlreadyExists,
                format!("the puppy already has a {}", thing.name),
            ));
        }
        let missing = thing.price.saturating_sub(self.coins());
        if missing > 0 {
            return Err(Error::validation(format!(
                "a {} costs {} coins and you have {}, {missing} too few: every call earns one",
                thing.name,
                thing.price,
                self.coins()
            )));
        }
        self.spent += thing.price;
        self.items.push(thing.name.to_owned());
        Ok(())
    }

    /// Put it back into the store.
    pub(crate) fn keep(&self, vault: &Vault) -> Result<()> {
        let kept = json!({ "spent": self.spent, "items": self.items });
        vault.store_set(&self.key, kept.to_string().as_bytes())
    }
}

/// Where a caller's wallet is kept. A long name is cut, and what was cut off is told apart by its hash.
fn key(caller: &str) -> String {
    use std::hash::{Hash as _, Hasher as _};
    let end = (0..=LONGEST_NAME.min(caller.len()))
        .rev()
        .find(|end| caller.is_char_boundary(*end));
    let (kept, cut) = caller.split_at(end.unwrap_or(0));
    if cut.is_empty() {
        return format!("wallet/{kept}");
    }
    // Its keys are fixed, so the hash is the same in every call.
    let mut hasher = std::hash::DefaultHasher::new();
    cut.hash(&mut hasher);
    format!("wallet/{kept}~{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_caller_has_a_key_that_fits() {
        assert_eq!(key("ana"), "wallet/ana");
        let long = |last: char| format!("{}{last}", "é".repeat(300));
        assert!(key(&long('a')).len() <= 200);
        assert_ne!(key(&long('a')), key(&long('b')));
    }
}
