//! Completion of arguments.

use serde_json::{Value, json};

use super::{Wire, settings_hiding_diary};
use crate::support::place::Place;

fn completed(
    wire: &mut Wire,
    reference: &Value,
    name: &str,
    typed: &str,
    arguments: Value,
) -> Value {
    let params = json!({
        "ref": reference,
        "argument": {"name": name, "value": typed},
        "context": {"arguments": arguments},
    });
    wire.ask("completion/complete", params)["completion"].take()
}

fn template(form: &str) -> Value {
    json!({"type": "ref/resource", "uri": form})
}

fn prompt(name: &str) -> Value {
    json!({"type": "ref/prompt", "name": name})
}

/// Waits until the index has every note: before that, completion is partial.
fn until_ready(wire: &mut Wire) {
    loop {
        let params = json!({"name": "system__info", "arguments": {}});
        let report = wire.ask("tools/call", params).to_string();
        if report.contains("ready") {
            return;
        }
    }
}

#[test]
fn template_and_prompt_arguments_are_completed() {
    Wire::each(Place::settings, |_, mut wire| {
        until_ready(&mut wire);
        let note = template("notehost://vault/{vault}/{+path}");
        let help = template("notehost://help/{domain}/{action}");
        let nothing = || json!({});
        for (reference, name, typed, arguments, expected) in [
            (&note, "vault", "", nothing(), json!(["main"])),
            (
                &note,
                "path",
                "plan",
                json!({"vault": "main"}),
                // Prefix matches of the name first, then other matches.
                json!(["Work/Plan.md", "Work/Planning.md", "Garden/My plan.md"]),
            ),
            (
                &note,
                "path",
                "work/planning",
                nothing(),
                json!(["Work/Planning.md"]),
            ),
            (&note, "path", "plan", json!({"vault": "other"}), json!([])),
            (&help, "domain", "do", nothing(), json!(["document"])),
            (
                &help,
                "action",
                "read_m",
                json!({"domain": "document"}),
                json!(["read_many"]),
            ),
            (&help, "action", "read", nothing(), json!([])),
            (
                &prompt("summarise_note"),
                "note",
                "planning",
                nothing(),
                json!(["Work/Planning.md"]),
            ),
            (
                &prompt("summarise_note"),
                "section",
                "to",
                json!({"note": "Work/Plan"}),
                json!(["Today", "Tomorrow"]),
            ),
            (
                &prompt("summarise_note"),
                "section",
                "to",
                nothing(),
                json!([]),
            ),
            (
                &prompt("summarise_note"),
                "length",
                "th",
                nothing(),
                json!([]),
            ),
            (
                &prompt("tidy_notebook"),
                "notebook",
                "ga",
                nothing(),
                json!(["Garden"]),
            ),
            (
                &prompt("tidy_notebook"),
                "property",
                "sta",
                nothing(),
                json!(["status"]),
            ),
            (
                &prompt("research"),
                "tag",
                "#pro",
                nothing(),
                json!(["project", "project/next"]),
            ),
            (
                &prompt("make_flashcards"),
                "note",
                "secr",
                nothing(),
                json!(["Diary/Secret.md"]),
            ),
        ] {
            let report = completed(&mut wire, reference, name, typed, arguments);
            assert_eq!(report["values"], expected, "{reference} {name} {typed}");
            assert_eq!(report["hasMore"], false);
        }
        let reference = prompt("nosuch");
        let params = json!({"ref": reference, "argument": {"name": "note", "value": ""}});
        let error = wire.refused("completion/complete", params);
        assert_eq!(error["code"], -32602);
    });
}

#[test]
fn completion_returns_at_most_a_hundred_values() {
    Wire::each(
        |place| {
            for number in 0..120 {
                place.write(&format!("Many/{number:03}.md"), "# One of many\n");
            }
            place.settings()
        },
        |_, mut wire| {
            until_ready(&mut wire);
            let note = template("notehost://vault/{vault}/{+path}");
            let report = completed(&mut wire, &note, "path", "Many/", json!({}));
            assert_eq!(report["values"].as_array().map(Vec::len), Some(100));
            assert_eq!(report["hasMore"], true);
            assert_eq!(report["total"], 120);
        },
    );
}

#[test]
fn hidden_notes_are_not_completed() {
    for caller in ["stdio", "http"] {
        Wire::each(
            |place| settings_hiding_diary(place, caller),
            |_, mut wire| {
                if matches!(wire, Wire::Http(..)) != (caller == "http") {
                    return;
                }
                until_ready(&mut wire);
                let note = template("notehost://vault/{vault}/{+path}");
                for (reference, name, arguments) in [
                    (&note, "path", json!({})),
                    (
                        &prompt("summarise_note"),
                        "section",
                        json!({"note": "Diary/Secret"}),
                    ),
                    (&prompt("tidy_notebook"), "notebook", json!({})),
                    (&prompt("tidy_notebook"), "property", json!({})),
                    (&prompt("research"), "tag", json!({})),
                ] {
                    let report = completed(&mut wire, reference, name, "", arguments).to_string();
                    for hidden in ["Diary", "Secret", "Hush", "mood", "feeling"] {
                        assert!(!report.contains(hidden), "{name}: {report}");
                    }
                }
            },
        );
    }
}
