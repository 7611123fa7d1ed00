//! The lines that say how an activity is repeated.

use std::fmt::Write;
use std::sync::Arc;

use model::{LoopTest, MultiInstance, MultiOrder, MultiOutput, Repeat, StandardLoop};

use super::words;
use crate::draft::DraftElement;
use crate::expression;

/// Reads the line, if it is one of these.
pub(super) fn option(draft: &mut DraftElement, word: &str, rest: &str) -> Option<Result<(), String>> {
    Some(match word {
        "each" => each(draft, MultiOrder::Parallel, rest),
        "in-turn" => each(draft, MultiOrder::Sequential, rest),
        "collect" => collect(draft, rest),
        "until" => until(draft, rest),
        "loop-while" => repeated(draft, LoopTest::Before, rest),
        "loop" => repeated(draft, LoopTest::After, rest),
        "at-most" => at_most(draft, rest),
        _ => return None,
    })
}

/// `NAME = FEEL`, `= FEEL`
fn named(rest: &str) -> Result<(Option<Arc<str>>, &str), String> {
    if let Some(source) = rest.strip_prefix('=') {
        return Ok((None, source));
    }
    let split = words::first(rest).and_then(|(name, rest)| Some((name, rest.strip_prefix('=')?)));
    let (name, source) = split.ok_or("write 'NAME = FEEL'")?;
    Ok((Some(name.into()), source))
}

fn each(draft: &mut DraftElement, order: MultiOrder, rest: &str) -> Result<(), String> {
    let (item, source) = named(rest)?;
    let collection = expression::parse("the collection", source)?;
    draft.repeat = Some(Repeat::Each(MultiInstance { order, collection, item, output: None, until: None }));
    Ok(())
}

fn multi(draft: &mut DraftElement) -> Result<&mut MultiInstance, String> {
    match &mut draft.repeat {
        Some(Repeat::Each(multi)) => Ok(multi),
        Some(Repeat::Loop(_)) | None => Err("this goes below 'each' or 'in-turn'".to_owned()),
    }
}

fn collect(draft: &mut DraftElement, rest: &str) -> Result<(), String> {
    let multi = multi(draft)?;
    let (Some(collection), source) = named(rest)? else {
        return Err("write 'collect NAME = FEEL'".to_owned());
    };
    multi.output = Some(MultiOutput { collection, element: expression::parse("the output element", source)? });
    Ok(())
}

fn until(draft: &mut DraftElement, rest: &str) -> Result<(), String> {
    multi(draft)?.until = Some(expression::parse("the completion condition", rest)?);
    Ok(())
}

/// `loop`, `loop FEEL`, `loop-while FEEL`
fn repeated(draft: &mut DraftElement, test: LoopTest, rest: &str) -> Result<(), String> {
    let condition = match rest.trim() {
        "" => None,
        source => Some(expression::parse("the loop condition", source)?),
    };
    draft.repeat = Some(Repeat::Loop(StandardLoop { test, condition, max: None }));
    Ok(())
}

fn at_most(draft: &mut DraftElement, rest: &str) -> Result<(), String> {
    let Some(Repeat::Loop(repeated)) = &mut draft.repeat else {
        return Err("this goes below 'loop' or 'loop-while'".to_owned());
    };
    repeated.max = Some(rest.trim().parse().map_err(|_| "write 'at-most 5'")?);
    Ok(())
}

/// The lines as they are read again.
pub(super) fn lines(repeat: &Repeat) -> Vec<String> {
    let mut lines = Vec::new();
    match repeat {
        Repeat::Each(MultiInstance { order, collection, item, output, until }) => {
            let mut line = match order {
                MultiOrder::Parallel => "each".to_owned(),
                MultiOrder::Sequential => "in-turn".to_owned(),
            };
            if let Some(item) = item {
                write!(line, " {}", words::write(item)).expect("writing to a string does not fail");
            }
            lines.push(format!("{line} = {}", collection.source()));
            if let Some(MultiOutput { collection, element }) = output {
                lines.push(format!("collect {} = {}", words::write(collection), element.source()));
            }
            lines.extend(until.as_ref().map(|until| format!("until {}", until.source())));
        }
        Repeat::Loop(StandardLoop { test, condition, max }) => {
            let word = match test {
                LoopTest::Before => "loop-while",
                LoopTest::After => "loop",
            };
            let condition = condition.as_ref().map(|condition| format!(" {}", condition.source()));
            lines.push(format!("{word}{}", condition.unwrap_or_default()));
            lines.extend(max.map(|max| format!("at-most {max}")));
        }
    }
    lines
}
