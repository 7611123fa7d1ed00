//! Where things lie: rows within columns so that what follows stands beside what it follows, then points on paper.

use std::collections::{BTreeSet, HashMap};

use super::layers::{Graph, Layers, Slot};

/// How much room a node takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Size {
    pub(super) width: i32,
    pub(super) height: i32,
    /// How many boundary events sit on its lower edge.
    pub(super) boundaries: i32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bounds {
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) width: i32,
    pub(super) height: i32,
}

impl Bounds {
    pub(super) fn right(self) -> i32 {
        self.x + self.width
    }

    pub(super) fn bottom(self) -> i32 {
        self.y + self.height
    }

    pub(super) fn middle(self) -> (i32, i32) {
        (self.x + self.width / 2, self.y + self.height / 2)
    }
}

pub(super) const EVENT: i32 = 36;
/// From the lower edge of a task to the line of its first boundary event, and from that to the next.
const BOUNDARY_LINE: i32 = EVENT / 2 + 14;
const BOUNDARY_LINES_APART: i32 = 12;
const ROW: i32 = 120;
const MARGIN: i32 = 60;
const GAP_MIN: i32 = 50;
const TRACKS_APART: i32 = 12;
/// How many lines are led around the top, each on a height of its own.
const AROUND_APART: i32 = 20;

/// Everything in its place but the lines.
pub(super) struct Placed {
    pub(super) nodes: Vec<Bounds>,
    /// The row of each place in each column.
    rows: Vec<Vec<usize>>,
    /// The height of the middle of each row.
    middles: Vec<i32>,
    /// Where columns begin and end.
    columns: Vec<(i32, i32)>,
    top: i32,
}

impl Placed {
    /// Everything at its height; the columns are to be spread.
    pub(super) fn stacked(graph: &Graph, layers: &Layers, sizes: &[Size]) -> Self {
        let rows = rows(graph, layers);
        let around = layers.around.iter().filter(|around| **around).count() as i32;
        let top = MARGIN + around * AROUND_APART;
        let middles = middles(layers, &rows, sizes, top);
        let sized = |size: &Size| Bounds { x: 0, y: 0, width: size.width, height: size.height };
        let mut placed = Self { nodes: sizes.iter().map(sized).collect(), rows, middles, columns: Vec::new(), top };
        for (column, slots) in layers.columns.iter().enumerate() {
            for (place, slot) in slots.iter().enumerate() {
                if let Slot::Node(node) = slot {
                    placed.nodes[*node].y = placed.height(column, place) - sizes[*node].height / 2;
                }
            }
        }
        placed
    }

    /// Lays columns side by side; before each there is room for so many upright lines.
    pub(super) fn spread(&mut self, layers: &Layers, tracks: &[usize]) {
        let mut x = MARGIN;
        for (slots, tracks) in layers.columns.iter().zip(tracks) {
            let gap = TRACKS_APART * (*tracks as i32 + 1);
            x += if self.columns.is_empty() { gap } else { gap.max(GAP_MIN) };
            let nodes = slots.iter().filter_map(|slot| if let Slot::Node(node) = slot { Some(*node) } else { None });
            let width = nodes.clone().map(|node| self.nodes[node].width).max().unwrap_or(0);
            nodes.for_each(|node| self.nodes[node].x = x + (width - self.nodes[node].width) / 2);
            self.columns.push((x, x + width));
            x += width;
        }
    }

    /// The middle of a place.
    pub(super) fn height(&self, column: usize, place: usize) -> i32 {
        self.middles[self.rows[column][place]]
    }

    /// Where the gap before a column begins and ends.
    pub(super) fn gap(&self, column: usize) -> (i32, i32) {
        let begins = column.checked_sub(1).map_or(0, |before| self.columns[before].1);
        (begins, self.columns.get(column).map_or(begins + GAP_MIN * 2, |next| next.0))
    }

    /// The height of a line that is led around.
    pub(super) fn around(&self, number: usize) -> i32 {
        self.top - MARGIN / 2 - number as i32 * AROUND_APART
    }

