//! Which scenario passes where, as `sdks/README.md` shows it.

use std::collections::BTreeMap;

const PASSED: &str = "✓";
const FAILED: &str = "✗";
/// The scenario is not for this transport.
const NONE: &str = "–";

pub(super) struct Table {
    /// Names, each with the transports it is for.
    scenarios: Vec<(String, Vec<String>)>,
    /// Titles in the order they were played, and a cell for every scenario.
    columns: Vec<(String, BTreeMap<String, &'static str>)>,
}

impl Table {
    pub(super) fn new(scenarios: Vec<(String, Vec<String>)>) -> Table {
        Table { scenarios, columns: Vec::new() }
    }

    /// Takes in what a program has printed: how many scenarios passed, and which did not. One that is not mentioned has failed.
    pub(super) fn note(&mut self, sdk: &str, transport: &str, text: &str) -> (usize, Vec<String>) {
        let passed: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("ok ")).collect();
        let cell = |(name, transports): &(String, Vec<String>)| {
            let cell = match transports.iter().any(|one| one == transport) {
                false => NONE,
                true if passed.contains(&name.as_str()) => PASSED,
                true => FAILED,
            };
            (name.clone(), cell)
        };
        let cells: BTreeMap<String, &'static str> = self.scenarios.iter().map(cell).collect();
        let count = cells.values().filter(|cell| **cell == PASSED).count();
        let bad = cells.iter().filter(|(_, cell)| **cell == FAILED).map(|(name, _)| name.clone()).collect();
        self.columns.push((format!("{sdk} {transport}"), cells));
        (count, bad)
    }

    pub(super) fn text(&self) -> String {
        let titles = self.columns.iter().map(|(title, _)| title.as_str());
        let mut lines = vec![line("scenario", titles), line("---", self.columns.iter().map(|_| "---"))];
        for (name, _) in &self.scenarios {
            lines.push(line(name, self.columns.iter().map(|(_, cells)| cells[name])));
        }
        lines.join("\n")
    }

    /// Cells of the README's table that are not as they were played. Columns that were not played are not looked at.
    pub(super) fn differences(&self, readme: &str) -> Vec<String> {
        let rows: Vec<Vec<&str>> = readme.lines().filter(|line| line.starts_with('|')).map(cells).collect();
        let shown = |title: &str, scenario: &str| {
            let header = rows.iter().find(|row| row.first() == Some(&"scenario"))?;
            let column = header.iter().position(|cell| *cell == title)?;
            rows.iter().find(|row| row.first() == Some(&scenario))?.get(column).copied()
        };
        let all = self.columns.iter().flat_map(|(title, cells)| cells.iter().map(move |(name, cell)| (title, name, *cell)));
        let other = all.filter(|(title, name, cell)| shown(title, name) != Some(cell));
        other.map(|(title, name, cell)| format!("{name}, {title}: {cell}")).collect()
    }
}

fn line<'a>(first: &'a str, others: impl Iterator<Item = &'a str>) -> String {
    let cells: Vec<&str> = std::iter::once(first).chain(others).collect();
    format!("| {} |", cells.join(" | "))
}

fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split('|').map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played() -> Table {
        let both = vec!["rest".to_owned(), "grpc".to_owned()];
        let mut table =
            Table::new(vec![("a".to_owned(), both.clone()), ("b".to_owned(), both), ("c".to_owned(), vec!["rest".to_owned()])]);
        assert_eq!(table.note("go", "grpc", "ok a\nFAIL b: why\n"), (1, vec!["b".to_owned()]));
        table
    }

    #[test]
    fn a_scenario_that_is_not_mentioned_has_failed() {
        let mut table = played();
        assert_eq!(table.note("java", "rest", "ok a\n"), (1, vec!["b".to_owned(), "c".to_owned()]));
        assert_eq!(
            table.text(),
            "| scenario | go grpc | java rest |\n| --- | --- | --- |\n| a | ✓ | ✓ |\n| b | ✗ | ✗ |\n| c | – | ✗ |"
        );
    }

    #[test]
    fn a_readme_must_show_what_was_played() {
        let table = played();
        assert_eq!(table.differences(&table.text()), Vec::<String>::new());
        assert_eq!(table.differences(&table.text().replace('✗', "✓")), ["b, go grpc: ✗"]);
        assert_eq!(table.differences("").len(), 3);
    }
}
