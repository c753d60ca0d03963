//! Calling a domain in tests as the host calls it: by name, with JSON. `calls!(Domain)` makes these functions of a test
//! module, for one domain.

use crate::{Describes, Error, MemoryVault, Reply, Result};
use serde_json::Value;

/// What an action answers.
pub fn reply<D: Describes>(vault: &MemoryVault, action: &str, arguments: &Value) -> Result<Reply> {
    D::call(vault, action, &arguments.to_string())
}

/// What an action that succeeds answers.
#[track_caller]
pub fn succeeded<D: Describes>(vault: &MemoryVault, action: &str, arguments: &Value) -> Reply {
    match reply::<D>(vault, action, arguments) {
        Ok(reply) => reply,
        Err(error) => panic!("{action} {arguments}: {error}"),
    }
}

/// How an action that is refused is refused.
#[track_caller]
pub fn refused<D: Describes>(vault: &MemoryVault, action: &str, arguments: &Value) -> Error {
    match reply::<D>(vault, action, arguments) {
        Ok(reply) => panic!("{action} {arguments}: {}", reply.structured),
        Err(error) => error,
    }
}

/// All pages of a list, with so many items each.
#[track_caller]
pub fn all_pages<D: Describes>(
    vault: &MemoryVault,
    action: &str,
    arguments: &Value,
    limit: usize,
) -> Vec<Value> {
    let mut items = Vec::new();
    let mut arguments = arguments.clone();
    arguments["limit"] = limit.into();
    for _ in 0..1000 {
        let page = succeeded::<D>(vault, action, &arguments).json();
        items.extend(page["items"].as_array().expect("items").clone());
        match page.get("next_cursor") {
            Some(cursor) => arguments["cursor"] = cursor.clone(),
            None => return items,
        }
    }
    panic!("{action} does not end");
}

/// One field of each item of a list.
#[track_caller]
pub fn each(reply: &Value, field: &str) -> Vec<Value> {
    let items = reply["items"].as_array().expect("items");
    items.iter().map(|item| item[field].clone()).collect()
}

/// The functions of [`testing`](crate::testing) for one domain: `ok` (the JSON of an action that succeeds), `told` (its
/// text), `refused` (the error of one that does not), `all_pages` and `each`.
#[macro_export]
macro_rules! calls {
    ($domain:ty) => {
        #[allow(dead_code, reason = "not every test module needs each of them")]
        mod calls {
            use super::*;
            use $crate::serde_json::Value;

            #[track_caller]
            pub(super) fn ok(vault: &$crate::MemoryVault, action: &str, arguments: Value) -> Value {
                $crate::testing::succeeded::<$domain>(vault, action, &arguments).json()
            }

            #[track_caller]
            pub(super) fn told(
                vault: &$crate::MemoryVault,
                action: &str,
                arguments: Value,
            ) -> String {
                $crate::testing::succeeded::<$domain>(vault, action, &arguments).text
            }

            #[track_caller]
            pub(super) fn refused(
                vault: &$crate::MemoryVault,
                action: &str,
                arguments: Value,
            ) -> $crate::Error {
                $crate::testing::refused::<$domain>(vault, action, &arguments)
            }

            #[track_caller]
            pub(super) fn all_pages(
                vault: &$crate::MemoryVault,
                action: &str,
                arguments: &Value,
                limit: usize,
            ) -> Vec<Value> {
                $crate::testing::all_pages::<$domain>(vault, action, arguments, limit)
            }
        }
        #[allow(unused_imports, reason = "not every test module needs each of them")]
        use calls::*;
    };
}
