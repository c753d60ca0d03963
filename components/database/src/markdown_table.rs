//! Rows as a Markdown table.

/// Maximum length of a cell in characters; longer text is cut.
const MAX_CELL_CHARS: usize = 160;

/// Renders a Markdown table.
pub(crate) fn markdown(columns: &[String], rows: &[Vec<String>]) -> String {
    let mut table = line(columns.iter().map(String::as_str));
    table.push_str(&line(columns.iter().map(|_| "---")));
    for row in rows {
        table.push_str(&line(row.iter().map(String::as_str)));
    }
    table.trim_end().to_owned()
}

fn line<'c>(cells: impl Iterator<Item = &'c str>) -> String {
    let cells: Vec<String> = cells.map(cell).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// Escapes and shortens a text for a table cell.
fn cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for (count, letter) in text.trim().chars().enumerate() {
        if count == MAX_CELL_CHARS {
            cell.push('…');
            break;
        }
        match letter {
            '|' => cell.push_str("\\|"),
            '\n' | '\r' | '\t' => cell.push(' '),
            letter => cell.push(letter),
        }
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cell_text_is_escaped_and_shortened() {
        let rows = vec![
            vec!["a|b".to_owned(), "one\ntwo".to_owned()],
            vec!["[[N|n]]".to_owned(), "x".repeat(200)],
        ];
        let table = markdown(&["name".to_owned(), "a | b".to_owned()], &rows);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[0], r"| name | a \| b |");
        assert_eq!(lines[2], r"| a\|b | one two |");
        assert!(lines[3].starts_with(r"| [[N\|n]] | xxx") && lines[3].ends_with("x… |"));
    }
}
