//! The whole state as text: for tests, for bug reports, and to compare two states.
//!
//! Two states that print alike behave alike: everything that a decision reads is printed, in a total order.

use std::fmt;

use super::record::{ScheduleRecord, SessionRecord};
use super::state::State;

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ledger = self.ledger();
        writeln!(f, "engine {:?} cursor {} timers {}", self.mode(), self.cursor(), self.timers.len())?;
        writeln!(
            f,
            "ledger expected {} = delivered {} + skipped {} + cancelled {} + failed {} + lost {} + pending {}",
            ledger.expected,
            ledger.delivered,
            ledger.skipped,
            ledger.cancelled,
            ledger.failed,
            ledger.lost,
            ledger.pending
        )?;
        for (host, sessions) in &self.hosts {
            writeln!(f, "host {host} with {} sessions", sessions.len())?;
        }
        for session in &self.creating {
            writeln!(f, "creating {session}")?;
        }
        for session in self.sessions() {
            self.print_session(session, f)?;
            for schedule in self.schedules_of(session.id()) {
                self.print_schedule(schedule, f)?;
            }
        }
        Ok(())
    }
}

impl State {
    fn print_session(&self, session: &SessionRecord, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "session {} host {} opened {}", session.id, session.host, session.opened_at)?;
        if let Some(provenance) = session.provenance() {
            write!(f, " from {} of {}", provenance.schedule, provenance.origin)?;
        }
        let marks = [
            (!session.hosted, "unhosted"),
            (session.busy, "busy"),
            (session.turn_starting, "turn-starting"),
            (session.turn_ended, "turn-ended"),
        ];
        for (_, mark) in marks.iter().filter(|(set, _)| *set) {
            write!(f, " {mark}")?;
        }
        if let Some(record) = session.in_flight.and_then(|key| self.schedules.get(key)) {
            write!(f, " delivery-in-flight {}", record.schedule.id)?;
        }
        let counts = (session.live.len(), session.unstarted, session.finished.len());
        write!(f, " live {} unstarted {} finished {}", counts.0, counts.1, counts.2)?;
        if let Some(deadline) = self.session_deadline(&session.id) {
            write!(f, " presumed-until {}ns", deadline.nanos())?;
        }
        if let Some(at) = session.last_user_activity {
            write!(f, " user-spoke {at}")?;
        }
        for waiting in self.waiting(session) {
            write!(f, " waiting {}", waiting.schedule.id)?;
        }
        writeln!(f, " config {:?}", session.config)
    }

    fn print_schedule(&self, record: &ScheduleRecord, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schedule = &record.schedule;
        write!(f, "  schedule {} {} ", schedule.id, record.status.name())?;
        write!(f, "{} {} ", schedule.dialect.name(), schedule.payload.kind().name())?;
        write!(f, "created {} slot {}", schedule.created_at, schedule.trigger.first_slot())?;
        if let Some(deadline) = self.deadline(&schedule.id) {
            write!(f, " deadline {}ns", deadline.nanos())?;
        }
        write!(f, " payload {:?}", schedule.payload)?;
        if let Some(label) = &schedule.label {
            write!(f, " label {label:?}")?;
        }
        if let Some(reason) = record.ended_for() {
            write!(f, " ended-for {}", reason.name())?;
        }
        if let Some(run) = record.run() {
            write!(f, " run {} attempt {} claimed {}", run.state.name(), run.attempt, run.claimed_at)?;
            if let Some(phase) = run.phase {
                write!(f, " phase {}", phase.name())?;
            }
            if let Some(reason) = run.reason.or_else(|| self.waits_for(record)) {
                write!(f, " because {}", reason.name())?;
            }
            if let Some(host) = run.host {
                write!(f, " host {host}")?;
            }
            if let Some(session) = &run.session {
                write!(f, " into {session}{}", if run.session_created { " (created)" } else { "" })?;
            }
            if let Some(failure) = &run.failure {
                write!(f, " error {:?}", failure.message)?;
            }
        }
        writeln!(f)
    }
}
