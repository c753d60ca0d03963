//! Sends the HTTP requests in its arguments, and returns the outcomes. It implements the contract itself, and tries to
//! send one even in `describe`.

mod request;

use notehost_sdk::guest::notehost::domain::types::{
    Action, Description, Effect, Error, Reply, Request,
};
use notehost_sdk::guest::notehost::domain::vault::Vault;
use notehost_sdk::guest::{Guest, export_bindings};
use notehost_sdk::serde_json::{Value, from_str, json};

struct Messenger;

impl Guest for Messenger {
    fn describe() -> Description {
        let describe_request =
            request::send(&json!({"scheme": "http", "authority": "localhost:9"}));
        let schema = json!({"type": "object", "properties": {}}).to_string();
        let action = |name: &str, effect: Effect| Action {
            name: name.to_owned(),
            description: "Send requests.".to_owned(),
            effect,
            input: schema.clone(),
            output: schema.clone(),
        };
        Description {
            name: "messenger".to_owned(),
            version: "0.1.0".to_owned(),
            description: format!("Asked early: {describe_request}"),
            actions: vec![
                action("fetch", Effect::Read),
                action("send", Effect::Write),
            ],
            prompts: Vec::new(),
        }
    }

    /// Reads `note` if it is given, sends `requests` one after the other, and appends a line to the note.
    fn call(vault: &Vault, request: Request) -> Result<Reply, Error> {
        let arguments: Value = from_str(&request.arguments).unwrap_or_default();
        let path = arguments["note"].as_str();
        let note = path.map(|path| vault.read(path)).transpose()?;
        let requests = arguments["requests"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let answers: Vec<Value> = requests.iter().map(request::send).collect();
        if let (Some(path), Some(mut note)) = (path, note)
            && request.action == "send"
        {
            note.bytes.extend_from_slice(b"the messenger was here\n");
            vault.write(path, &note.bytes, None)?;
        }
        if arguments["spin"] == true {
            loop {
                std::hint::black_box(&answers);
            }
        }
        Ok(Reply {
            text: String::new(),
            structured: json!({ "answers": answers }).to_string(),
            content: Vec::new(),
        })
    }
}

export_bindings!(Messenger with_types_in notehost_sdk::guest);

/// Asks for every host.
#[unsafe(link_section = "notehost:manifest")]
#[used]
static MANIFEST: [u8; 15] = *br#"{"http": ["*"]}"#;
