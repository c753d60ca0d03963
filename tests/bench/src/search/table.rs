//! Text tables with columns as wide as needed.

/// Rows of cells.
pub(crate) struct Table(Vec<Vec<String>>);

impl Table {
    /// With a header row.
    pub(crate) fn new(head: &[&str]) -> Table {
        Table(vec![head.iter().map(|&cell| cell.to_owned()).collect()])
    }

    /// Adds a row.
    pub(crate) fn line(&mut self, cells: impl IntoIterator<Item = String>) {
        self.0.push(cells.into_iter().collect());
    }

    /// Prints it.
    pub(crate) fn print(&self) {
        let columns = self.0.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                let cells = self.0.iter().filter_map(|line| line.get(column));
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect();
        for line in &self.0 {
            let cells = line.iter().zip(&widths);
            let cells: Vec<String> = cells
                .map(|(cell, width)| format!("{cell:<width$}"))
                .collect();
            println!("{}", cells.join("   ").trim_end());
        }
    }
}

/// Formats a time with few digits.
pub(crate) fn time(microseconds: f64) -> String {
    match microseconds {
        0.0..10_000.0 => format!("{:.3} ms", microseconds / 1e3),
        10_000.0..1_000_000.0 => format!("{:.0} ms", microseconds / 1e3),
        _ => format!("{:.1} s", microseconds / 1e6),
    }
}

/// A target and whether it was met, in microseconds.
pub(crate) fn bar(measured: f64, bar: Option<f64>) -> String {
    bar.map_or_else(String::new, |bar| {
        let target = if bar < 1e6 {
            format!("{} ms", bar / 1e3)
        } else {
            format!("{} s", bar / 1e6)
        };
        format!("≤ {target} {}", mark(measured <= bar))
    })
}

/// Marks a result as good or bad.
pub(crate) fn mark(is_good: bool) -> &'static str {
    if is_good { "✓" } else { "✗" }
}

/// Another tool's time and the ratio to ours.
pub(crate) fn against(ours: f64, theirs: f64) -> String {
    let compared = if theirs >= ours {
        format!("{} × ours", figures(theirs / ours))
    } else {
        format!("ours {} ×", figures(ours / theirs))
    };
    format!("{} ({compared})", time(theirs))
}

fn figures(ratio: f64) -> String {
    if ratio < 10.0 {
        format!("{ratio:.1}")
    } else {
        format!("{ratio:.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_ratios_are_formatted_briefly() {
        assert_eq!(time(83.4), "0.083 ms");
        assert_eq!(time(98_400.0), "98 ms");
        assert_eq!(time(2_900_000.0), "2.9 s");
        assert_eq!(bar(900.0, Some(1000.0)), "≤ 1 ms ✓");
        assert_eq!(bar(121.0, Some(120.0)), "≤ 0.12 ms ✗");
        assert_eq!(against(100.0, 2000.0), "2.000 ms (20 × ours)");
        assert_eq!(against(300.0, 100.0), "0.100 ms (ours 3.0 ×)");
    }
}
