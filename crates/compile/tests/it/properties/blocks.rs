//! Random block-structured processes, written in text notation.

use std::fmt::Write;

use proptest::prelude::*;

/// A piece of a process with one way in and one way out.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    Task(String, Vec<(String, String)>),
    Pass,
    Script,
    Sequence(Vec<Block>),
    Choice(Vec<Block>),
    Fork(Vec<Block>),
    Some(Vec<Block>),
    /// Over a complex gateway.
    First(Vec<Block>),
    Sub(Box<Block>, Option<Option<String>>),
}

pub(crate) fn blocks() -> impl Strategy<Value = Block> {
    let headers = prop::collection::vec(("[a-z =\"]{1,4}", "[ -~\n]{1,6}"), 0..3);
    let leaf = prop_oneof![
        ("[ -~]{1,8}".prop_filter("types are not expressions", |text| !text.starts_with('=')), headers).prop_map(
            |(job_type, mut headers)| {
                headers.dedup_by(|a, b| a.0 == b.0);
                headers.truncate(1);
                Block::Task(job_type, headers)
            }
        ),
        Just(Block::Pass),
        Just(Block::Script),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let several = prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            several.clone().prop_map(Block::Sequence),
            several.clone().prop_map(Block::Choice),
            several.clone().prop_map(Block::Fork),
            several.clone().prop_map(Block::Some),
            several.prop_map(Block::First),
            (
                inner,
                prop::option::of(prop::option::of(
                    "[ -~]{1,5}".prop_filter("codes are not expressions", |code| !code.starts_with('='))
                ))
            )
                .prop_map(|(block, caught)| Block::Sub(Box::new(block), caught)),
        ]
    })
}

/// The block between a start and an end, in text notation.
pub(crate) fn written(block: &Block) -> String {
    let mut text = String::from("p: process\nstart: start -> n1\n");
    let mut next = 1;
    write_block(block, "end", &mut next, &mut text);
    text + "end: end\n"
}

/// Writes a block whose first element is `n{next}` and that goes on to `then`.
fn write_block(block: &Block, then: &str, next: &mut usize, text: &mut String) {
    let here = format!("n{next}");
    *next += 1;
    match block {
        Block::Pass => writeln!(text, "{here}: pass -> {then}").unwrap(),
        Block::Script => {
            writeln!(text, "{here}: script v = {next} * [1, 2][1] -> {then}\n    in a.b = v\n    out c.d = a").unwrap()
        }
        Block::Task(job_type, headers) => {
            writeln!(text, "{here}: task {} -> {then}\n    name {}", literal(job_type), literal(job_type)).unwrap();
            headers.iter().for_each(|(key, value)| writeln!(text, "    header {} = {}", literal(key), literal(value)).unwrap());
        }
        Block::Sequence(blocks) => {
            writeln!(text, "{here}: pass -> n{next}").unwrap();
            for (index, block) in blocks.iter().enumerate() {
                let joint = format!("{here}_{index}");
                write_block(block, &joint, next, text);
                let on = if index + 1 < blocks.len() { format!("n{next}") } else { then.to_owned() };
                writeln!(text, "{joint}: pass -> {on}").unwrap();
            }
        }
        Block::Choice(blocks) => {
            write_branches("exclusive", "exclusive", blocks, [&here, then], next, text);
        }
        Block::Fork(blocks) => {
            write_branches("parallel", "parallel", blocks, [&here, then], next, text);
        }
        Block::Some(blocks) => {
            write_branches("inclusive", "inclusive", blocks, [&here, then], next, text);
        }
        Block::First(blocks) => {
            write_branches("parallel", "complex = activationCount >= 1 + 1", blocks, [&here, then], next, text);
        }
        Block::Sub(block, caught) => {
            writeln!(text, "{here}: subprocess {here}_s -> {then}\n{here}_s: start -> n{next}").unwrap();
            write_block(block, &format!("{here}_e"), next, text);
            writeln!(text, "{here}_e: end").unwrap();
            match caught {
                Some(Some(code)) => writeln!(text, "{here}_b: error {} on {here} -> {then}", literal(code)).unwrap(),
                Some(None) => writeln!(text, "{here}_b: error on {here} -> {here}_t\n{here}_t: error {here}").unwrap(),
                None => {}
            }
        }
    }
}

fn write_branches(kind: &str, join: &str, blocks: &[Block], [here, then]: [&str; 2], next: &mut usize, text: &mut String) {
    let mut flows = Vec::new();
    let mut inside = String::new();
    for (index, block) in blocks.iter().enumerate() {
        let first = format!("n{next}");
        flows.push(match (kind, index) {
            ("exclusive" | "inclusive", 0) => format!("default {first}"),
            ("exclusive" | "inclusive", index) => format!("{first} if x > {index} and contains([\"a, b\"], y)"),
            _ => first,
        });
        write_block(block, &format!("{here}_j"), next, &mut inside);
    }
    writeln!(text, "{here}: {kind} -> {}\n{inside}{here}_j: {join} -> {then}", flows.join(", ")).unwrap();
}

fn literal(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
