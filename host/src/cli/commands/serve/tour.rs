//! A short tour of the demo on a terminal: real calls through the real pipeline, as a client
//! would make them.

use serde_json::{Map, Value};

use crate::cli::commands::tools;
use crate::cli::ui::reply;
use crate::cli::ui::terminal::Terminal;
use notehost_pipeline::{self as dispatch, Host, Request};
use notehost_platform::shell::quoted;
use notehost_policy::auth::Caller;

/// The calls of the tour.
const STOPS: [(&str, &str, &str); 3] = [
    ("document", "list", "{}"),
    ("document", "read", r#"{"path": "Coffee/The morning cup"}"#),
    (
        "document",
        "append",
        r#"{"path": "Welcome", "text": "A client wrote this.", "dry_run": true}"#,
    ),
];

/// The tour as text.
pub(crate) async fn walk(terminal: &Terminal, host: &Host) -> String {
    let mut text = format!(
        "\n{}\n{}",
        terminal.strong("What a client can do"),
        tools::table(
            terminal,
            &host
                .registry()
                .snapshot()
                .seen_with(&host.scopes_of(&Caller::stdio())),
            host.settings().surface_of(Caller::stdio().name())
        )
    );
    for (domain, action, arguments) in STOPS {
        let arguments: Map<String, Value> = serde_json::from_str(arguments).unwrap_or_default();
        text.push_str(&format!(
            "\n{} {}\n",
            terminal.faint("→"),
            terminal.good(&call_line(domain, action, &arguments))
        ));
        let request = Request::new(domain, action, arguments);
        match dispatch::call(host, &Caller::stdio(), request).await {
            Ok(reply) => text.push_str(&reply::for_people(terminal, &reply)),
            Err(error) => text.push_str(&format!("{}\n", terminal.safe(&error.message))),
        }
    }
    text
}

fn call_line(domain: &str, action: &str, arguments: &Map<String, Value>) -> String {
    let fields = arguments.iter().map(|(name, value)| match value {
        Value::Bool(true) => format!(" --{name}"),
        Value::String(text) => format!(" --{name} {}", quoted(text)),
        other => format!(" --{name} {}", quoted(&other.to_string())),
    });
    format!("{domain} {action}{}", fields.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stops_are_calls() {
        for (domain, action, arguments) in STOPS {
            let arguments: Map<String, Value> = serde_json::from_str(arguments).expect(action);
            assert!(call_line(domain, action, &arguments).starts_with("document"));
        }
        let arguments = Map::from_iter([
            ("path".to_owned(), "A b".into()),
            ("dry_run".to_owned(), true.into()),
        ]);
        assert_eq!(
            call_line("document", "append", &arguments),
            "document append --path 'A b' --dry_run"
        );
    }
}
