//! What authors of domains meet: a new project in each language that builds, passes its tests and swaps into a server; the
//! examples in JavaScript and Python; the guide, every command of it; the reference.
//!
//! What npm and pip fetch lies in `target/authors`, once for all tests. Where node or python is missing the tests of that
//! language say `skipped:`.

mod cycle;
mod dev;
mod examples;
mod guide;
mod project;
mod reference;
mod tools;
