//! A journal that records facts in a history, in the order in which they were decided.

use super::history::{History, Seen};
use crate::domain::{Fact, Now};
use crate::engine::LocalFact;
use crate::port::Journal;

/// Records every fact in a [`History`], so that it can be folded again and compared.
#[derive(Debug)]
pub struct Recorder {
    history: History,
}

impl Recorder {
    /// A journal that writes into this history.
    pub fn new(history: History) -> Recorder {
        Recorder { history }
    }
}

impl Journal for Recorder {
    fn append(&mut self, now: Now, facts: &[Fact]) {
        for fact in facts {
            self.history.note(now, Seen::Fact(fact.clone()));
        }
    }

    fn local(&mut self, now: Now, facts: &[LocalFact]) {
        for fact in facts {
            self.history.note(now, Seen::Local(fact.clone()));
        }
    }
}
