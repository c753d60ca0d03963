//! Ids and times differ in every run. In a transcript they have names: `<change-1>`, `<trash-1>`, `<now>`; in a
//! request, the name of an id is replaced by the id.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

const ALPHABET: &str = "0123456789abcdefghjkmnpqrstvwxyz";
const ID_LENGTH: usize = 16;
/// Number of characters of an id that encode its time.
const TIME_LENGTH: usize = 9;

/// The assigned names.
pub(crate) struct Stable {
    /// Milliseconds since 1970 at the start of the transcript.
    began: u64,
    /// Id and name.
    names: Vec<(String, String)>,
}

impl Stable {
    pub(crate) fn new() -> Stable {
        Stable {
            began: now() - 1000,
            names: Vec::new(),
        }
    }

    /// A request, with names replaced by ids.
    pub(crate) fn with_ids(&self, request: &str) -> String {
        let mut request = request.to_owned();
        for (id, name) in &self.names {
            request = request.replace(name, id);
        }
        request
    }

    /// A reply, with ids and times replaced by names. `kind` is the name of new ids.
    pub(crate) fn value(&mut self, value: &Value, kind: &str) -> Value {
        match value {
            Value::String(text) => self.text(text, kind).into(),
            Value::Number(number)
                if number.as_u64().is_some_and(|number| self.is_recent(number)) =>
            {
                "<now>".into()
            }
            Value::Array(items) => items.iter().map(|item| self.value(item, kind)).collect(),
            Value::Object(map) => {
                let named = map
                    .iter()
                    .map(|(key, value)| (key.clone(), self.value(value, kind_of(key, kind))));
                Value::Object(named.collect::<Map<_, _>>())
            }
            other => other.clone(),
        }
    }

    /// The same for a text.
    pub(crate) fn text(&mut self, text: &str, kind: &str) -> String {
        let mut stable = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(time) = rest.get(..20).filter(|time| self.is_recent_time(time)) {
                stable.push_str("<now>");
                rest = &rest[time.len()..];
                continue;
            }
            let word = rest
                .find(|letter: char| !letter.is_ascii_alphanumeric())
                .unwrap_or(rest.len());
            let taken = if word == 0 {
                rest.chars().next().map_or(0, char::len_utf8)
            } else {
                word
            };
            let (word, after) = rest.split_at(taken);
            if self.is_id(word) {
                stable.push_str(&self.name(word, kind));
            } else {
                stable.push_str(word);
            }
            rest = after;
        }
        stable
    }

    fn name(&mut self, id: &str, kind: &str) -> String {
        if let Some((_, name)) = self.names.iter().find(|(known, _)| known == id) {
            return name.clone();
        }
        let prefix = format!("<{kind}-");
        let number = self
            .names
            .iter()
            .filter(|(_, name)| name.starts_with(&prefix))
            .count()
            + 1;
        let name = format!("{prefix}{number}>");
        self.names.push((id.to_owned(), name.clone()));
        name
    }

    /// An id starts with its creation time.
    fn is_id(&self, word: &str) -> bool {
        let digits: Option<Vec<u64>> = word
            .chars()
            .map(|letter| ALPHABET.find(letter).map(|place| place as u64))
            .collect();
        digits.is_some_and(|digits| {
            digits.len() == ID_LENGTH
                && self.is_recent(
                    digits[..TIME_LENGTH]
                        .iter()
                        .fold(0, |time, digit| time << 5 | digit),
                )
        })
    }

    /// `2026-01-31T09:05:00Z`, if it is within the run of the transcript.
    fn is_recent_time(&self, text: &str) -> bool {
        text.ends_with('Z')
            && (iso(self.began).as_str()..=iso(now() + 1000).as_str()).contains(&text)
    }

    fn is_recent(&self, milliseconds: u64) -> bool {
        (self.began..=now() + 60_000).contains(&milliseconds)
    }
}

/// The kind of the ids below a key of a reply.
fn kind_of<'a>(key: &str, around: &'a str) -> &'a str {
    match key {
        "change" | "undoes" | "undone" => "change",
        "trash" | "trash_id" | "trash_ids" => "trash",
        _ => around,
    }
}

fn now() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("after 1970");
    u64::try_from(since.as_millis()).expect("before the end of time")
}

/// Milliseconds since 1970 as ISO 8601, in seconds.
fn iso(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Howard Hinnant's civil-from-days, for days after 1970.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_as_iso_8601() {
        assert_eq!(iso(0), "1970-01-01T00:00:00Z");
        assert_eq!(iso(1_709_210_096_000), "2024-02-29T12:34:56Z");
    }
}
