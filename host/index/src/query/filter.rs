//! Evaluates the conditions that do not need the text of notes.

use notehost_sdk::fold_name;
use notehost_sdk::index::{Condition, Has, PropertyTest};

use super::caller_view::CallerView;
use super::links;
use super::tags;
use crate::graph::record::Holds;
use crate::graph::{File, Graph};
use crate::limits::deadline::Deadline;
use crate::text::Bitmap;
use notehost_vault::VaultError;
use notehost_vault::glob::Glob;

/// How many bytes of a path are matched with a glob's bytes in the time in which one byte is gone through. Mostly it is one
/// step for a path; in the worst case the work grows with the product.
const GLOB_SHARE: usize = 16;

/// The notes among those that a caller finds that fulfil a condition about facts.
pub(crate) fn fulfilling(
    graph: &Graph,
    view: &CallerView,
    condition: &Condition,
    deadline: &Deadline,
) -> Result<Bitmap, VaultError> {
    deadline.check()?;
    let notes = |is: &dyn Fn(u32, &File) -> bool| -> Result<Bitmap, VaultError> {
        let mut fitting = Bitmap::default();
        for doc_id in view.finds.iter() {
            deadline.step()?;
            if graph.file(doc_id).is_some_and(|file| is(doc_id, file)) {
                fitting.insert(doc_id);
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
            let mut left = (*view.finds).clone();
            for condition in all {
                left = left.and(&fulfilling(graph, view, condition, deadline)?);
            }
            left
        }
        Condition::Any(any) => {
            let mut found = Bitmap::default();
            for condition in any {
                found = found.or(&fulfilling(graph, view, condition, deadline)?);
            }
            found
        }
        Condition::Not(not) => view.finds.without(&fulfilling(graph, view, not, deadline)?),
        // The full-text half evaluates these itself.
        Condition::Words(_) | Condition::Prefix(_) | Condition::Like(_) => Bitmap::default(),
        // Many queries test a single note.
        Condition::Under(note) if graph.doc_id(note).is_some() => {
            let doc_id = graph.doc_id(note).into_iter();
            doc_id
                .filter(|doc_id| view.finds.contains(*doc_id))
                .collect()
        }
        Condition::Under(folder) => notes(&|_, file| links::is_under(&file.path, folder))?,
        Condition::Path(glob) => {
            let matcher = matcher(glob)?;
            let mut fitting = Bitmap::default();
            for doc_id in view.finds.iter() {
                let Some(file) = graph.file(doc_id) else {
                    continue;
                };
                deadline.before_all(file.path.len() * glob.len() / GLOB_SHARE)?;
                if matcher.is_match(&fold_name(&file.path)) {
                    fitting.insert(doc_id);
                }
            }
            fitting
        }
        Condition::Tag(tag) => tags::tagged(graph, tag, deadline)?.and(&view.finds),
        Condition::Property(test) => {
            check(test)?;
            let test = test.matcher();
            let mut fitting = Bitmap::default();
            for doc_id in view.finds.iter() {
                let Some(note) = graph.note(doc_id) else {
                    continue;
                };
                deadline.before_all(note.property_bytes())?;
                if test.holds(note.properties.as_deref()) {
                    fitting.insert(doc_id);
                }
            }
            fitting
        }
        Condition::Modified(span) => notes(&|_, file| {
            let modified = file.stamp.modified_millis();
            span.contains(modified)
        })?,
        Condition::Size(span) => notes(&|_, file| span.contains(file.stamp.size()))?,
        Condition::LinksTo(path) => links::sources(graph, view, path, deadline)?.and(&view.finds),
        Condition::LinkedFrom(path) => {
            links::targets(graph, view, path, deadline)?.and(&view.finds)
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
                let link_graph = view.link_graph(graph, deadline)?;
                notes(&|doc_id, _| link_graph.degree(doc_id).broken > 0)?
            }
            Has::Backlinks => {
                let link_graph = view.link_graph(graph, deadline)?;
                notes(&|doc_id, _| link_graph.degree(doc_id).incoming > 0)?
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
            "a property name is required".to_owned(),
        ));
    }
    Ok(())
}
