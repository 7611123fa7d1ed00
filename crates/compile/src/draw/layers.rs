//! Which column a node is drawn in, and who is above whom there: steps go from left to right, branches are stacked in the order written
//! unless another order has fewer crossings.

use std::ops::Range;

/// What is drawn: nodes by number, the first the start, and edges between them.
pub(super) struct Graph {
    pub(super) nodes: usize,
    pub(super) edges: Vec<Edge>,
}

#[derive(Clone, Copy)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The number of the boundary event it leaves from, if it leaves from one.
    pub(super) boundary: Option<usize>,
}

/// What takes a place in a column: a node, or an edge on its way past.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Node(usize),
    Passing(usize),
}

pub(super) struct Layers {
    /// Columns from left to right, each from top to bottom.
    pub(super) columns: Vec<Vec<Slot>>,
    /// The column of each node.
    pub(super) of: Vec<usize>,
    /// Edges that lead back, or too far to be given a place in every column: they are led around the top.
    pub(super) around: Vec<bool>,
    /// The edges out of each node, in their order from top to bottom.
    pub(super) out: Vec<Vec<usize>>,
}

/// Places given to edges on their way past, in all.
const PASSING_MAX: usize = 100_000;
const SWEEPS_MAX: usize = 8;

pub(super) fn layers(graph: &Graph) -> Layers {
    let mut out = vec![Vec::new(); graph.nodes];
    for (number, edge) in graph.edges.iter().enumerate() {
        out[edge.from].push(number);
    }
    let mut around = leading_back(graph, &out);
    let of = longest_paths(graph, &out, &around);
    let mut passing = 0;
    for (number, edge) in graph.edges.iter().enumerate() {
        if !around[number] {
            passing += of[edge.to] - of[edge.from] - 1;
            around[number] = PASSING_MAX < passing;
        }
    }
    let columns = as_written(graph, &out, &around, &of);
    let mut layers = Layers { columns, of, around, out };
    layers.untangle(graph);
    layers
}

/// Edges to a node that the way to their own source has come through.
fn leading_back(graph: &Graph, out: &[Vec<usize>]) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Not,
        OnTheWay,
        Done,
    }
    let mut back = vec![false; graph.edges.len()];
    let mut seen = vec![Seen::Not; graph.nodes];
    for first in 0..graph.nodes {
        if seen[first] != Seen::Not {
            continue;
        }
        seen[first] = Seen::OnTheWay;
        let mut way = vec![(first, 0)];
        while let Some((node, next)) = way.last_mut() {
            let Some(edge) = out[*node].get(*next).copied() else {
                seen[*node] = Seen::Done;
                way.pop();
                continue;
            };
            *next += 1;
            let to = graph.edges[edge].to;
            match seen[to] {
                Seen::Not => {
                    seen[to] = Seen::OnTheWay;
                    way.push((to, 0));
                }
                Seen::OnTheWay => back[edge] = true,
                Seen::Done => {}
            }
        }
    }
    back
}

/// A node stands right of all that lead to it.
fn longest_paths(graph: &Graph, out: &[Vec<usize>], around: &[bool]) -> Vec<usize> {
    let mut missing = vec![0; graph.nodes];
    for (_, edge) in graph.edges.iter().enumerate().filter(|(number, _)| !around[*number]) {
        missing[edge.to] += 1;
    }
    let mut of = vec![0; graph.nodes];
    let mut ready: Vec<usize> = (0..graph.nodes).filter(|node| missing[*node] == 0).collect();
    while let Some(node) = ready.pop() {
        for edge in out[node].iter().filter(|edge| !around[**edge]) {
            let to = graph.edges[*edge].to;
            of[to] = of[to].max(of[node] + 1);
            missing[to] -= 1;
            if missing[to] == 0 {
                ready.push(to);
            }
        }
    }
    of
}

/// Columns in which what is written first is above: for blocks within blocks nothing crosses that way.
fn as_written(graph: &Graph, out: &[Vec<usize>], around: &[bool], of: &[usize]) -> Vec<Vec<Slot>> {
    let mut columns = vec![Vec::new(); of.iter().max().map_or(0, |last| last + 1)];
    let mut seen = vec![false; graph.nodes];
    for first in 0..graph.nodes {
        if std::mem::replace(&mut seen[first], true) {
            continue;
        }
        columns[of[first]].push(Slot::Node(first));
        let mut way = vec![(first, 0)];
        while let Some((node, next)) = way.last_mut() {
            let Some(edge) = out[*node].get(*next).copied() else {
                way.pop();
                continue;
            };
            *next += 1;
            if around[edge] {
                continue;
            }
            let Edge { from, to, .. } = graph.edges[edge];
            (of[from] + 1..of[to]).for_each(|column| columns[column].push(Slot::Passing(edge)));
            if !std::mem::replace(&mut seen[to], true) {
                columns[of[to]].push(Slot::Node(to));
                way.push((to, 0));
            }
        }
    }
    columns
}

