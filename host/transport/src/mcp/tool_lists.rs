//! The tools that callers see, in rmcp's types. Built once per snapshot for each set of scopes and each surface.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::model::{Tool, ToolAnnotations};

use notehost_config::Surface;
use notehost_pipeline::registry::{Registry, Snapshot};
use notehost_policy::auth::Scopes;
use notehost_tools::{self as tools, ToolSet};

/// The maximum number of cached lists. Signed tokens may bring any number of sets of scopes.
const MAX_LISTS: usize = 256;

/// The tools that callers with the same scopes see on a surface.
pub(crate) struct ToolList {
    /// The domains, and what resolves a call.
    pub(crate) set: ToolSet,
    /// The same tools as `tools/list` returns them.
    pub(crate) tools: Vec<Tool>,
}

impl ToolList {
    /// The domains that the caller sees.
    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.set.snapshot
    }
}

/// The cached lists.
#[derive(Default)]
pub(crate) struct ToolLists {
    current: Mutex<Option<CachedLists>>,
}

struct CachedLists {
    made_from: Arc<Snapshot>,
    by_profile: HashMap<(Scopes, Surface), Arc<ToolList>>,
}

impl ToolLists {
    /// The tools of the current snapshot for these scopes.
    pub(crate) fn list(
        &self,
        registry: &Registry,
        scopes: Scopes,
        surface: Surface,
    ) -> Arc<ToolList> {
        let snapshot = registry.snapshot();
        let mut cached = self.current.lock();
        let current = match cached.take() {
            Some(current) if Arc::ptr_eq(&current.made_from, &snapshot) => current,
            _ => CachedLists {
                made_from: snapshot.clone(),
                by_profile: HashMap::new(),
            },
        };
        let current = cached.insert(current);
        if current.by_profile.len() >= MAX_LISTS {
            current.by_profile.clear();
        }
        current
            .by_profile
            .entry((scopes, surface))
            .or_insert_with_key(|(scopes, surface)| {
                let set = ToolSet::new(snapshot.seen_with(scopes), *surface);
                let tools = set.tools.iter().map(tool).collect();
                Arc::new(ToolList { set, tools })
            })
            .clone()
    }
}

fn tool(tool: &tools::Tool) -> Tool {
    let hints = &tool.annotations;
    let annotations = ToolAnnotations::with_title(&hints.title)
        .read_only(hints.read_only)
        .destructive(hints.destructive)
        .idempotent(hints.idempotent)
        .open_world(hints.open_world);
    let listed = Tool::new(
        tool.name.clone(),
        tool.description.clone(),
        tool.input_schema.clone(),
    )
    .with_annotations(annotations);
    match &tool.output_schema {
        Some(output) => listed.with_raw_output_schema(output.clone()),
        None => listed,
    }
}
