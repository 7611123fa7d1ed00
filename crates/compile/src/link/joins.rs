//! Which tokens inclusive and complex gateways wait for: one search backwards from each flow that leads into one.
//!
//! A token gets from an element to another along a flow, by a boundary event of an activity, or over a link. What lies inside a
//! sub-process is not looked at: no flow crosses its border.

use model::{ElementIx, ElementSet, FlowIx, Join, Joins, Kind, Process, Way};

/// All searches of a process together visit at most this many elements and ways between them, words of what they find counted too: enough for
/// about a thousand joins in ten thousand elements.
const REACH_MAX: usize = 1 << 25;

/// Fills in what each join waits for; gives how many elements and ways between them were visited for it.
pub(super) fn find(process: &mut Process) -> Result<usize, String> {
    find_within(process, REACH_MAX)
}

fn find_within(process: &mut Process, visits_max: usize) -> Result<usize, String> {
    let joins: Vec<ElementIx> = all(process).filter(|ix| is_join(process, *ix)).collect();
    if joins.is_empty() {
        return Ok(0);
    }
    let mut search = Search::new(process, visits_max);
    let mut found = Vec::with_capacity(joins.len());
    for gateway in joins {
        let too_many = "the process has too many inclusive and complex joins for its size: put parts of it into sub-processes";
        found.push((gateway, search.join(process, gateway).ok_or(too_many)?));
    }
    let left = search.left;
    process.joins = search.joins;
    for (gateway, found) in found {
        match &mut process.elements[gateway.0 as usize].kind {
            Kind::InclusiveGateway(gateway) => gateway.join = Some(found),
            Kind::ComplexGateway(gateway) => gateway.join = found,
            _ => {}
        }
    }
    Ok(visits_max - left)
}

fn all(process: &Process) -> impl Iterator<Item = ElementIx> + use<> {
    (0..process.elements.len() as u32).map(ElementIx)
}

fn is_join(process: &Process, ix: ElementIx) -> bool {
    let element = process.element(ix);
    match &element.kind {
        Kind::InclusiveGateway(_) => 1 < element.incoming.len(),
        Kind::ComplexGateway(_) => true,
        _ => false,
    }
}

struct Search {
    /// What was found.
    joins: Joins,
    /// From where a token gets to an element other than along its incoming flows.
    jumps: Vec<Vec<ElementIx>>,
    /// The number of the search that last saw an element.
    seen: Vec<u32>,
    number: u32,
    /// The join that an element was last among the sources of.
    listed: Vec<ElementIx>,
    left: usize,
}

impl Search {
    fn new(process: &Process, visits_max: usize) -> Self {
        let mut jumps = vec![Vec::new(); process.elements.len()];
        for from in all(process) {
            let element = process.element(from);
            element.boundaries.iter().for_each(|boundary| jumps[boundary.0 as usize].push(from));
            if let Kind::LinkThrow(link) = &element.kind {
                jumps[link.catch.0 as usize].push(from);
            }
        }
        let count = process.elements.len();
        let listed = vec![Process::ROOT; count];
        Self { joins: Joins::among(count), jumps, seen: vec![0; count], number: 0, listed, left: visits_max }
    }

    /// What a gateway waits for; nothing once all searches together took too long.
    fn join(&mut self, process: &Process, gateway: ElementIx) -> Option<Join> {
        let first = self.joins.next();
        let mut sources = Vec::new();
        for flow in &process.element(gateway).incoming {
            let found = self.from(process, gateway, *flow)?;
            let words = self.joins.add(Way { gateway, flow: *flow }, &found);
            self.left = self.left.checked_sub(words)?;
            sources.extend(found.into_iter().filter(|ix| std::mem::replace(&mut self.listed[ix.0 as usize], gateway) != gateway));
        }
        self.left = self.left.checked_sub(ElementSet::bits(&sources) / 64)?;
        Some(Join { ways: first..self.joins.next(), sources: ElementSet::from(&sources[..]) })
    }

    /// Where a token can be that comes along this flow.
    fn from(&mut self, process: &Process, gateway: ElementIx, flow: FlowIx) -> Option<Vec<ElementIx>> {
        self.number += 1;
        self.seen[gateway.0 as usize] = self.number;
        let mut found = Vec::new();
        let mut open = Vec::new();
        self.open(process.flow(flow).source, &mut open);
        while let Some(ix) = open.pop() {
            found.push(ix);
            let before = process.element(ix).incoming.iter().map(|flow| process.flow(*flow).source);
            self.left = self.left.checked_sub(1 + before.len() + self.jumps[ix.0 as usize].len())?;
            for before in before {
                self.open(before, &mut open);
            }
            for n in 0..self.jumps[ix.0 as usize].len() {
                self.open(self.jumps[ix.0 as usize][n], &mut open);
            }
        }
        Some(found)
    }

    fn open(&mut self, ix: ElementIx, open: &mut Vec<ElementIx>) {
        if std::mem::replace(&mut self.seen[ix.0 as usize], self.number) != self.number {
            open.push(ix);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    /// So many blocks one after the other: a split, two tasks, a join; behind so many tasks.
    fn chain(tasks: usize, blocks: usize) -> Process {
        let mut text = String::from("s: start -> t0\n");
        for n in 0..tasks {
            writeln!(text, "t{n}: task t -> t{}", n + 1).expect("a string takes everything");
        }
        writeln!(text, "t{tasks}: pass -> g0").expect("a string takes everything");
        for n in 0..blocks {
            writeln!(text, "g{n}: inclusive -> a{n} if x, b{n} if y\na{n}: task t -> j{n}\nb{n}: task t -> j{n}")
                .expect("a string takes everything");
            writeln!(text, "j{n}: inclusive -> g{}", n + 1).expect("a string takes everything");
        }
        writeln!(text, "g{blocks}: end").expect("a string takes everything");
        crate::text(&text).expect("the chain is a process")
    }

    #[test]
    fn a_join_costs_one_search_for_each_of_its_flows() {
        let visits = |tasks, blocks| find(&mut chain(tasks, blocks)).expect("it is small enough");
        assert_eq!(visits(1_000, 0), 0);
        // Each element and each flow once for each of the two flows of the join; of the result a word for each element, and one for 64.
        let most = |elements: usize| 2 * 2 * elements + elements + elements / 64;
        let (small, large) = (visits(1_000, 1), visits(10_000, 1));
        assert!(small <= most(1_005), "{small}");
        assert!(large <= most(10_005), "{large}");
    }

    #[test]
    fn more_joins_than_can_be_searched_are_refused() {
        let mut process = chain(0, 100);
        assert!(find_within(&mut process, 100_000).is_ok());
        let reason = find_within(&mut process, 10_000).expect_err("200 flows through 400 elements are more than that");
        assert!(reason.contains("too many inclusive and complex joins"), "{reason}");
    }
}
