//! The variables of Obsidian's core templates: `{{title}}`, `{{date}}`, `{{time}}`, with formats (`{{date:YYYY}}`).
//! Anything else in braces is left alone.

use crate::dates::Moment;

/// A template with its variables filled in.
pub(crate) fn fill(template: &str, title: &str, now: &Moment) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        text.push_str(before);
        match after
            .split_once("}}")
            .and_then(|(variable, after)| Some((value(variable, title, now)?, after)))
        {
            Some((value, after)) => {
                text.push_str(&value);
                rest = after;
            }
            None => {
                text.push_str("{{");
                rest = after;
            }
        }
    }
    text.push_str(rest);
    text
}

fn value(variable: &str, title: &str, now: &Moment) -> Option<String> {
    let (name, format) = match variable.split_once(':') {
        Some((name, format)) => (name, Some(format.trim())),
        None => (variable, None),
    };
    match name.trim().to_ascii_lowercase().as_str() {
        "title" if format.is_none() => Some(title.to_owned()),
        "date" => Some(now.format(format.unwrap_or("YYYY-MM-DD"))),
        "time" => Some(now.format(format.unwrap_or("HH:mm"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_variables_are_filled_in() {
        let now = Moment::at(1_767_261_845_000);
        let filled = fill(
            "# {{title}}\n{{ Date }} {{time}} {{date:DD.MM.YYYY}} {{else}} {{x {{title}} {{",
            "Plan",
            &now,
        );
        assert_eq!(
            filled,
            "# Plan\n2026-01-01 10:04 01.01.2026 {{else}} {{x Plan {{"
        );
    }
}
