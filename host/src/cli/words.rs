//! The order of words on the line of `notehost call`: flags of the command may stand anywhere, fields of the action
//! come from its schema, which clap cannot know. So the words are put in an order that leaves clap no doubt:
//! `call FLAGS -- DOMAIN ACTION FIELDS`.

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::Args;

use super::call::Call;

/// Put the words of a `call` in order; every other command stays as it is.
///
/// What follows a `--` is only fields: so a field can be given that has the name of a flag. A `--help` behind the
/// action asks for the help of that action.
pub(super) fn arrange(words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_none_or(|word| word != "call") {
        return words;
    }
    let flags = flags();
    let mut rest = words[2..].iter();
    let (mut own, mut others, mut wants_help) = (Vec::new(), Vec::new(), false);
    while let Some(word) = rest.next() {
        let text = word.to_string_lossy();
        if text == "--" {
            others.extend(rest.by_ref().cloned());
        } else if text == "--help" || text == "-h" {
            wants_help = true;
        } else if let Some(takes_value) = flags.get(text.split('=').next().unwrap_or_default()) {
            own.push(word.clone());
            if *takes_value && !text.contains('=') {
                own.extend(rest.next().cloned());
            }
        } else {
            others.push(word.clone());
        }
    }
    let mut arranged = vec![words[0].clone()];
    match (wants_help, others.is_empty()) {
        (true, false) => {
            arranged.push("help".into());
            arranged.extend(others.into_iter().take(2));
        }
        (true, true) => arranged.extend(["call".into(), "--help".into()]),
        (false, _) => {
            arranged.push("call".into());
            arranged.extend(own);
            arranged.push("--".into());
            arranged.extend(others);
        }
    }
    arranged
}

/// The flags of `call`, as they are written, and whether a value follows.
fn flags() -> BTreeMap<String, bool> {
    let command = Call::augment_args(clap::Command::new("call"));
    command
        .get_arguments()
        .filter_map(|argument| {
            Some((
                format!("--{}", argument.get_long()?),
                argument.get_action().takes_values(),
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arranged(line: &str) -> String {
        let words = arrange(line.split(' ').map(OsString::from).collect());
        words
            .join(std::ffi::OsStr::new(" "))
            .into_string()
            .expect("text")
    }

    #[test]
    fn flags_may_stand_anywhere() {
        assert_eq!(
            arranged("notehost call document read --path A --vault=x --limit 3 --allow rw --yes"),
            "notehost call --vault=x --allow rw --yes -- document read --path A --limit 3"
        );
        assert_eq!(
            arranged("notehost call --state s document list"),
            "notehost call --state s -- document list"
        );
    }

    #[test]
    fn behind_two_dashes_all_is_field() {
        assert_eq!(
            arranged("notehost call flashcard list --vault v -- --state due"),
            "notehost call --vault v -- flashcard list --state due"
        );
    }

    #[test]
    fn help_behind_an_action_is_its_help() {
        assert_eq!(
            arranged("notehost call document read --path A --help"),
            "notehost help document read"
        );
        assert_eq!(arranged("notehost call --help"), "notehost call --help");
        assert_eq!(arranged("notehost serve --help"), "notehost serve --help");
    }
}
