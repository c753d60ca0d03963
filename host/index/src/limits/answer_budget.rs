//! The size limit of an answer. Answers are built from notes, and ten thousand notes with all their properties would
//! take gigabytes, so every part is counted before it is copied.
//!
//! An answer that is too large is refused and never truncated: a caller that pages by its own limit would miss the
//! rest.

use std::cell::Cell;

use notehost_vault::VaultError;

/// How many bytes an answer may have that comes in pages.
pub(crate) const MAX_PAGE_BYTES: usize = 32 << 20;
/// How many bytes a list of files or links of the whole vault may have, which has no pages.
const MAX_LIST_BYTES: usize = 128 << 20;
/// What an item takes beside its texts: the names of its fields, numbers.
const ITEM_BYTES: usize = 64;

/// The bytes that are left for an answer.
pub(crate) struct AnswerBudget {
    left: Cell<usize>,
    most: usize,
}

impl AnswerBudget {
    /// For an answer that comes in pages.
    pub(crate) fn of_page() -> AnswerBudget {
        AnswerBudget::new(MAX_PAGE_BYTES)
    }

    /// For a list that is returned whole.
    pub(crate) fn of_list() -> AnswerBudget {
        AnswerBudget::new(MAX_LIST_BYTES)
    }

    pub(crate) fn new(bytes: usize) -> AnswerBudget {
        AnswerBudget {
            left: Cell::new(bytes),
            most: bytes,
        }
    }

    /// Before so many bytes are put into the answer.
    pub(crate) fn take(&self, bytes: usize) -> Result<(), VaultError> {
        self.check(bytes)?;
        self.left.set(self.left.get() - bytes);
        Ok(())
    }

    /// The same for an item with these texts.
    pub(crate) fn take_item(
        &self,
        texts: impl IntoIterator<Item = usize>,
    ) -> Result<(), VaultError> {
        let texts: usize = texts.into_iter().sum();
        self.take(ITEM_BYTES.saturating_add(texts))
    }

    /// Whether so many bytes more would fit.
    pub(crate) fn check(&self, bytes: usize) -> Result<(), VaultError> {
        match bytes > self.left.get() {
            true => Err(self.too_large()),
            false => Ok(()),
        }
    }

    fn too_large(&self) -> VaultError {
        let most = self.most >> 20;
        VaultError::too_large(format!("the answer of the index would exceed {most} MiB")).with_hint(
            "request fewer notes at once (a smaller `limit`) or fewer fields of each".to_owned(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oversized_items_are_refused_without_charge() {
        let budget = AnswerBudget::new(2 * ITEM_BYTES + 10);
        assert!(budget.take_item([4, 4]).is_ok());
        let refused = budget.take_item([2, 1]).unwrap_err();
        assert_eq!(refused.code(), "too_large");
        assert!(budget.take_item([2]).is_ok());
        assert!(budget.take(1).is_err());
    }
}
