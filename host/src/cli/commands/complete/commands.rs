//! Completion of all commands: subcommands, flags and their values, from the clap definitions, and the
//! known values of flags.

use clap::{Arg, Command, CommandFactory, ValueHint};

use super::Candidate;
use super::call;
use super::files;
use super::settings::CompletionContext;
use crate::cli::Arguments;
use crate::cli::commands::profile;
use notehost_vault::Tier;

/// The candidates for the unfinished word.
pub(super) fn candidates(words: &[String], current: &str) -> Vec<Candidate> {
    let mut program = Arguments::command();
    program.build();
    let setting = CompletionContext::of(words);
    let mut found = match words.iter().position(|word| !word.starts_with('-')) {
        Some(at) if is_call(&program, &setting, &words[at]) => {
            call::candidates(&program, &setting, &words[at..], current)
        }
        _ => of_command(&program, &setting, words, current),
    };
    found.retain(|candidate| candidate.value.starts_with(current));
    found
}

/// Whether a line with this first word runs an action.
fn is_call(program: &Command, setting: &CompletionContext, first: &str) -> bool {
    first == "call"
        || (program.find_subcommand(first).is_none() && setting.domains().domain(first).is_some())
}

fn of_command(
    program: &Command,
    setting: &CompletionContext,
    words: &[String],
    current: &str,
) -> Vec<Candidate> {
    let (mut command, mut names) = (program, Vec::new());
    let mut expects: Option<&Arg> = None;
    for word in words {
        let is_flag = word.starts_with("--");
        if expects.take().is_some() && !is_flag {
            continue;
        }
        if is_flag {
            expects = flag(command, word).filter(|found| takes_value(found));
        } else if let Some(inner) = command.find_subcommand(word) {
            (command, names) = (inner, Vec::new());
        } else {
            names.push(word.as_str());
        }
    }
    if let Some(expected) = expects {
        return values(expected, setting, current);
    }
    if let Some((name, value)) = current
        .split_once('=')
        .filter(|_| current.starts_with("--"))
    {
        return with_flag(name, flag(command, name), setting, value);
    }
    if current.starts_with('-') {
        return flags(command, words);
    }
    if command.get_name() == "help" {
        return about(program, setting, &names);
    }
    let mut found: Vec<Candidate> = Vec::new();
    // An unknown word has no completions.
    if names.is_empty() {
        found.extend(visible(command));
        if command.get_name() == program.get_name() {
            found.extend(call::domains(setting.domains()));
        }
    }
    let mut positionals = command.get_positionals();
    let expected = positionals.nth(names.len()).or_else(|| {
        let last = command.get_positionals().last();
        last.filter(|last| {
            last.get_num_args()
                .is_some_and(|most| most.max_values() > 1)
        })
    });
    found.extend(
        expected.map_or_else(Vec::new, |expected| match command.get_name() {
            "use" | "remove" if is_profile(program, words) => profiles(),
            _ => values(expected, setting, current),
        }),
    );
    found
}

fn visible(command: &Command) -> impl Iterator<Item = Candidate> {
    command
        .get_subcommands()
        .filter(|inner| !inner.is_hide_set())
        .map(|inner| Candidate::new(inner.get_name(), &help_text(inner.get_about())))
}

fn is_profile(program: &Command, words: &[String]) -> bool {
    let first = words
        .iter()
        .find(|word| program.find_subcommand(word).is_some());
    first.is_some_and(|first| first == "profile")
}

/// The topics of `help`.
fn about(program: &Command, setting: &CompletionContext, names: &[&str]) -> Vec<Candidate> {
    let domains = setting.domains();
    match names {
        [] => {
            let mut found: Vec<Candidate> = visible(program).collect();
            found.extend(call::domains(domains));
            found
        }
        [domain] => call::actions(domains, domain),
        _ => Vec::new(),
    }
}

/// The flags of a command that are not used yet.
pub(super) fn flags(command: &Command, words: &[String]) -> Vec<Candidate> {
    command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set())
        .filter_map(|argument| {
            let name = format!("--{}", argument.get_long()?);
            let is_there = words.contains(&name) && !is_repeated(argument);
            (!is_there).then(|| Candidate::new(name, &help_text(argument.get_help())))
        })
        .collect()
}

fn is_repeated(argument: &Arg) -> bool {
    matches!(argument.get_action(), clap::ArgAction::Append)
}

/// The flag of a command that a word is, with or without its value.
pub(super) fn flag<'a>(command: &'a Command, word: &str) -> Option<&'a Arg> {
    let name = word.strip_prefix("--")?.split('=').next()?;
    command
        .get_arguments()
        .find(|argument| argument.get_long() == Some(name))
}

/// Whether the next word is the flag's value.
pub(super) fn takes_value(argument: &Arg) -> bool {
    argument.get_action().takes_values()
}

/// The values of a flag, written with it in one word.
pub(super) fn with_flag(
    name: &str,
    argument: Option<&Arg>,
    setting: &CompletionContext,
    typed: &str,
) -> Vec<Candidate> {
    let values = argument.map_or_else(Vec::new, |argument| values(argument, setting, typed));
    values
        .into_iter()
        .map(|candidate| Candidate::new(format!("{name}={}", candidate.value), &candidate.about))
        .collect()
}

/// The values of a flag or positional argument.
pub(super) fn values(argument: &Arg, setting: &CompletionContext, typed: &str) -> Vec<Candidate> {
    let possible = argument.get_possible_values();
    if !possible.is_empty() {
        let possible = possible.iter().filter(|value| !value.is_hide_set());
        return possible
            .map(|value| Candidate::new(value.get_name(), &help_text(value.get_help())))
            .collect();
    }
    match argument.get_id().as_str() {
        "allow" => [Tier::None, Tier::Read, Tier::Write, Tier::Delete]
            .map(|tier| Candidate::new(tier.as_str(), ""))
            .to_vec(),
        "profile" => profiles(),
        "vault" => {
            let mut found = setting.vaults();
            found.extend(files::beginning(typed));
            found
        }
        _ => match argument.get_value_hint() {
            ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath => {
                files::beginning(typed)
            }
            _ => Vec::new(),
        },
    }
}

fn profiles() -> Vec<Candidate> {
    let profiles = profile::store::Profiles::read().unwrap_or_default();
    profiles
        .profiles
        .iter()
        .map(|(name, profile)| Candidate::new(name, &profile.server))
        .collect()
}

fn help_text(help: Option<&clap::builder::StyledStr>) -> String {
    help.map(ToString::to_string).unwrap_or_default()
}
