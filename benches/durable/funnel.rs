//! A store that answers before it writes, to fill a store quickly with an engine's records.
//!
//! For benchmarks only: what it acknowledges may be lost.

use std::sync::Mutex;

use reveille::adapter::StoreSqlite;
use reveille::domain::Cursor;
use reveille::port::{
    Batch, Done, FactRecord, HistoryBytes, HistoryQuery, LostHistory, RowRecord, Store, StoreFault,
    StoreHealth, StoreReport, Term, Ticket,
};

pub(crate) struct Funnel {
    store: StoreSqlite,
    gathered: Mutex<Gathered>,
}

#[derive(Default)]
struct Gathered {
    batch: Batch,
    /// The ticket of the previous batch: at most two wait at a time.
    last: Option<Ticket>,
    rows: u64,
}

impl Funnel {
    pub(crate) fn new(store: StoreSqlite) -> Funnel {
        Funnel { store, gathered: Mutex::default() }
    }

    /// Writes everything acknowledged so far; returns how many rows that were since the beginning.
    pub(crate) fn flush(&self) -> u64 {
        let mut gathered = self.gathered.lock().expect("nobody panics");
        if !gathered.batch.facts.is_empty() {
            self.pass_on(&mut gathered);
        }
        if let Some(last) = gathered.last.take() {
            last.wait().expect("it is kept");
        }
        gathered.rows
    }

    fn pass_on(&self, gathered: &mut Gathered) {
        let (ticket, done) = Ticket::new();
        let term = self.store.health().term.expect("nothing fails");
        let batch = std::mem::take(&mut gathered.batch);
        self.store.submit(term, batch, done).expect("the queue has room");
        // One batch is written while the next one gathers.
        if let Some(before) = gathered.last.replace(ticket) {
            before.wait().expect("it is kept");
        }
    }
}

impl Store for Funnel {
    fn submit(&self, _term: Term, batch: Batch, done: Done) -> Result<(), StoreFault> {
        let last = batch.facts.last().expect("a batch has facts").cursor;
        let mut gathered = self.gathered.lock().expect("nobody panics");
        gathered.rows += batch.rows.len() as u64;
        gathered.batch.facts.extend(batch.facts);
        gathered.batch.rows.extend(batch.rows);
        if gathered.batch.facts.len() >= GATHERED {
            self.pass_on(&mut gathered);
        }
        // Acknowledged before anything is written, which is the point of this store.
        done(Ok(last));
        Ok(())
    }

    fn close(&self) {
        self.flush();
        self.store.close();
    }

    fn renew(&self) -> Result<Term, StoreFault> {
        self.store.renew()
    }

    fn health(&self) -> StoreHealth {
        self.store.health()
    }

    fn facts_after(&self, after: Cursor) -> Result<Vec<FactRecord>, StoreFault> {
        self.store.facts_after(after)
    }

    fn rows_after(&self, after: Option<&str>) -> Result<Vec<RowRecord>, StoreFault> {
        self.store.rows_after(after)
    }

    fn history(&self, query: &HistoryQuery) -> Result<Vec<FactRecord>, StoreFault> {
        self.store.history(query)
    }

    fn history_bytes(&self, session: Option<&str>) -> HistoryBytes {
        self.store.history_bytes(session)
    }

    fn lost_history(&self) -> Result<LostHistory, StoreFault> {
        self.store.lost_history()
    }

    fn doctor(&self) -> Result<StoreReport, StoreFault> {
        self.store.doctor()
    }
}

// Facts per batch: large enough that flushes do not matter.
const GATHERED: usize = 1_000;
