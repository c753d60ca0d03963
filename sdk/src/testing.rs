//! Helpers for tests that call a domain like the host does: by name, with JSON. `calls!(Domain)` defines them in a test
//! module for one domain.

use crate::{Describes, Error, MemoryVault, Reply, Result};
use serde_json::Value;

/// The result of an action.
pub fn reply<D: Describes>(vault: &MemoryVault, action: &str, arguments: &Value) -> Result<Reply> {
    D::call(vault, action, &arguments.to_string())
}

/// The reply of an action; panics if it fails.
#[track_caller]
pub fn succeeded<D: Describes>(vault: &MemoryVault, action: &str, arguments: &Value) -> Reply {
    match reply::<D>(vault, action, arguments) {
        Ok(reply) => reply,
        Err(error) => panic!("{action} {arguments}: {error}"),
    }
}

/// The error of an action; panics if it succeeds.
#[track_caller]
pub fn refused<D: Describes>(vault: &MemoryVault, action: &str, arguments: &Value) -> Error {
    match reply::<D>(vault, action, arguments) {
        Ok(reply) => panic!("{action} {arguments}: {}", reply.structured),
        Err(error) => error,
    }
}

/// The items of all pages of a list, requested with this limit.
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

/// The paths of the items of a list.
#[track_caller]
pub fn paths(reply: &Value) -> Vec<&str> {
    let items = reply["items"].as_array().expect("items");
    let paths = items.iter().map(|item| item["path"].as_str());
    paths.collect::<Option<_>>().expect("paths")
}

/// Asserts that a domain has these actions, in this order, and that each has a description and schemas that all clients
/// accept. The schemas of the arguments, which clients keep in a model's context, must stay below `max_input_bytes` in
/// total.
#[track_caller]
pub fn assert_described<D: Describes>(names: &[&str], max_input_bytes: usize) {
    let described = D::describe();
    let actions = described["actions"].as_array().expect("actions");
    assert_eq!(
        actions
            .iter()
            .map(|action| &action["name"])
            .collect::<Vec<_>>(),
        names
    );
    let mut input_bytes = 0;
    for action in actions {
        let (input, output) = (action["input"].to_string(), action["output"].to_string());
        for rejected in ["$ref", "oneOf", "anyOf", "allOf", "\"null\""] {
            assert!(!input.contains(rejected), "{input}");
            assert!(!output.contains(rejected), "{output}");
        }
        let description = action["description"].as_str();
        assert!(description.is_some_and(|text| !text.is_empty()), "{action}");
        input_bytes += input.len();
    }
    assert!(
        input_bytes < max_input_bytes,
        "{input_bytes} bytes of input schemas"
    );
}

/// Defines the functions of [`testing`](crate::testing) for one domain: `ok` (the JSON of a successful action), `text_of`
/// (its text), `refused` (the error of a failed one) and `all_pages`.
#[macro_export]
macro_rules! calls {
    ($domain:ty) => {
        #[allow(dead_code, reason = "not every test module uses all of them")]
        mod calls {
            use super::*;
            use $crate::serde_json::Value;

            #[track_caller]
            pub(super) fn ok(vault: &$crate::MemoryVault, action: &str, arguments: Value) -> Value {
                $crate::testing::succeeded::<$domain>(vault, action, &arguments).json()
            }

            #[track_caller]
            pub(super) fn text_of(
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
        #[allow(unused_imports, reason = "not every test module uses all of them")]
        use calls::*;
    };
}
