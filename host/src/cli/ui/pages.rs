//! Fetches all pages of a list by following its cursors, up to a limit.

use serde_json::Value;

use notehost_pipeline::Reply;

/// The maximum number of items; the cursor of the next page is returned.
const MAX_ITEMS: usize = 20_000;

/// A page of a list with all pages after it. Other replies are returned unchanged.
pub(crate) async fn with_rest<E>(
    mut first: Reply,
    mut next: impl AsyncFnMut(&str) -> Result<Reply, E>,
) -> Result<Reply, E> {
    let mut seen = Vec::new();
    loop {
        let cursor = first.structured.get("next_cursor").and_then(Value::as_str);
        let items = first.structured.get("items").and_then(Value::as_array);
        let (Some(cursor), Some(items)) = (cursor.map(str::to_owned), items) else {
            return Ok(first);
        };
        // A repeated cursor would be an endless loop.
        if items.len() >= MAX_ITEMS || seen.contains(&cursor) {
            return Ok(first);
        }
        let mut page = next(&cursor).await?;
        seen.push(cursor);
        let following = page.structured.remove("next_cursor");
        if let (Some(Value::Array(items)), Some(Value::Array(more))) = (
            first.structured.get_mut("items"),
            page.structured.remove("items"),
        ) {
            items.extend(more);
        }
        match following {
            Some(cursor) => first.structured.insert("next_cursor".into(), cursor),
            None => first.structured.remove("next_cursor"),
        };
        first.content.extend(page.content);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn page(value: Value) -> Reply {
        Reply {
            text: String::new(),
            structured: value.as_object().cloned().expect("an object"),
            content: Vec::new(),
        }
    }

    fn run(first: Value, next: impl Fn(&str) -> Result<Value, String>) -> Result<Value, String> {
        let work = with_rest(page(first), async |cursor: &str| next(cursor).map(page));
        let outcome = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime")
            .block_on(work);
        outcome.map(|reply| reply.structured.into())
    }

    #[test]
    fn pages_become_one() {
        let whole = run(
            json!({"items": [1], "next_cursor": "a", "total": 3}),
            |cursor| {
                Ok(match cursor {
                    "a" => json!({"items": [2], "next_cursor": "b", "total": 3}),
                    _ => json!({"items": [3], "total": 3}),
                })
            },
        );
        assert_eq!(whole, Ok(json!({"items": [1, 2, 3], "total": 3})));
    }

    #[test]
    fn a_failing_page_fails_the_list() {
        let whole = run(json!({"items": [1], "next_cursor": "a"}), |_| {
            Err("no".into())
        });
        assert_eq!(whole, Err("no".into()));
    }

    #[test]
    fn cursor_loops_and_endless_lists_end() {
        let round = |_: &str| Ok(json!({"items": [2], "next_cursor": "a"}));
        let whole = run(json!({"items": [1], "next_cursor": "a"}), round);
        assert_eq!(whole, Ok(json!({"items": [1, 2], "next_cursor": "a"})));
        let endless =
            |cursor: &str| Ok(json!({"items": vec![0; 999], "next_cursor": format!("{cursor}x")}));
        let whole = run(json!({"items": [1], "next_cursor": "x"}), endless).expect("an end");
        let count = whole["items"].as_array().map(Vec::len);
        assert!(count.is_some_and(|count| (MAX_ITEMS..MAX_ITEMS + 999).contains(&count)));
        assert!(whole["next_cursor"].is_string());
    }

    #[test]
    fn other_replies_are_unchanged() {
        let note = json!({"content": "a", "next_cursor": "x"});
        assert_eq!(run(note.clone(), |_| Err("called".into())), Ok(note));
    }
}
