//! The coins of a caller. The host counts the earned coins; spent coins are saved in the component's store, under one
//! key per caller.

use notehost_sdk::prelude::*;
use notehost_sdk::serde_json;

use crate::shop::Item;

/// The maximum part of a caller's name in a key: store keys are limited in length.
const MAX_NAME_BYTES: usize = 100;
/// The length of the digest of a long name in a key.
const DIGEST_DIGITS: usize = 32;

/// The coins and items of one caller.
pub(crate) struct Wallet {
    key: String,
    pub(crate) earned: u64,
    pub(crate) spent: u64,
    pub(crate) items: Vec<String>,
}

impl Wallet {
    /// The wallet of the caller.
    pub(crate) fn of_caller(vault: &Vault) -> Result<Wallet> {
        let caller = vault.caller()?;
        let key = key(&caller.name);
        let saved = vault.store_get(&key)?.unwrap_or_default();
        // An unreadable entry counts as an empty wallet: no notes are at stake.
        let saved: serde_json::Value = serde_json::from_slice(&saved).unwrap_or_default();
        let items = saved["items"].as_array().into_iter().flatten();
        Ok(Wallet {
            key,
            earned: caller.calls,
            spent: saved["spent"].as_u64().unwrap_or(0),
            items: items
                .filter_map(|item| item.as_str().map(str::to_owned))
                .collect(),
        })
    }

    /// The coins left to spend.
    pub(crate) fn coins(&self) -> u64 {
        self.earned.saturating_sub(self.spent)
    }

    pub(crate) fn has(&self, item: &str) -> bool {
        self.items.iter().any(|owned| owned == item)
    }

    /// Pays for an item, unless it is owned already or too expensive.
    pub(crate) fn pay(&mut self, item: &Item) -> Result<()> {
        if self.has(item.name) {
            return Err(Error::new(
                Code::AlreadyExists,
                format!("the puppy already has a {}", item.name),
            ));
        }
        let missing = item.price.saturating_sub(self.coins());
        if missing > 0 {
            return Err(Error::validation(format!(
                "a {} costs {} coins, but you have {} ({missing} too few): every call earns one",
                item.name,
                item.price,
                self.coins()
            )));
        }
        self.spent += item.price;
        self.items.push(item.name.to_owned());
        Ok(())
    }

    /// Saves it in the store.
    pub(crate) fn save(&self, vault: &Vault) -> Result<()> {
        let saved = json!({ "spent": self.spent, "items": self.items });
        vault.store_set(&self.key, saved.to_string().as_bytes())
    }
}

/// The store key of a caller's wallet. A long name is truncated, and a digest of the whole name is appended.
fn key(caller: &str) -> String {
    if caller.len() <= MAX_NAME_BYTES {
        return format!("wallet/{caller}");
    }
    let kept = &caller[..caller.floor_char_boundary(MAX_NAME_BYTES)];
    // The digest is part of a stored key, so it has to be the same in every version of the program.
    let digest = blake3::hash(caller.as_bytes()).to_hex();
    format!("wallet/{kept}~{}", &digest[..DIGEST_DIGITS])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_unique_and_limited_in_length() {
        assert_eq!(key("ana"), "wallet/ana");
        let long = |last: char| format!("{}{last}", "é".repeat(300));
        assert!(key(&long('a')).len() <= 200);
        assert_ne!(key(&long('a')), key(&long('b')));
        // Stored keys must stay readable.
        assert_eq!(
            key(&"a".repeat(101)),
            format!(
                "wallet/{}~241b3acbd17d14d9fb00eab775cb97ff",
                "a".repeat(100)
            )
        );
    }
}
