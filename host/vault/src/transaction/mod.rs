//! One transaction: its read set, its staged changes, and the view that combines both.
//!
//! The operations of the contract are in `read`, `view`, `stage`, `trash`, `history_operations`, `undo_data`, `undo_run`,
//! `versions`, `names` and `store`; `commit`
//! validates the read set and hands what is staged to the storage.

pub(crate) mod change_details;
pub(crate) mod changes;
pub(crate) mod commit;
pub(crate) mod history_operations;
pub(crate) mod lookup;
pub(crate) mod names;
pub(crate) mod read;
pub(crate) mod revocation;
pub(crate) mod stage;
pub(crate) mod store;
pub(crate) mod suggestions;
pub(crate) mod text_search;
pub(crate) mod trash;
pub(crate) mod undo_data;
pub(crate) mod undo_run;
pub(crate) mod validate;
pub(crate) mod versions;
pub(crate) mod view;

use notehost_sdk::Code;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use crate::{
    Vault,
    access::{Access, Effect, Rules, Tier},
    error::VaultError,
    path::{is_below, parse, split},
    storage::{
        Position,
        change_set::{ReadRecord, StagedFile, UndoTarget},
        records::NameEdit,
        stamp::{Digest, Node},
    },
    transaction::view::FolderListings,
    types::Kind,
};
use notehost_platform::clock::now_millis;
use notehost_platform::memory::release_free_memory;

/// What a call does in a vault: reads see one state of it and the call's own writes; nothing is visible to
/// anybody else before [`Transaction::commit`].
pub struct Transaction {
    pub(crate) vault: Arc<Vault>,
    pub(crate) access: Access,
    /// What it could do at the beginning; it may be less by now.
    pub(crate) began_rules: Arc<dyn Rules>,
    /// Why nothing may be written any more, if so.
    pub(crate) closed: Option<VaultError>,
    /// How far commits had come at the beginning.
    pub(crate) began: Position,
    pub(crate) began_millis: u64,
    /// The read set, by canonical path: what commit must find unchanged.
    pub(crate) seen: BTreeMap<String, ReadRecord>,
    /// Searches and listings with the digests of their answers, to be repeated if another commit landed meanwhile.
    pub(crate) scans: HashMap<ScanQuery, Digest>,
    /// Queries of the index, to be repeated in the same case.
    pub(crate) relied: Vec<AnswerDependency>,
    /// The folders as they were when they were first gone through.
    pub(crate) survey: Option<Arc<FolderListings>>,
    /// A file that changed between two reads of this transaction: it can only be run again.
    pub(crate) conflict: Option<String>,
    /// Files as they would be; `None` where a file of the disk would be gone.
    pub(crate) staged: BTreeMap<String, Option<StagedFile>>,
    /// Files of the disk that would go to the trash, with the id there.
    pub(crate) trashed: BTreeMap<String, String>,
    /// Where files were that are restored from the trash.
    pub(crate) restored: BTreeSet<String>,
    pub(crate) new_folders: BTreeSet<String>,
    /// Folders that were renamed or removed, to be pruned if nothing is left in them.
    pub(crate) gone_folders: BTreeSet<String>,
    pub(crate) undoes: Option<UndoTarget>,
    /// How many bytes the call gave to write, replaced ones too.
    pub(crate) written: u64,
    pub(crate) kept: ReadBytes,
    /// How many bytes of queries are held, to be repeated at commit.
    pub(crate) retained: u64,
    pub(crate) store_bytes: Option<u64>,
    pub(crate) data_changes: DataChanges,
    /// The version that gets another name.
    pub(crate) naming: Option<NameEdit>,
}

/// Whose changes of nothing but the data of components a transaction sees. Such data may be about notes that another
/// caller may not see, so by default nobody's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DataChanges {
    /// None.
    #[default]
    Hidden,
    /// Those of this caller.
    Of(String),
    /// All of them: for the owner.
    All,
}

/// How many bytes of what was read are kept.
// Invariant: stands after all that holds them, so that they are free when it goes.
#[derive(Default)]
pub(crate) struct ReadBytes(pub(crate) u64);

impl Drop for ReadBytes {
    fn drop(&mut self) {
        /// Less is used again soon.
        const RELEASE_THRESHOLD_BYTES: u64 = 16 << 20;
        if self.0 > RELEASE_THRESHOLD_BYTES {
            release_free_memory();
        }
    }
}

/// Computes an answer again and returns its digest; `None` if that is no longer possible.
pub type RecomputeAnswer = Arc<dyn Fn(&Transaction) -> Option<[u8; 32]> + Send + Sync>;

