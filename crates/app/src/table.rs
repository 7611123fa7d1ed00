//! What the command line prints: data to standard output, as tables for people or JSON for programs.

use std::io::Write as _;

/// Writes to standard output; a closed pipe is not an error worth a panic.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _closed_pipe_is_fine = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Columns as wide as their widest cell.
pub(crate) fn table(headers: &[&str], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = headers.iter().map(|header| header.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: Vec<&str>| {
        let padded: Vec<String> = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        format!("{}\n", padded.join("  ").trim_end())
    };
    let mut text = line(headers.to_vec());
    for row in rows {
        text.push_str(&line(row.iter().map(String::as_str).collect()));
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn columns_line_up() {
        let rows = vec![vec!["1".to_owned(), "order".to_owned()], vec!["22".to_owned(), "é".to_owned()]];
        assert_eq!(super::table(&["KEY", "PROCESS"], &rows), "KEY  PROCESS\n1    order\n22   é\n");
    }
}
