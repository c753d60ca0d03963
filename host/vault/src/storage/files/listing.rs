//! A cache of folder listings, valid as long as the folder's timestamps are unchanged.
//!
//! Every commit changes the timestamps of the folders that it writes to. So that creating a note does not list its folder
//! again each time, the cache also records what this process's own commits changed since a folder was listed; only the
//! search for twins of a new name uses that, and only for a limited time.
//!
//! Access rules are not applied here: the cache is shared by all callers and filtered on use.

use std::{
    collections::HashMap,
    io,
    sync::Arc,
    time::{Duration, SystemTime},
};

use parking_lot::{Mutex, MutexGuard};

use crate::{
    path::{folded, is_speakable},
    storage::{
        files::disk::Folder,
        listing::Listing,
        stamp::{Node, Stamp},
    },
};

/// For how long a listing is extended by own commits before the folder is listed again. A commit is recorded only if the
/// folder was as known immediately before; what another program changes in those microseconds, or within the resolution of
/// the disk's clock, is noticed after this time, or when the folder changes next.
const MAX_EXTENDED: Duration = Duration::from_secs(10);

/// A listing and when it was read.
#[derive(Clone)]
struct CachedListing {
    stamp: Stamp,
    read: SystemTime,
    listing: Arc<Listing>,
}

impl CachedListing {
    fn read(folder: &Folder) -> io::Result<CachedListing> {
        // The stamp is taken first: a change while reading shows as a difference the next time.
        let read = SystemTime::now();
        let stamp = folder.own_status()?.stamp;
        let mut names = folder.names()?;
        names.retain(|(name, _)| is_speakable(name));
        Ok(CachedListing {
            stamp,
            read,
            listing: Arc::new(Listing::new(names)),
        })
    }
}

/// The listings that were read so far, by folder.
#[derive(Default)]
pub(crate) struct Listings {
    known: Mutex<HashMap<String, Known>>,
}

struct Known {
    cached: CachedListing,
    own_commits: Option<OwnCommits>,
}

/// What own commits changed since a folder was listed.
struct OwnCommits {
    /// Of the folder after the latest one.
    stamp: Stamp,
    /// The files that they created, by folded name.
    created: HashMap<String, Vec<String>>,
}

impl Known {
    /// The stamp of the folder for which this is known.
    fn stamp(&self) -> Stamp {
        let own_commits = self.own_commits.as_ref();
        own_commits.map_or(self.cached.stamp, |own| own.stamp)
    }

    fn is_extensible(&self) -> bool {
        let age = self.cached.read.elapsed();
        age.is_ok_and(|age| age < MAX_EXTENDED)
    }

    fn twins(&self, name: &str) -> Vec<(String, Node)> {
        let mut twins: Vec<_> = self.cached.listing.twins(name).cloned().collect();
        let created = self.own_commits.iter();
        let created = created.filter_map(|own| own.created.get(&folded(name)));
        for name in created.flatten() {
            if !twins.iter().any(|(known, _)| known == name) {
                twins.push((name.clone(), Node::File));
            }
        }
        twins
    }
}

impl Listings {
    /// What is in an open folder; read again only if the folder changed, or might have.
    pub(crate) fn of(&self, path: &str, folder: &Folder) -> io::Result<Arc<Listing>> {
        let known = self.locked().get(path).map(|known| known.cached.clone());
        if let Some(known) = known
            && !known.stamp.is_racy(known.read)
            && folder.own_status()?.stamp == known.stamp
        {
            return Ok(known.listing);
        }
        let cached = CachedListing::read(folder)?;
        let listing = Arc::clone(&cached.listing);
        let known = Known {
            cached,
            own_commits: None,
        };
        self.locked().insert(path.to_owned(), known);
        Ok(listing)
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.known.lock()
    }

    /// The names in an open folder that differ from this one at most in case and normal form.
    pub(crate) fn twins(
        &self,
        path: &str,
        folder: &Folder,
        name: &str,
    ) -> io::Result<Vec<(String, Node)>> {
        let stamp = folder.own_status()?.stamp;
        if let Some(known) = self.locked().get(path)
            && known.own_commits.is_some()
            && known.stamp() == stamp
            && known.is_extensible()
        {
            return Ok(known.twins(name));
        }
        let listing = self.of(path, folder)?;
        Ok(listing.twins(name).cloned().collect())
    }

    /// Whether what is known of an open folder is current, so that a change of it can be recorded.
    pub(crate) fn is_current(&self, path: &str, folder: &Folder) -> bool {
        let Ok(status) = folder.own_status() else {
            return false;
        };
        let known = self.locked();
        known
            .get(path)
            .is_some_and(|known| known.is_extensible() && known.stamp() == status.stamp)
    }

    /// Records a commit in a folder that was current: it replaced a file, or created this one.
    pub(crate) fn record_commit(&self, path: &str, folder: &Folder, created: Option<&str>) {
        let Ok(status) = folder.own_status() else {
            return;
        };
        let mut known = self.locked();
        let Some(known) = known.get_mut(path) else {
            return;
        };
        let own = known.own_commits.get_or_insert_with(|| OwnCommits {
            stamp: status.stamp,
            created: HashMap::new(),
        });
        own.stamp = status.stamp;
        if let Some(name) = created {
            let names = own.created.entry(folded(name)).or_default();
            names.push(name.to_owned());
        }
    }

    /// How many names a folder had when it was read last, if it ever was.
    pub(crate) fn len_of(&self, path: &str) -> Option<usize> {
        let known = self.locked();
        known
            .get(path)
            .map(|known| known.cached.listing.names.len())
    }

    /// Removes a folder that is no longer there.
    pub(crate) fn forget(&self, path: &str) {
        self.locked().remove(path);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn own_commits_extend_a_listing_and_other_changes_end_it() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = Folder::open_vault(place.path()).expect("the folder");
        let write = |name: &str| fs::write(place.path().join(name), "").expect("written");
        let listings = Listings::default();
        let twins = |name: &str| -> Vec<String> {
            let twins = listings.twins("", &folder, name).expect("listed");
            twins.into_iter().map(|(name, _)| name).collect()
        };
        assert!(!listings.is_current("", &folder));
        write("One.md");
        assert_eq!(twins("one.md"), ["One.md"]);
        assert!(listings.is_current("", &folder));
        let listed = Arc::clone(&listings.locked()[""].cached.listing);

        write("Two.md");
        assert!(!listings.is_current("", &folder));
        listings.record_commit("", &folder, Some("Two.md"));
        assert!(listings.is_current("", &folder));
        assert_eq!(twins("two.md"), ["Two.md"]);
        assert_eq!(twins("ONE.md"), ["One.md"]);
        assert!(Arc::ptr_eq(&listed, &listings.locked()[""].cached.listing));
        // A listing for callers is never an extended one.
        let whole = listings.of("", &folder).expect("listed");
        assert_eq!(whole.names.len(), 2);

        listings.record_commit("", &folder, None);
        std::thread::sleep(Duration::from_millis(20));
        write("Three.md");
        assert!(!listings.is_current("", &folder));
        assert_eq!(twins("three.md"), ["Three.md"]);
    }
}
