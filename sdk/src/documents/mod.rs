//! Operations on documents that more than one domain offers: list, show as a tree, read, edit, move, copy. `document`
//! and `fs` differ in their arguments and in how they present results; the operations are the same code.

pub mod changes;
pub mod listing;
pub mod moving;
pub mod naming;
pub mod reading;
pub mod tree;
