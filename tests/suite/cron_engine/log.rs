//! What a store would hold of a scene, and what is exported of it.

use std::collections::BTreeMap;
use std::path::Path;

use reveille::app;
use reveille::dialect::cron::jsonl::{Replayed, replay};
use reveille::domain::{Cursor, Fact};
use reveille::port::{FactRecord, LostHistory, RowRecord};
use reveille::runtime::codec;
use reveille::service::export::{Stored, export};
use reveille::testkit::Seen;

use super::scene::Scene;

/// The facts and rows of all schedules.
pub(crate) struct Log {
    pub(crate) facts: Vec<FactRecord>,
    pub(crate) rows: Vec<RowRecord>,
    pub(crate) lost: LostHistory,
}

/// What was exported: the files, and what was said.
pub(crate) struct Exported {
    pub(crate) files: BTreeMap<&'static str, String>,
    pub(crate) said: Vec<String>,
}

impl Log {
    pub(crate) fn of(scene: &Scene) -> Log {
        let seen = scene.stage.history.after(0).into_iter();
        let facts = seen.filter_map(|one| match one.seen {
            Seen::Fact(fact) => Some((one.now.wall, fact)),
            Seen::Local(_)
            | Seen::Received(_)
            | Seen::CancelAcknowledged { .. }
            | Seen::HostLost(_)
            | Seen::ShutDown
            | Seen::DiskFailed { .. } => None,
        });
        let about = |fact: &Fact| fact.schedule().cloned().filter(|_| !matches!(fact, Fact::Session(..)));
        let facts = facts.zip(1..).map(|((at, fact), cursor)| FactRecord {
            cursor: Cursor::new(cursor),
            at,
            kind: fact.kind().name().into(),
            schedule: about(&fact).map(|id| id.to_string().into()),
            session: None,
            share: None,
            run: fact.run().map(|run| run.to_string().into()),
            payload: codec::print(&fact).into_text().into_bytes().into(),
        });
        let rows = scene.handle.view(|state| {
            let ids = state.schedules().into_iter().map(|record| record.schedule().id.clone());
            let row = |id| state.schedule_row(&id).map(|row| (id, codec::print_schedule(&row)));
            let row = |id| row(id).map(|(id, form)| (format!("schedule/{id}"), form.into_text()));
            let rows = ids.filter_map(row).map(|(key, text)| RowRecord {
                key: key.into(),
                revision: 1,
                payload: Some(text.into_bytes().into()),
            });
            rows.collect()
        });
        Log { facts: facts.collect(), rows, lost: LostHistory::default() }
    }

    fn with<T>(&self, ask: impl FnOnce(&Stored<'_>) -> T) -> T {
        let facts_after = |after: Cursor| {
            let facts = self.facts.iter().filter(|fact| fact.cursor > after).take(3);
            Ok(facts.cloned().collect())
        };
        ask(&Stored { rows: &self.rows, facts_after: &facts_after, lost: self.lost.clone() })
    }

    pub(crate) fn export(&self) -> Exported {
        let mut files = BTreeMap::new();
        let said = self.with(|stored| {
            export(stored, &mut |name, text| {
                files.entry(name).or_insert_with(String::new).push_str(text);
                Ok(())
            })
        });
        Exported { files, said: said.expect("it is written") }
    }

    pub(crate) fn export_to(&self, directory: &Path) -> Result<Vec<String>, String> {
        self.with(|stored| app::export::export(stored, directory)).map_err(|error| error.to_string())
    }
}

impl Exported {
    pub(crate) fn file(&self, name: &str) -> &str {
        self.files.get(name).map_or("", String::as_str)
    }

    pub(crate) fn replayed(&self) -> Replayed {
        let [jobs, runs] = ["jobs.jsonl", "runs.jsonl"].map(|name| self.file(name).as_bytes());
        replay(jobs, runs).expect("the files say something")
    }
}
