//! A table of text: columns as wide as their longest value.

/// Makes a table. Columns whose heading begins with `>` are aligned to the right.
pub(super) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let right: Vec<bool> = headings.iter().map(|name| name.starts_with('>')).collect();
    let names = headings
        .iter()
        .map(|name| name.trim_start_matches('>').to_owned());
    let names: Vec<String> = names.collect();
    let lines = || std::iter::once(&names).chain(rows);
    let width = |column: usize| {
        let cells = lines().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let mut text = String::new();
    for row in lines() {
        let cells = row.iter().zip(&widths).zip(&right);
        let cells = cells.map(|((cell, width), right)| match right {
            true => format!("{cell:>width$}"),
            false => format!("{cell:<width$}"),
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_longest_value() {
        let rows = [vec!["7".to_owned(), "zone-0:5700".to_owned()]];
        let text = table(&[">zone", "address"], &rows);
        assert_eq!(text, "zone  address\n   7  zone-0:5700\n");
    }
}
