//! Which notes fulfil a condition, as far as that can be said without their text.

use notehost_sdk::fold_name;
use notehost_sdk::index::{Condition, Has, PropertyTest};

use super::deadline::Deadline;
use super::graph::{File, Graph};
use super::links;
use super::record::Holds;
use super::tags;
use super::text::Slots;
use super::viewer::Viewer;
use notehost_vault::VaultError;
use notehost_vault::glob::Glob;

/// How many bytes of a path are matched with a glob's bytes in the time in which one byte is gone through. Mostly it is one
/// step for a path; in the worst case the work grows with the product.
const GLOB_SHARE: usize = 16;

/// The notes among those that an asker finds that fulfil a condition about facts.
pub(super) fn fulfilling(
    graph: &Graph,
    viewer: &Viewer,
    condition: &Condition,
    deadline: &Deadline,
) -> Result<Slots, VaultError> {
    deadline.check()?;
    let notes = |is: &dyn Fn(u32, &File) -> bool| -> Result<Slots, VaultError> {
        let mut fitting = Slots::default();
        for slot in viewer.finds.iter() {
            deadline.step()?;
            if graph.file(slot).is_some_and(|file| is(slot, file)) {
                fitting.insert(slot);
            }
        }
        Ok(fitting)
    };
    let holding = |kind: u16| {
        notes(&|_, file| {
            file.note
                .as_ref()
                .is_some_and(|note| note.has.contains(kind))
        })
    };
    Ok(match condition {
        Condition::All(all) => {
            let mut left = (*viewer.finds).clone();
            for condition in all {
                left = left.and(&fulfilling(graph, viewer, condition, deadline)?);
            }
            left
        }
        Condition::Any(any) => {
            let mut found = Slots::default();
            for condition in any {
                found = found.or(&fulfilling(graph, viewer, condition, deadline)?);
            }
            found
        }
        Condition::Not(not) => viewer
            .finds
            .without(&fulfilling(graph, viewer, not, deadline)?),
        // The full-text half answers for these; it never asks here.
        Condition::Words(_) | Condition::Prefix(_) | Condition::Like(_) => Slots::default(),
        // A single note, which many ask about.
        Condition::Under(note) if graph.slot(note).is_some() => {
            let slot = graph.slot(note).into_iter();
            slot.filter(|slot| viewer.finds.contains(*slot)).collect()
        }
        Condition::Under(folder) => notes(&|_, file| links::is_under(&file.path, folder))?,
        Condition::Path(glob) => {
            let matcher = matcher(glob)?;
            let mut fitting = Slots::default();
            for slot in viewer.finds.iter() {
                let Some(file) = graph.file(slot) else {
                    continue;
                };
                deadline.before_all(file.path.len() * glob.len() / GLOB_SHARE)?;
                if matcher.is_match(&fold_name(&file.path)) {
                    fitting.insert(slot);
                }
            }
            fitting
        }
        Condition::Tag(tag) => tags::tagged(graph, tag, deadline)?.and(&viewer.finds),
        Condition::Property(test) => {
            check(test)?;
            let test = test.matcher();
            let mut fitting = Slots::default();
            for slot in viewer.finds.iter() {
                let Some(note) = graph.note(slot) else {
                    continue;
                };
                deadline.before_all(note.property_bytes())?;
                if test.holds(note.properties.as_deref()) {
                    fitting.insert(slot);
                }
            }
            fitting
        }
        Condition::Modified(span) => notes(&|_, file| {
            let modified = file.stamp.modified_millis();
            span.contains(modified)
        })?,
        Condition::Size(span) => notes(&|_, file| span.contains(file.stamp.size()))?,
        Condition::LinksTo(path) => {
            links::sources(graph, viewer, path, deadline)?.and(&viewer.finds)
        }
        Condition::LinkedFrom(path) => {
            links::targets(graph, viewer, path, deadline)?.and(&viewer.finds)
        }
        Condition::Has(has) => match has {
            Has::Tags => holding(Holds::TAGS)?,
            Has::Properties => holding(Holds::PROPERTIES)?,
            Has::Aliases => holding(Holds::ALIASES)?,
            Has::Headings => holding(Holds::HEADINGS)?,
            Has::Links => holding(Holds::LINKS)?,
            Has::Embeds => holding(Holds::EMBEDS)?,
            Has::Blocks => holding(Holds::BLOCKS)?,
            Has::Tasks => holding(Holds::TASKS)?,
            Has::OpenTasks => holding(Holds::OPEN_TASKS)?,
            Has::BrokenLinks => {
                let web = viewer.web(graph, deadline)?;
                notes(&|slot, _| web.degree(slot).broken > 0)?
            }
            Has::Backlinks => {
                let web = viewer.web(graph, deadline)?;
                notes(&|slot, _| web.degree(slot).incoming > 0)?
            }
        },
    })
}

/// A glob over folded paths; `*` stays within a folder.
fn matcher(glob: &str) -> Result<Glob, VaultError> {
    Glob::new(&fold_name(glob)).map_err(|reason| {
        let shown: String = glob.chars().take(80).collect();
        VaultError::invalid(format!("`{shown}` is not a glob: {reason}"))
    })
}

fn check(test: &PropertyTest) -> Result<(), VaultError> {
    if test.key.is_empty() {
        return Err(VaultError::invalid(
            "a property's name is needed".to_owned(),
        ));
    }
    Ok(())
}
