//! Parser options for Obsidian's Markdown.

use comrak::Options;

/// The comrak options for Obsidian's extensions: wikilinks, callouts, `%%comments%%`, highlights, footnotes, tables, math.
///
/// Frontmatter is disabled: comrak's rule fails on some line endings, so [`crate::text::frontmatter::locate`] finds it and
/// the parser gets only the body.
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
    // Otherwise footnote definitions move to the end of the tree, out of source order.
    options.parse.leave_footnote_definitions = true;
    options
}