/// An answer that does not come from files of the read set, and how to compute it again.
pub(crate) struct AnswerDependency {
    pub(crate) answer: [u8; 32],
    pub(crate) again: RecomputeAnswer,
}

/// A question whose answer depends on many files.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ScanQuery {
    Below {
        folder: String,
        recursive: bool,
    },
    Resolve {
        name: String,
        source: Option<String>,
    },
    Mentioning {
        texts: Vec<String>,
    },
}

impl ScanQuery {
    /// What it takes in memory, about.
    pub(crate) fn bytes(&self) -> usize {
        let words = match self {
            ScanQuery::Below { folder, .. } => folder.len(),
            ScanQuery::Resolve { name, source } => {
                name.len() + source.as_ref().map_or(0, String::len)
            }
            ScanQuery::Mentioning { texts } => texts
                .iter()
                .map(|text| text.len() + size_of::<String>())
                .sum::<usize>(),
        };
        words + size_of::<(ScanQuery, Digest)>()
    }
}

impl Transaction {
    pub(crate) fn new(vault: Arc<Vault>, access: Access) -> Self {
        Transaction {
            began: vault.storage.position(),
            began_millis: now_millis(),
            vault,
            began_rules: Arc::clone(&access.rules),
            access,
            closed: None,
            seen: BTreeMap::new(),
            scans: HashMap::new(),
            relied: Vec::new(),
            survey: None,
            conflict: None,
            staged: BTreeMap::new(),
            trashed: BTreeMap::new(),
            restored: BTreeSet::new(),
            new_folders: BTreeSet::new(),
            gone_folders: BTreeSet::new(),
            undoes: None,
            written: 0,
            kept: ReadBytes::default(),
            retained: 0,
            store_bytes: None,
            data_changes: DataChanges::Hidden,
            naming: None,
        }
    }

    /// Selects whose changes of nothing but the data of components it sees, and may undo.
    pub fn show_data_changes(&mut self, of: DataChanges) {
        self.data_changes = of;
    }

    /// Whether nothing is staged.
    pub fn has_no_changes(&self) -> bool {
        self.has_no_writes() && self.naming.is_none()
    }

    pub(crate) fn has_no_writes(&self) -> bool {
        self.staged.is_empty() && self.new_folders.is_empty() && self.gone_folders.is_empty()
    }

    /// What the caller, the component and the action may do together.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// The vault it works on.
    pub fn vault(&self) -> &Arc<Vault> {
        &self.vault
    }

    /// Whether the caller may see the file at a canonical path.
    pub fn sees_file(&self, path: &str) -> bool {
        self.sees(path, Kind::File)
    }

    /// Whether it relies on an answer already.
    pub fn relies_on_answers(&self) -> bool {
        !self.relied.is_empty()
    }

    /// What the call does next follows from an answer about the vault: if another commit lands first, `again` must
    /// still give the same answer at commit.
    pub fn rely_on(&mut self, answer: [u8; 32], again: RecomputeAnswer) {
        self.relied.push(AnswerDependency { answer, again });
    }

    /// Counts what is held of a query of this call. The content of queries is controlled by the guest.
    pub fn retain(&mut self, bytes: usize) -> Result<(), VaultError> {
        self.retained += bytes as u64;
        self.check_retained()
    }

    /// Fails once the queries of the call exceed what is held for one call.
    pub fn check_retained(&self) -> Result<(), VaultError> {
        let most = self.access.limits.max_retained_bytes;
        match self.retained > most {
            true => Err(VaultError::too_large(format!(
                "the index queries of one call may have {most} bytes at most"
            ))),
            false => Ok(()),
        }
    }

    /// The files whose content the call looked at, with the etags that they had.
    pub fn read_etags(&self) -> Vec<(String, String)> {
        let files = self.seen.iter().filter_map(|(path, seen)| match seen {
            ReadRecord::File(file) => Some((path.clone(), file.digest.etag())),
            ReadRecord::Absent | ReadRecord::Present(_) => None,
        });
        files.collect()
    }

    /// The caller's tier at a path, regardless of the action's effect.
    pub fn tier_at(&self, path: &str) -> Tier {
        match self.find(path) {
            Ok(Some(found)) => self.tier(&found.path).min(self.tier(&found.spelt)),
            // For what is not there the path itself must do, with folders found as they are spelt.
            Ok(None) => match (parse(path), self.destination(path)) {
                (Err(_), _) => Tier::None,
                (Ok(_), Ok(destination)) => self.tier(&destination.path),
                (Ok(_), Err(_)) => self.tier(path).min(Tier::Read),
            },
            Err(_) => Tier::None,
        }
    }