impl Layers {
    /// The columns an edge is on its way past.
    pub(super) fn passed(&self, edge: Edge) -> Range<usize> {
        self.of[edge.from] + 1..self.of[edge.to]
    }

    /// Orders columns by where their neighbours are, back and forth, as long as fewer edges cross.
    fn untangle(&mut self, graph: &Graph) {
        let mut best = self.crossings(graph);
        let mut columns = self.columns.clone();
        for sweep in 0..SWEEPS_MAX {
            if best == 0 {
                return;
            }
            self.sweep(graph, sweep % 2 == 0);
            let crossings = self.crossings(graph);
            if crossings < best {
                (best, columns) = (crossings, self.columns.clone());
            }
        }
        self.columns = columns;
    }

    fn sweep(&mut self, graph: &Graph, to_the_left: bool) {
        let last = self.columns.len() - 1;
        for step in 0..last {
            let gap = if to_the_left { last - 1 - step } else { step };
            let lines = self.lines(graph, gap);
            let changed = if to_the_left { gap } else { gap + 1 };
            let mut sums = vec![(0, 0); self.columns[changed].len()];
            for (left, right) in lines {
                let (own, other) = if to_the_left { (left.0, right) } else { (right, left.0) };
                sums[own] = (sums[own].0 + other, sums[own].1 + 1);
            }
            let place = |index: usize| match sums[index] {
                (_, 0) => index as f64,
                (sum, count) => sum as f64 / f64::from(count),
            };
            let mut order: Vec<usize> = (0..sums.len()).collect();
            order.sort_by(|one, other| place(*one).total_cmp(&place(*other)));
            self.columns[changed] = order.into_iter().map(|index| self.columns[changed][index]).collect();
        }
    }

    /// The lines between a column and the next: where they leave the left one (and through which door), and where they end.
    pub(super) fn lines(&self, graph: &Graph, gap: usize) -> Vec<((usize, usize), usize)> {
        let mut nodes = vec![usize::MAX; graph.nodes];
        let mut passing = std::collections::HashMap::new();
        for (place, slot) in self.columns[gap + 1].iter().enumerate() {
            match slot {
                Slot::Node(node) => nodes[*node] = place,
                Slot::Passing(edge) => drop(passing.insert(*edge, place)),
            }
        }
        let end = |edge: usize| passing.get(&edge).copied().unwrap_or_else(|| nodes[graph.edges[edge].to]);
        let mut lines = Vec::new();
        for (place, slot) in self.columns[gap].iter().enumerate() {
            match slot {
                Slot::Passing(edge) => lines.push(((place, 0), end(*edge))),
                Slot::Node(node) => {
                    let drawn = self.out[*node].iter().filter(|edge| !self.around[**edge]);
                    // All but those from boundary events leave at the same point.
                    let door = |edge: usize| graph.edges[edge].boundary.map_or(0, |number| number + 1);
                    lines.extend(drawn.map(|edge| ((place, door(*edge)), end(*edge))));
                }
            }
        }
        lines
    }

    fn crossings(&self, graph: &Graph) -> usize {
        (0..self.columns.len().saturating_sub(1)).map(|gap| crossings(self.lines(graph, gap), self.columns[gap + 1].len())).sum()
    }
}

/// Pairs of lines of which one leaves above the other and ends below it.
fn crossings(mut lines: Vec<((usize, usize), usize)>, places: usize) -> usize {
    lines.sort_unstable();
    // How many lines have ended at a place or above, in a tree of sums.
    let mut tree = vec![0; places + 1];
    let (mut crossings, mut counted) = (0, 0);
    for group in lines.chunk_by(|one, other| one.0 == other.0) {
        for (_, end) in group {
            let (mut upto, mut at) = (0, end + 1);
            while 0 < at {
                upto += tree[at];
                at &= at - 1;
            }
            crossings += counted - upto;
        }
        for (_, end) in group {
            let mut at = end + 1;
            while at <= places {
                tree[at] += 1;
                at += at & at.wrapping_neg();
            }
        }
        counted += group.len();
    }
    crossings
}
