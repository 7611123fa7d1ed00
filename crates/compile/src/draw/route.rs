//! Lines: level within columns, upright between them, each upright part on a track of its own. Those that lead back go around the top.

use std::collections::HashMap;

use super::layers::{Edge, Graph, Layers, Slot};
use super::place::{Bounds, Placed, Size};

pub(super) type Point = (i32, i32);

/// What a drawing consists of.
pub(super) struct Drawing {
    pub(super) nodes: Vec<Bounds>,
    /// Of each edge that leaves from a boundary event, that event.
    pub(super) boundaries: Vec<Option<Bounds>>,
    pub(super) lines: Vec<Vec<Point>>,
}

pub(super) fn draw(graph: &Graph, layers: &Layers, sizes: &[Size]) -> Drawing {
    let mut placed = Placed::stacked(graph, layers, sizes);
    let steps = steps(graph, layers, &placed);
    let mut uprights = vec![Vec::new(); layers.columns.len() + 1];
    for step in steps.iter().flatten() {
        uprights[step.column].extend(step.upright());
    }
    let tracks: Vec<Vec<Upright>> = uprights.into_iter().map(tracks).collect();
    placed.spread(layers, &tracks.iter().map(Vec::len).collect::<Vec<_>>());
    let xs: Vec<HashMap<Upright, i32>> =
        tracks.iter().enumerate().map(|(column, tracks)| xs(placed.gap(column), tracks)).collect();
    let boundary = |edge: &Edge| edge.boundary.map(|number| placed.boundary(edge.from, number, sizes[edge.from].boundaries));
    let boundaries: Vec<Option<Bounds>> = graph.edges.iter().map(boundary).collect();
    let line = |(number, edge): (usize, &Edge)| line(edge, &steps[number], boundaries[number], &placed, &xs);
    Drawing { lines: graph.edges.iter().enumerate().map(line).collect(), nodes: placed.nodes.clone(), boundaries }
}

/// A line comes to the gap before a column at one height and leaves it at another.
#[derive(Clone, Copy)]
struct Step {
    column: usize,
    from: i32,
    to: i32,
}

/// An upright part of a line: where it begins and which way it goes. Those that begin alike share their track, as the branches of a
/// gateway do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Upright {
    from: i32,
    down: bool,
}

impl Step {
    fn upright(self) -> Option<Upright> {
        (self.from != self.to).then_some(Upright { from: self.from, down: self.from < self.to })
    }
}

/// The gaps that each line goes through.
fn steps(graph: &Graph, layers: &Layers, placed: &Placed) -> Vec<Vec<Step>> {
    let passing = layers.columns.iter().enumerate().flat_map(|(column, slots)| {
        slots.iter().enumerate().filter_map(move |(place, slot)| match slot {
            Slot::Passing(edge) => Some(((*edge, column), place)),
            Slot::Node(_) => None,
        })
    });
    let passing: HashMap<(usize, usize), usize> = passing.collect();
    let mut around = 0;
    let mut all = Vec::with_capacity(graph.edges.len());
    for (number, edge) in graph.edges.iter().enumerate() {
        let mut height = edge.boundary.map_or(placed.nodes[edge.from].middle().1, |event| placed.boundary_line(edge.from, event));
        let ends = placed.nodes[edge.to].middle().1;
        let mut steps = Vec::new();
        let mut step = |column: usize, to: i32| {
            steps.push(Step { column, from: height, to });
            height = to;
        };
        if layers.around[number] {
            step(layers.of[edge.from] + 1, placed.around(around));
            around += 1;
        } else {
            layers.passed(*edge).for_each(|column| step(column, placed.height(column, passing[&(number, column)])));
        }
        step(layers.of[edge.to], ends);
        all.push(steps);
    }
    all
}

/// From left to right. Of those that go down the lower ones come first, of those that go up the higher ones: so none crosses the level part of
/// another that need not.
fn tracks(uprights: Vec<Upright>) -> Vec<Upright> {
    let (mut down, mut up): (Vec<Upright>, Vec<Upright>) = uprights.into_iter().partition(|upright| upright.down);
    down.sort_unstable_by_key(|upright| std::cmp::Reverse(upright.from));
    up.sort_unstable();
    up.append(&mut down);
    up.dedup();
    up
}

fn xs((begins, ends): (i32, i32), tracks: &[Upright]) -> HashMap<Upright, i32> {
    let count = tracks.len() as i32 + 1;
    tracks.iter().zip(1..).map(|(upright, number)| (*upright, begins + (ends - begins) * number / count)).collect()
}

fn line(edge: &Edge, steps: &[Step], event: Option<Bounds>, placed: &Placed, xs: &[HashMap<Upright, i32>]) -> Vec<Point> {
    let (from, to) = (placed.nodes[edge.from], placed.nodes[edge.to]);
    let mut points = match (event, steps.first()) {
        (Some(event), Some(first)) => vec![(event.middle().0, event.bottom()), (event.middle().0, first.from)],
        (Some(_) | None, _) => vec![(from.right(), from.middle().1)],
    };
    for step in steps {
        if let Some(upright) = step.upright() {
            let x = xs[step.column][&upright];
            points.extend([(x, step.from), (x, step.to)]);
        }
    }
    points.push((to.x, to.middle().1));
    points
}