    pub(super) fn boundary(&self, node: usize, number: usize, of: i32) -> Bounds {
        let host = self.nodes[node];
        // The first is the rightmost: its line is the highest, and crosses no other's.
        let x = host.right() - host.width * (2 * number as i32 + 1) / (2 * of) - EVENT / 2;
        Bounds { x, y: host.bottom() - EVENT / 2, width: EVENT, height: EVENT }
    }

    pub(super) fn boundary_line(&self, node: usize, number: usize) -> i32 {
        self.nodes[node].bottom() + BOUNDARY_LINE + number as i32 * BOUNDARY_LINES_APART
    }
}

/// The height of the middle of each row: below a task there is room for the lines of its boundary events.
fn middles(layers: &Layers, rows: &[Vec<usize>], sizes: &[Size], top: i32) -> Vec<i32> {
    let count = rows.iter().flatten().max().map_or(0, |last| last + 1);
    let mut extra = vec![0; count];
    for (slots, rows) in layers.columns.iter().zip(rows) {
        for (slot, row) in slots.iter().zip(rows) {
            if let Slot::Node(node) = slot {
                let lines = sizes[*node].boundaries;
                let room = if lines == 0 { 0 } else { BOUNDARY_LINE + lines * BOUNDARY_LINES_APART };
                extra[*row] = room.max(extra[*row]);
            }
        }
    }
    let mut middle = top + ROW / 2;
    let mut middles = Vec::with_capacity(count);
    for extra in extra {
        middles.push(middle);
        middle += ROW + extra;
    }
    middles
}

/// Rows: first from left to right beside what leads there, then what stands higher than all that follows comes down to it, and again.
fn rows(graph: &Graph, layers: &Layers) -> Vec<Vec<usize>> {
    let neighbours = Neighbours::of(graph, layers);
    let mut rows: Vec<Vec<usize>> = layers.columns.iter().map(|slots| vec![0; slots.len()]).collect();
    for pass in 0..4 {
        let to_the_right = pass % 2 == 0;
        for step in 0..rows.len() {
            let column = if to_the_right { step } else { rows.len() - 1 - step };
            let mut least = 0;
            for place in 0..rows[column].len() {
                let beside = match to_the_right {
                    true => median(neighbours.left[column][place].iter().map(|left| rows[column - 1][*left]).collect()),
                    false => median(neighbours.right[column][place].iter().map(|right| rows[column + 1][*right]).collect()),
                };
                let row = beside.unwrap_or(0).max(rows[column][place]).max(least);
                rows[column][place] = row;
                least = row + 1;
            }
        }
    }
    without_empty(rows)
}

/// Rows in which nothing lies are left out.
fn without_empty(mut rows: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let used: BTreeSet<usize> = rows.iter().flatten().copied().collect();
    let numbers: HashMap<usize, usize> = used.into_iter().enumerate().map(|(number, row)| (row, number)).collect();
    rows.iter_mut().flatten().for_each(|row| *row = numbers[row]);
    rows
}

fn median(mut rows: Vec<usize>) -> Option<usize> {
    rows.sort_unstable();
    rows.get(rows.len().saturating_sub(1) / 2).copied()
}

/// For each place the places it has lines to, in the column before and in the next.
struct Neighbours {
    left: Vec<Vec<Vec<usize>>>,
    right: Vec<Vec<Vec<usize>>>,
}

impl Neighbours {
    fn of(graph: &Graph, layers: &Layers) -> Self {
        let empty: Vec<Vec<Vec<usize>>> = layers.columns.iter().map(|slots| vec![Vec::new(); slots.len()]).collect();
        let mut neighbours = Self { left: empty.clone(), right: empty };
        for gap in 0..layers.columns.len().saturating_sub(1) {
            for ((from, _), to) in layers.lines(graph, gap) {
                neighbours.right[gap][from].push(to);
                neighbours.left[gap + 1][to].push(from);
            }
        }
        neighbours
    }
}
