//! Handles links to a removed note: keep, strike through, or replace with plain text.

use super::{Kind, Link, Names, Reason, Rewrite, Stuck, parse};

/// How to handle links to a removed note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Detachment {
    /// Keep them, unresolved.
    #[default]
    Keep,
    /// Replace them with their text, struck through: `~~Plan~~`. For an embed that is the name of its target.
    Mark,
    /// Replace them with their text: alias, link text or name. Embeds and images are removed.
    Unlink,
}

/// The splices of the note at `path` for links that resolve, by the `names` before the removal, to a file that `is_removed`.
/// A reference definition is not changed but reported, because other links need its label.
pub fn detach(
    path: &str,
    note: &str,
    is_removed: impl Fn(&str) -> bool,
    names: &Names,
    how: Detachment,
) -> Rewrite {
    let mut result = Rewrite::default();
    if how == Detachment::Keep {
        return result;
    }
    for link in parse(note) {
        if link.external || link.target.is_empty() {
            continue;
        }
        let Some(found) = names
            .resolve(path, &link.target)
            .filter(|found| is_removed(found.path))
        else {
            continue;
        };
        if link.kind == Kind::Definition {
            result.stuck.push(Stuck {
                path: path.to_owned(),
                line: link.line,
                link: note[link.range.clone()].to_owned(),
                target: found.path.to_owned(),
                reason: Reason::Referred,
            });
            continue;
        }
        unwrap(note, &link, how, &mut result);
    }
    // A link around an image has two splices, with those of the image between them.
    result.splices.sort_by_key(|(range, _)| range.start);
    result
}

/// Replaces the syntax around the text of a link, so that links within that text keep their own splices.
fn unwrap(note: &str, link: &Link, how: Detachment, result: &mut Rewrite) {
    let is_shown = matches!(link.kind, Kind::Embed | Kind::Image);
    let around = if how == Detachment::Mark { "~~" } else { "" };
    let text = link.display(note);
    match &link.text_range {
        Some(range) if !is_shown && !note[range.clone()].trim().is_empty() => {
            result
                .splices
                .push((link.range.start..range.start, around.to_owned()));
            result
                .splices
                .push((range.end..link.range.end, around.to_owned()));
        }
        _ if is_shown && how == Detachment::Unlink => {
            result.splices.push((link.range.clone(), String::new()))
        }
        _ => result
            .splices
            .push((link.range.clone(), format!("{around}{text}{around}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detached(note: &str, how: Detachment) -> String {
        let names = Names::new(["s.md", "A/X.md", "i.png", "Y.md"]);
        detach(
            "s.md",
            note,
            |path| path == "A/X.md" || path == "i.png",
            &names,
            how,
        )
        .apply(note)
    }

    const NOTE: &str =
        "[[X]] [[A/X#h|*alias*]] [t `c`](A/X.md \"t\") ![[X]] ![[i.png|300]] [[Y]] `[[X]]`";

    #[test]
    fn unlinked_links_become_their_text() {
        assert_eq!(
            detached(NOTE, Detachment::Unlink),
            "X *alias* t `c`   [[Y]] `[[X]]`"
        );
        assert_eq!(detached("[![alt](i.png)](A/X.md)", Detachment::Unlink), "");
        assert_eq!(
            detached("[![alt](Y.md)](A/X.md)", Detachment::Unlink),
            "![alt](Y.md)"
        );
        assert_eq!(
            detached("---\nup: \"[[X]]\"\n---\n", Detachment::Unlink),
            "---\nup: \"X\"\n---\n"
        );
    }

    #[test]
    fn marked_links_become_struck_text() {
        assert_eq!(
            detached(NOTE, Detachment::Mark),
            "~~X~~ ~~*alias*~~ ~~t `c`~~ ~~X~~ ~~i.png~~ [[Y]] `[[X]]`"
        );
        assert_eq!(detached("[](A/X.md)", Detachment::Mark), "~~X~~");
    }

    #[test]
    fn kept_links_and_definitions_stay() {
        assert_eq!(detached(NOTE, Detachment::Keep), NOTE);
        let names = Names::new(["X.md"]);
        let result = detach("s.md", "[id]: X.md", |_| true, &names, Detachment::Unlink);
        assert_eq!(result.splices, []);
        assert_eq!(result.stuck[0].reason, Reason::Referred);
    }
}
