//! Workflows of domain authors: a new project in each language that builds, passes its tests and is hot-swapped into a
//! server; the examples in JavaScript and Python; every command of the guide; the reference.
//!
//! Packages from npm and pip are stored in `target/authors`, once for all tests. Where node or python is missing, the
//! tests of that language print `skipped:`.

mod cycle;
mod dev;
mod examples;
mod guide;
mod project;
mod reference;
mod tools;
