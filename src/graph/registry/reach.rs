//! What can be had, starting from what is known.
//!
//! Shape: a fixed point over all operations, in rounds; an attribute's round is how many operations stand
//! between it and what is known. Costs: operations × rounds. Plans are kept, so this runs once for each
//! kind of entity in a query.
//!
//! Invariant: an operation of round n needs attributes of rounds below n only, so that going from an
//! attribute to its first provider always ends.

use super::table::index;
use super::{AttrId, Registry, World};

/// The rounds of attributes and operations.
pub(in crate::graph) struct Reach {
    attrs: Vec<Option<u32>>,
    operations: Vec<Option<u32>>,
}

impl Reach {
    /// Walks the operations until nothing new comes of them.
    pub(in crate::graph) fn from<W: World>(registry: &Registry<W>, known: &[AttrId]) -> Self {
        let mut reach =
            Self { attrs: vec![None; registry.len()], operations: vec![None; registry.operations().len()] };
        for id in known {
            if let Some(round) = reach.attrs.get_mut(index(*id)) {
                *round = Some(0);
            }
        }
        let mut round = 0;
        while reach.advance(registry, round) {
            round += 1;
        }
        reach
    }

    /// Returns the round of an attribute, if it can be had.
    pub(in crate::graph) fn attr(&self, id: AttrId) -> Option<u32> {
        self.attrs.get(index(id)).copied().flatten()
    }

    /// Returns the round of an operation, if it can be called.
    pub(in crate::graph) fn operation(&self, number: usize) -> Option<u32> {
        self.operations.get(number).copied().flatten()
    }

    /// Takes all operations whose inputs were there at the end of the last round.
    fn advance<W: World>(&mut self, registry: &Registry<W>, round: u32) -> bool {
        let mut callable = Vec::new();
        for (number, operation) in registry.operations().iter().enumerate() {
            let mut required = operation.inputs.iter().filter(|input| input.is_required);
            if self.operations[number].is_none()
                && required.all(|input| self.attr(input.attr).is_some_and(|at| at <= round))
            {
                callable.push(number);
            }
        }
        for number in &callable {
            self.operations[*number] = Some(round + 1);
            for (attr, _) in &registry.operations()[*number].outputs {
                if let Some(slot @ None) = self.attrs.get_mut(index(*attr)) {
                    *slot = Some(round + 1);
                }
            }
        }
        !callable.is_empty()
    }
}
