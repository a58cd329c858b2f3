//! The lanes of the commit graph, assigned row by row.
//!
//! Pure. A commit gets the lane that waits for it; its first parent inherits lane and colour.
//! Invariant: lines lead from each commit to each of its parents, if the commits come before their parents.
//! Invariant: a lane without a parent to come is free, and the number of lanes is the smallest that holds the rest.
//! Start at `CommitGraph::place`.

/// Assigns lanes to the commits of a history.
#[derive(Clone, Debug)]
pub struct CommitGraph<Id> {
    /// The commit that each lane leads to; `None` in a free lane. The last lane is not free.
    lanes: Vec<Option<OpenLane<Id>>>,
    next_color: u32,
}

/// A lane that leads to a commit which has not come yet.
#[derive(Clone, Debug)]
struct OpenLane<Id> {
    target: Id,
    color: u32,
}

/// A row of the graph: a commit and the lines around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphRow {
    /// The lane of the commit, counted from 0.
    pub lane: usize,
    /// The number of the commit's colour; a view maps it to its palette.
    pub color: u32,
    /// The lines in the upper half of the row, from lanes at the top to lanes at the middle.
    pub upper: Vec<GraphLine>,
    /// The lines in the lower half of the row, from lanes at the middle to lanes at the bottom.
    pub lower: Vec<GraphLine>,
}

/// A line of the graph through half a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphLine {
    /// The lane at its upper end.
    pub from: usize,
    /// The lane at its lower end.
    pub to: usize,
    /// The number of its colour.
    pub color: u32,
}

impl<Id> Default for CommitGraph<Id> {
    fn default() -> Self {
        Self {
            lanes: Vec::new(),
            next_color: 0,
        }
    }
}

impl<Id: Clone + PartialEq> CommitGraph<Id> {
    /// Places the next commit. Costs time in proportion to the number of open lanes.
    pub fn place(&mut self, id: &Id, parents: &[Id]) -> GraphRow {
        let (lane, color) = self.lane_of(id);
        let mut upper = Vec::new();
        for (from, open) in self.lanes.iter_mut().enumerate() {
            let Some(line) = open else {
                continue;
            };
            let color = line.color;
            let ends = line.target == *id;
            let to = if ends { lane } else { from };
            upper.push(GraphLine { from, to, color });
            if ends {
                *open = None;
            }
        }
        let mut lower = self.straight_lines();
        for (ix, parent) in parents.iter().enumerate() {
            if parents[..ix].contains(parent) {
                continue;
            }
            lower.push(self.lead(lane, color, ix == 0, parent));
        }
        while self.lanes.last().is_some_and(Option::is_none) {
            self.lanes.pop();
        }
        GraphRow {
            lane,
            color,
            upper,
            lower,
        }
    }

    /// Returns the number of lanes below the last row.
    pub fn width(&self) -> usize {
        self.lanes.len()
    }

    /// Returns the first lane that waits for a commit, or a free one, with its colour.
    fn lane_of(&mut self, id: &Id) -> (usize, u32) {
        let waits = |open: &Option<OpenLane<Id>>| open.as_ref().is_some_and(|it| it.target == *id);
        if let Some(lane) = self.lanes.iter().position(waits) {
            let color = self.lanes[lane].as_ref().map_or(0, |open| open.color);
            return (lane, color);
        }
        (self.free_lane(0), self.fresh_color())
    }

    /// Leads a line from the commit's lane to a parent.
    fn lead(&mut self, lane: usize, color: u32, is_first: bool, parent: &Id) -> GraphLine {
        let target = parent.clone();
        if is_first {
            self.lanes[lane] = Some(OpenLane { target, color });
            return GraphLine {
                from: lane,
                to: lane,
                color,
            };
        }
        let waits = |open: &Option<OpenLane<Id>>| {
            let open = open.as_ref();
            open.is_some_and(|open| open.target == *parent)
        };
        let to = match self.lanes.iter().position(waits) {
            Some(to) => to,
            None => {
                let to = self.free_lane(lane + 1);
                let color = self.fresh_color();
                self.lanes[to] = Some(OpenLane { target, color });
                to
            }
        };
        let color = self.lanes[to].as_ref().map_or(color, |open| open.color);
        GraphLine {
            from: lane,
            to,
            color,
        }
    }

    /// Returns the lines of the lanes that pass the commit.
    fn straight_lines(&self) -> Vec<GraphLine> {
        let open = self.lanes.iter().enumerate();
        let line = |(lane, open): (usize, &Option<OpenLane<Id>>)| {
            let color = open.as_ref()?.color;
            Some(GraphLine {
                from: lane,
                to: lane,
                color,
            })
        };
        open.filter_map(line).collect()
    }

    /// Returns the first free lane from `start` on; adds one if there is none.
    fn free_lane(&mut self, start: usize) -> usize {
        let free = self.lanes.iter().skip(start).position(Option::is_none);
        let lane = free.map_or(self.lanes.len().max(start), |ix| ix + start);
        if lane >= self.lanes.len() {
            self.lanes.resize_with(lane + 1, || None);
        }
        lane
    }

    fn fresh_color(&mut self) -> u32 {
        let color = self.next_color;
        self.next_color = self.next_color.wrapping_add(1);
        color
    }
}

#[cfg(test)]
mod tests;