    /// Effect honesty: an action does no more than it was declared to do.
    pub(crate) fn must_have(&self, effect: Effect) -> Result<(), VaultError> {
        if let Some(refusal) = &self.closed {
            return Err(refusal.clone());
        }
        let (doing, declared) = match (effect, self.access.effect) {
            (needed, declared) if declared >= needed => return Ok(()),
            (Effect::Delete, Effect::Write) => ("remove", "writing"),
            (Effect::Delete, _) => ("remove", "reading"),
            _ => ("write", "reading"),
        };
        self.access.rules.overstepped(effect);
        Err(VaultError::new(
            Code::PermissionDenied,
            format!("the action is declared as {declared}, so it may not {doing}"),
        )
        .with_hint(format!(
            "this is a bug in the component `{}`, not a missing permission",
            self.access.component
        )))
    }

    /// Asks for a right at a canonical path that the caller already sees.
    pub(crate) fn must_reach(&self, path: &str, needed: Tier) -> Result<(), VaultError> {
        if self.tier(path) < needed {
            Err(self.denied(path, needed))
        } else {
            Ok(())
        }
    }

    /// Too low a tier at a path that the caller may see, or that looks the same whether it exists or not.
    pub(crate) fn denied(&self, path: &str, needed: Tier) -> VaultError {
        // The error reveals no rule of what is hidden.
        let rule = match self.tier(path) {
            Tier::None => None,
            _ => self.access.rules.narrowed_by(path),
        };
        VaultError::denied(path, needed, rule)
    }

    /// What is staged at a canonical path, if anything is.
    pub(crate) fn staged_node(&self, path: &str) -> Option<Node> {
        if self.staged.is_empty() && self.new_folders.is_empty() {
            return None;
        }
        match self.staged.get(path) {
            Some(Some(_)) => Some(Node::File),
            _ if self.new_folders.contains(path) || self.staged_below(path).next().is_some() => {
                Some(Node::Folder)
            }
            _ => None,
        }
    }

    /// Whether what the disk has at a canonical path would be gone.
    pub(crate) fn is_gone(&self, path: &str) -> bool {
        matches!(self.staged.get(path), Some(None)) || self.gone_folders.contains(path)
    }

    /// The files that would lie below a folder, as far as they are staged.
    pub(crate) fn staged_below<'all>(
        &'all self,
        folder: &'all str,
    ) -> impl Iterator<Item = (&'all str, &'all StagedFile)> {
        self.staged
            .range(
                if folder.is_empty() {
                    String::new()
                } else {
                    format!("{folder}/")
                }..,
            )
            .take_while(move |(path, _)| is_below(path, folder))
            .filter_map(|(path, file)| Some((path.as_str(), file.as_ref()?)))
            .filter(|(path, _)| !path.starts_with('.'))
    }

    /// The names that a folder would have, as far as they are staged.
    pub(crate) fn staged_children(&self, folder: &str) -> Vec<(String, Node)> {
        let mut children = BTreeMap::new();
        let below = |path: &str| {
            path[if folder.is_empty() {
                0
            } else {
                folder.len() + 1
            }..]
                .to_owned()
        };
        for (path, _) in self.staged_below(folder) {
            match below(path).split_once('/') {
                Some((name, _)) => children.insert(name.to_owned(), Node::Folder),
                None => children.insert(below(path), Node::File),
            };
        }
        for path in self
            .new_folders
            .iter()
            .filter(|path| is_below(path, folder))
        {
            let path = below(path);
            children.insert(
                path.split('/').next().unwrap_or(&path).to_owned(),
                Node::Folder,
            );
        }
        children.into_iter().collect()
    }

    /// A folder that was gone is there again, with those above it.
    pub(crate) fn revive_folders(&mut self, folder: &str) {
        let mut folder = folder;
        while !folder.is_empty() {
            self.gone_folders.remove(folder);
            folder = split(folder).0;
        }
    }

    /// Room for one more staged file.
    pub(crate) fn check_room(&self, path: &str, bytes: u64) -> Result<(), VaultError> {
        let limits = &self.access.limits;
        if bytes > limits.max_file_bytes {
            return Err(VaultError::too_large(format!(
                "`{path}` would have {bytes} bytes; {} are allowed",
                limits.max_file_bytes
            )));
        }
        if self.written + bytes > limits.max_staged_bytes {
            return Err(VaultError::too_large(format!(
                "one call may write {} bytes at most",
                limits.max_staged_bytes
            )));
        }
        let touched = self.staged.len() + self.new_folders.len();
        if touched >= limits.max_staged_files && !self.staged.contains_key(path) {
            return Err(VaultError::too_large(format!(
                "one call may touch {} files and folders at most",
                limits.max_staged_files
            )));
        }
        Ok(())
    }
}
