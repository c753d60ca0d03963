//! Parses a tool result back into the outcome of the call on the server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use notehost_pipeline::{CallError, Content, Reply};
use notehost_tools::uris::ResourceUri;

/// The reply or the error of a call; `None` if this is not the result of a call.
pub(crate) fn outcome(result: &Value) -> Option<Result<Reply, CallError>> {
    let blocks = result.get("content")?.as_array()?;
    // The first text is the action's own; what follows it is for models.
    let text = blocks
        .iter()
        .find_map(|block| block.get("text")?.as_str())
        .unwrap_or_default()
        .to_owned();
    let structured = result
        .get("structuredContent")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    if result["isError"] == true {
        return Some(Err(CallError::from_json(&structured, text)));
    }
    Some(Ok(Reply {
        text,
        structured,
        content: blocks.iter().filter_map(content).collect(),
    }))
}

fn content(block: &Value) -> Option<Content> {
    let field = |name: &str| block.get(name)?.as_str();
    let bytes = || STANDARD.decode(field("data")?).ok();
    let mime = || field("mimeType").unwrap_or_default().to_owned();
    match field("type")? {
        "image" => Some(Content::Image {
            bytes: bytes()?,
            mime: mime(),
        }),
        "audio" => Some(Content::Audio {
            bytes: bytes()?,
            mime: mime(),
        }),
        "resource_link" => {
            let ResourceUri::File { vault, path } = ResourceUri::parse(field("uri")?)? else {
                return None;
            };
            Some(Content::Link { vault, path })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notehost_pipeline::Code;
    use serde_json::json;

    fn there_and_back(outcome_here: Result<Reply, CallError>) -> Result<Reply, CallError> {
        outcome(&notehost_transport::tool_result(outcome_here)).expect("the result of a call")
    }

    #[test]
    fn replies_round_trip() {
        let reply = Reply {
            text: "done".into(),
            structured: json!({"a": 1}).as_object().cloned().expect("an object"),
            content: vec![
                Content::Image {
                    bytes: vec![1, 2],
                    mime: "image/png".into(),
                },
                Content::Link {
                    vault: "main".into(),
                    path: "Work/Ü 1.md".into(),
                },
            ],
        };
        assert_eq!(there_and_back(Ok(reply.clone())), Ok(reply));
        let error = CallError::new(Code::NotFound, "no note `A`")
            .with_hint("make it")
            .with_details(json!({"near": ["B"]}));
        assert_eq!(there_and_back(Err(error.clone())), Err(error));
    }

    #[test]
    fn other_messages_are_not_parsed_as_results() {
        assert_eq!(outcome(&json!({"resultType": "input_required"})), None);
    }
}
