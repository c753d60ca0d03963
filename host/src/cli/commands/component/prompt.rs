//! The prompt of `component dev`: each typed line is a call of the component, such as `count --path Welcome`.

use serde_json::Map;

use crate::cli::ui::failure::Failure;
use crate::cli::ui::fields::Fields;
use crate::cli::ui::output::print_json;
use crate::cli::ui::reply;
use crate::cli::ui::terminal::Terminal;
use notehost_pipeline::{self as dispatch, Host, Request};
use notehost_policy::auth::Caller;
use notehost_runtime::Description;

/// The actions, and how to call them.
pub(super) fn overview(terminal: &Terminal, description: &Description) -> String {
    let mut text = String::new();
    for action in &description.actions {
        let fields = Fields::of(&description.name, &action.name, &action.input);
        let required = fields.iter().filter(|(_, _, is_required)| *is_required);
        let words: String = required
            .map(|(name, _, _)| format!(" --{name} …"))
            .collect();
        let line = format!("  {}{words}", action.name);
        let effect = terminal.faint(&format!("({})", action.effect.as_str()));
        text.push_str(&format!("{} {effect}\n", terminal.safe(&line)));
    }
    text.push_str(&terminal.faint("type such a line to call the action; Ctrl-C exits\n"));
    text
}

/// Makes the call of a line and prints its reply.
pub(super) async fn handle_line(host: &Host, description: &Description, line: &str) {
    let errors = Terminal::stderr();
    let outcome = match words(line) {
        Some(words) if words.is_empty() => return,
        Some(words) if words[0] == "help" => return errors.print(&overview(&errors, description)),
        Some(words) => call(host, description, &words).await,
        None => Err(Failure::usage("unclosed quotation mark")),
    };
    if let Err(failure) = outcome {
        failure.print(&errors);
    }
}

async fn call(host: &Host, description: &Description, words: &[String]) -> Result<(), Failure> {
    // The domain's name may precede the action, as in `notehost call`.
    let words = match words {
        [domain, rest @ ..] if *domain == description.name && !rest.is_empty() => rest,
        all => all,
    };
    let (name, given) = (&words[0], &words[1..]);
    let domains = host.registry().snapshot();
    let domain = domains.domain(&description.name);
    let Some(action) = domain.and_then(|domain| domain.action(name)) else {
        return Err(
            Failure::usage(format!("`{}` has no action `{name}`", description.name))
                .with_hint("`help` lists the actions"),
        );
    };
    let fields = Fields::of(&description.name, name, &action.input);
    let mut arguments = Map::new();
    fields.read(given, &mut arguments, &mut std::io::empty())?;
    let request = Request::new(&description.name, name, arguments);
    let reply = dispatch::call(host, &Caller::command_line(None), request)
        .await
        .map_err(|error| {
            Failure::call(format!("{}: {}", error.code, error.message)).with_any_hint(error.hint)
        })?;
    let terminal = Terminal::stdout();
    match terminal.is_terminal() {
        true => terminal.print(&reply::for_people(&terminal, &reply)),
        false => print_json(&terminal, reply.structured.into()),
    }
    Ok(())
}

/// Splits a line into words like a shell; `None` if a quotation mark is not closed.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        inner if inner == letter => break,
                        '\\' if letter == '"' => word.push(letters.next()?),
                        inner => word.push(inner),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(letters.next()?),
            letter if letter.is_whitespace() => words.extend(word.take()),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn command_lines_are_parsed_like_a_shell() {
        assert_eq!(
            words(r#"add --path 'My note' --line "a \"b\"" --x=c\ d ''"#).expect("words"),
            [
                "add", "--path", "My note", "--line", "a \"b\"", "--x=c d", ""
            ]
        );
        assert_eq!(words("  "), Some(Vec::new()));
        assert_eq!(words("add 'x"), None);
    }
}
