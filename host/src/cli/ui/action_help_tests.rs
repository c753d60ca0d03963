//! Tests that example commands parse to the arguments of their examples.

use serde_json::{Map, Value};

use super::super::fields::Fields;
use super::*;
use notehost_pipeline::registry::EMBEDDED;
use notehost_runtime::Description;

/// The words of a command as a shell would find them.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted, mut begun) = (Vec::new(), String::new(), false, false);
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => (quoted, begun) = (!quoted, true),
            '\\' if !quoted => word.extend(letters.next()),
            ' ' if !quoted => {
                if begun || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            letter => word.push(letter),
        }
    }
    words.push(word);
    words
}

#[test]
fn every_example_command_parses_to_its_arguments() {
    let mut seen = 0;
    for embedded in EMBEDDED {
        let description = Description::parse(embedded.description).expect("a description");
        let domain = notehost_pipeline::registry::described(description);
        for action in &domain.actions {
            let fields = Fields::of(&domain.name, &action.name, &action.input);
            for example in &action.examples {
                let command = command(&domain.name, action, &example.arguments);
                let words = words(&command);
                let first = words
                    .iter()
                    .position(|word| word == "~/notes")
                    .expect("a vault");
                let mut given = &words[first + 1..];
                if given.first().is_some_and(|word| word == "--allow") {
                    given = &given[2..];
                }
                let given: Vec<String> =
                    given.iter().filter(|word| *word != "--").cloned().collect();
                let mut arguments = Map::new();
                let read = fields.read(&given, &mut arguments, &mut std::io::empty());
                assert!(read.is_ok(), "{command}");
                let expected = Value::Object(example.arguments.clone());
                assert_eq!(Value::Object(arguments), expected, "{command}");
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "only {seen} examples");
}
