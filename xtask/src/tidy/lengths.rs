//! A function fits a screen, a file a sitting.

use super::Finding;
use super::files::{Checkout, Text};
use super::functions::{code_only, functions, test_modules};

const FUNCTION_LINES_MAX: usize = 70;
const FILE_LINES_MAX: usize = 700;
const FILE_LINES_GOOD: usize = 400;

pub(crate) fn check(checkout: &Checkout) -> Vec<Finding> {
    let sources = checkout.rust().filter(|file| file.path.components().any(|part| part.as_os_str() == "src"));
    sources.flat_map(|file| [file_length(file), function_lengths(file)].concat()).collect()
}

fn file_length(file: &Text) -> Vec<Finding> {
    let lines = file.content.lines().count();
    if FILE_LINES_MAX < lines {
        vec![Finding::violation(&file.path, lines, format!("{lines} lines; {FILE_LINES_MAX} at most"))]
    } else if FILE_LINES_GOOD < lines {
        vec![Finding::advice(&file.path, lines, format!("{lines} lines; better below {FILE_LINES_GOOD}"))]
    } else {
        Vec::new()
    }
}

fn function_lengths(file: &Text) -> Vec<Finding> {
    if file.is_test() {
        return Vec::new();
    }
    let code = code_only(&file.content);
    let tests = test_modules(&code);
    let product = functions(&code).into_iter().filter(|function| !tests.iter().any(|lines| lines.contains(&function.first)));
    let long = product.filter(|function| FUNCTION_LINES_MAX <= function.last - function.first);
    long.map(|function| {
        let lines = function.last - function.first + 1;
        Finding::violation(
            &file.path,
            function.first,
            format!("fn {} has {lines} lines; {FUNCTION_LINES_MAX} at most", function.name),
        )
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(source: &str) -> Vec<usize> {
        let file = Text { path: "crates/any/src/any.rs".into(), content: source.to_owned() };
        function_lengths(&file).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn seventy_lines_are_enough() {
        let body = |lines: usize| format!("\nfn long() {{\n{}}}\n", "    step();\n".repeat(lines));
        assert_eq!(lines_of(&body(68)), [0_usize; 0]);
        assert_eq!(lines_of(&body(69)), [2]);
        assert_eq!(lines_of(&format!("#[cfg(test)]\nmod tests {{{}}}\n", body(69))), [0_usize; 0]);
    }
}
