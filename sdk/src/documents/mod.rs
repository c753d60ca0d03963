//! What is done to documents in more than one domain: listing, showing as a tree, reading, editing, moving, copying.
//! `document` and `fs` differ in what a caller may write and in how they tell it; what happens is decided here, once, so
//! that their results never differ.

pub mod changes;
pub mod listing;
pub mod moving;
pub mod naming;
pub mod reading;
pub mod tree;
