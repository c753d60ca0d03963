//! The Markdown that Obsidian reads, as options for the parser.

use comrak::Options;

/// Options under which comrak sees what Obsidian sees: wikilinks, callouts, `%%comments%%`, highlights,
/// footnotes, tables, math.
///
/// Frontmatter is left out on purpose: [`crate::text::frontmatter::locate`] finds it, and the parser is given
/// the body only, because its own rule fails on some line endings.
pub fn options() -> Options<'static> {
    let mut options = Options::default();
    let extension = &mut options.extension;
    extension.strikethrough = true;
    extension.table = true;
    extension.tasklist = true;
    extension.footnotes = true;
    extension.math_dollars = true;
    extension.wikilinks_title_after_pipe = true;
    extension.ofm_callouts = true;
    extension.ofm_comments = true;
    extension.highlight = true;
    extension.cjk_friendly_emphasis = true;
    options.parse.relaxed_tasklist_matching = true;
    // Otherwise definitions are moved to the end of the tree, out of the order of the source.
    options.parse.leave_footnote_definitions = true;
    options
}
