//! Lossless editing of Markdown text.
