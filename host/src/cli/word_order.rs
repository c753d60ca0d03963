//! The order of the words of `notehost call`: flags of the command may be anywhere, fields of the action
//! come from its schema, which clap does not know. So the words are reordered unambiguously:
//! `call FLAGS -- DOMAIN ACTION FIELDS`. The word `call` itself may be omitted.

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::{Args, CommandFactory};

use crate::cli::commands::call::Call;
use crate::cli::commands::help::Help;
use notehost_config::nearest;
use notehost_pipeline::registry::EMBEDDED;
use notehost_runtime::check_name;

/// Reorders the words of a `call`; other commands are unchanged.
///
/// Everything after `--` is fields, so that a field can have the name of a flag. A `--help` behind the
/// action prints the help of that action.
pub(crate) fn arrange(mut words: Vec<OsString>) -> Vec<OsString> {
    if leaves_out_call(&words) {
        words.insert(1, "call".into());
        if words.len() == 3 {
            // A domain alone prints its help.
            words[1] = "help".into();
            return words;
        }
    }
    if words.get(1).is_none_or(|word| word != "call") {
        return words;
    }
    let of_call = flags::<Call>();
    let mut rest = words[2..].iter();
    let (mut own, mut others, mut wants_help) = (Vec::new(), Vec::new(), false);
    while let Some(word) = rest.next() {
        let text = word.to_string_lossy();
        if text == "--" {
            others.extend(rest.by_ref().cloned());
        } else if text == "--help" || text == "-h" {
            wants_help = true;
        } else if let Some(takes_value) = of_call.get(flag_of(&text)) {
            let value = match *takes_value && !text.contains('=') {
                true => rest.next().cloned(),
                false => None,
            };
            own.push((word.clone(), value));
        } else {
            others.push(word.clone());
        }
    }
    let mut arranged = vec![words[0].clone()];
    let flatten = |own: Vec<(OsString, Option<OsString>)>| {
        own.into_iter()
            .flat_map(|(flag, value)| [Some(flag), value])
            .flatten()
    };
    match (wants_help, others.is_empty()) {
        (true, false) => {
            let known = flags::<Help>();
            own.retain(|(flag, _)| known.contains_key(flag_of(&flag.to_string_lossy())));
            arranged.push("help".into());
            arranged.extend(flatten(own));
            arranged.extend(others.into_iter().take(2));
        }
        (true, true) => arranged.extend(["call".into(), "--help".into()]),
        (false, _) => {
            arranged.push("call".into());
            arranged.extend(flatten(own));
            arranged.push("--".into());
            arranged.extend(others);
        }
    }
    arranged
}

/// Whether the line begins with a domain instead of a command. A word that is similar to a command is not taken for an
/// unknown domain.
fn leaves_out_call(words: &[OsString]) -> bool {
    let Some(first) = words.get(1).and_then(|word| word.to_str()) else {
        return false;
    };
    let program = crate::cli::Arguments::command();
    let commands = || program.get_subcommands().map(clap::Command::get_name);
    if commands().any(|command| command == first) {
        return false;
    }
    let is_embedded = EMBEDDED.iter().any(|embedded| embedded.name == first);
    let could_be = check_name(first).is_ok()
        && nearest(first, commands()).is_none()
        && words.get(2).is_some_and(|action| !action.is_empty());
    is_embedded || could_be
}

/// A flag without its value.
fn flag_of(text: &str) -> &str {
    text.split('=').next().unwrap_or_default()
}

/// The flags of a command, and whether each takes a value.
fn flags<T: Args>() -> BTreeMap<String, bool> {
    let command = T::augment_args(clap::Command::new("command"));
    let own = command.get_arguments().filter_map(|argument| {
        Some((
            format!("--{}", argument.get_long()?),
            argument.get_action().takes_values(),
        ))
    });
    own.chain([("--no-pager".to_owned(), false)]).collect()
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
    fn flags_may_be_anywhere() {
        assert_eq!(
            arranged("notehost call document read --path A --vault=x --limit 3 --allow rw --yes"),
            "notehost call --vault=x --allow rw --yes -- document read --path A --limit 3"
        );
        assert_eq!(
            arranged("notehost call --state s document list --no-pager"),
            "notehost call --state s --no-pager -- document list"
        );
    }

    #[test]
    fn everything_after_two_dashes_is_a_field() {
        assert_eq!(
            arranged("notehost call flashcard list --vault v -- --state due"),
            "notehost call --vault v -- flashcard list --state due"
        );
    }

    #[test]
    fn help_after_an_action_shows_its_help() {
        assert_eq!(
            arranged("notehost call document read --path A --help"),
            "notehost help document read"
        );
        assert_eq!(
            arranged("notehost call document read --server u --allow rw --help"),
            "notehost help --server u document read"
        );
        assert_eq!(arranged("notehost call --help"), "notehost call --help");
        assert_eq!(arranged("notehost serve --help"), "notehost serve --help");
    }

    #[test]
    fn call_may_be_left_out() {
        assert_eq!(
            arranged("notehost document read --path A --vault x"),
            "notehost call --vault x -- document read --path A"
        );
        assert_eq!(arranged("notehost document"), "notehost help document");
        assert_eq!(
            arranged("notehost document --help"),
            "notehost help document"
        );
        assert_eq!(
            arranged("notehost document read -h"),
            "notehost help document read"
        );
        // A third-party domain; a misspelt command; a word that is neither.
        assert_eq!(
            arranged("notehost todo add --text x"),
            "notehost call -- todo add --text x"
        );
        for as_it_is in [
            "notehost tokn list",
            "notehost fly",
            "notehost --version",
            "notehost token list",
        ] {
            assert_eq!(arranged(as_it_is), as_it_is);
        }
    }
}
