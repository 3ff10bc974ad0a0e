//! Cycles between files: the groups of files that reach each other, and the edges whose removal would open them.
//!
//! Lives here: strongly connected components and a small set of back edges for each. Finding the smallest set is NP-hard; this
//! one is found by moving one file of an order at a time, as long as fewer names lead back. It is the same on each run.

use std::collections::{BTreeMap, BTreeSet};

/// Weights of edges, from node to node.
pub(crate) type Weights = BTreeMap<(usize, usize), usize>;

/// The groups of two nodes and more that reach each other, the largest first; each sorted.
pub(crate) fn groups(nodes: usize, edges: &Weights) -> Vec<Vec<usize>> {
    let mut forward = vec![Vec::new(); nodes];
    let mut backward = vec![Vec::new(); nodes];
    for (from, to) in edges.keys() {
        forward[*from].push(*to);
        backward[*to].push(*from);
    }
    let mut finished = Vec::new();
    let mut seen = BTreeSet::new();
    for node in 0..nodes {
        finish(node, &forward, &mut seen, &mut finished);
    }
    let mut groups = Vec::new();
    seen.clear();
    for node in finished.into_iter().rev() {
        let mut group = Vec::new();
        finish(node, &backward, &mut seen, &mut group);
        if group.len() > 1 {
            group.sort_unstable();
            groups.push(group);
        }
    }
    groups.sort_by_key(|group| (usize::MAX - group.len(), group[0]));
    groups
}

/// Walks on from a node, and notes each new node once all behind it are noted.
fn finish(node: usize, edges: &[Vec<usize>], seen: &mut BTreeSet<usize>, finished: &mut Vec<usize>) {
    if seen.insert(node) {
        for next in &edges[node] {
            finish(*next, edges, seen, finished);
        }
        finished.push(node);
    }
}

/// The edges within a group that lead back in an order in which few do: without them it is no cycle.
pub(crate) fn back_edges(group: &[usize], edges: &Weights) -> Vec<(usize, usize)> {
    let inside: Weights = edges
        .iter()
        .filter(|((from, to), _)| group.contains(from) && group.contains(to))
        .map(|(edge, weight)| (*edge, *weight))
        .collect();
    let mut order = group.to_vec();
    // Users first: by what a node names of the others less what they name of it.
    let surplus = |node: usize| -> i64 {
        let sum = |end: fn(&(usize, usize)) -> usize| {
            inside.iter().filter(|(edge, _)| end(edge) == node).map(|(_, weight)| *weight as i64).sum::<i64>()
        };
        sum(|edge| edge.0) - sum(|edge| edge.1)
    };
    order.sort_by_key(|node| (-surplus(*node), *node));
    while let Some(better) = improved(&order, &inside) {
        order = better;
    }
    let rank = ranks(&order);
    inside.keys().filter(|(from, to)| rank[from] > rank[to]).copied().collect()
}

fn ranks(order: &[usize]) -> BTreeMap<usize, usize> {
    order.iter().enumerate().map(|(rank, node)| (*node, rank)).collect()
}

/// How many names lead back, and over how many edges.
fn cost(order: &[usize], inside: &Weights) -> (usize, usize) {
    let rank = ranks(order);
    let back = inside.iter().filter(|((from, to), _)| rank[from] > rank[to]);
    back.fold((0, 0), |(names, edges), (_, weight)| (names + weight, edges + 1))
}

/// The order with one node moved to where it costs least, if that is less than before.
fn improved(order: &[usize], inside: &Weights) -> Option<Vec<usize>> {
    let mut best = (cost(order, inside), None);
    for at in 0..order.len() {
        for to in 0..order.len() {
            let mut moved = order.to_vec();
            let node = moved.remove(at);
            moved.insert(to, node);
            let cost = cost(&moved, inside);
            if cost < best.0 {
                best = (cost, Some(moved));
            }
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(edges: &[(usize, usize)], expected: &[&[usize]], back: &[(usize, usize)]) {
        let weights: Weights = edges.iter().map(|edge| (*edge, 1)).collect();
        let found = groups(8, &weights);
        assert_eq!(found, expected, "{edges:?}");
        let found: Vec<_> = found.iter().flat_map(|group| back_edges(group, &weights)).collect();
        assert_eq!(found, back, "{edges:?}");
    }

    #[test]
    fn groups_are_what_reaches_itself() {
        check(&[(0, 1), (1, 2), (0, 2)], &[], &[]);
        check(&[(0, 1), (1, 0), (1, 2)], &[&[0, 1]], &[(1, 0)]);
        check(&[(5, 6), (6, 5), (0, 1), (1, 2), (2, 0)], &[&[0, 1, 2], &[5, 6]], &[(2, 0), (6, 5)]);
    }

    #[test]
    fn the_edge_that_opens_most_leads_back() {
        check(&[(0, 1), (0, 2), (1, 3), (2, 3), (3, 0)], &[&[0, 1, 2, 3]], &[(3, 0)]);
        check(&[(0, 1), (1, 2), (2, 3), (3, 1), (3, 0)], &[&[0, 1, 2, 3]], &[(1, 2)]);
    }

    #[test]
    fn fewer_names_lead_back() {
        let weights = Weights::from([((0, 1), 1), ((1, 0), 5)]);
        assert_eq!(back_edges(&[0, 1], &weights), [(0, 1)]);
    }
}
