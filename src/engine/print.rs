//! The whole state as text, for tests, for bug reports, and to compare two states.
//!
//! Invariant: the order is total. Not printed are paces, kept outcomes, and counts that follow from what is printed.

use std::fmt;

use super::pause::Holds;
use super::record::{RunRecord, ScheduleRecord, SessionRecord};
use super::slab::Key;
use super::state::State;
use super::timers::Timer;

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ledger = self.ledger();
        writeln!(f, "engine {:?} cursor {} timers {}", self.mode(), self.cursor(), self.timers.len())?;
        writeln!(
            f,
            "ledger expected {} = delivered {} + skipped {} + cancelled {} + failed {} + lost {} + left {} + pending {}",
            ledger.expected,
            ledger.delivered,
            ledger.skipped,
            ledger.cancelled,
            ledger.failed,
            ledger.lost,
            ledger.left,
            ledger.pending
        )?;
        if self.holds != Holds::default() {
            writeln!(f, "{:?}", self.holds)?;
        }
        writeln!(f, "down {:?} store failed {:?} lost {:?}", self.downs, self.store_failures, self.losses)?;
        if let Some(guard) = &self.guard {
            writeln!(f, "guard {guard:?}")?;
        }
        for (session, grant) in &self.grants {
            writeln!(f, "grant of {session} {grant}")?;
        }
        if let Some(since) = self.armed_since {
            writeln!(f, "armed since {since}")?;
        }
        for (host, record) in &self.hosts {
            writeln!(f, "host {host} by {:?} with {} sessions", record.by, record.sessions.len())?;
        }
        for record in self.channels.values() {
            writeln!(f, "channel {} disabled {:?}", record.channel.name, record.disabled_at)?;
        }
        for (channel, pauses) in &self.channel_pauses {
            writeln!(f, "channel {channel} paused {pauses:?}")?;
        }
        for run in self.waiting_outside().into_iter().filter_map(|run| self.run_id(run)) {
            writeln!(f, "waits to go outside {run}")?;
        }
        for (session, root) in &self.creating {
            writeln!(f, "creating {session} for {root}")?;
        }
        for session in self.sessions() {
            self.print_session(session, f)?;
            for schedule in self.schedules_of(session.id()) {
                self.print_schedule(schedule, f)?;
            }
        }
        let left = self.ownerless.values().flatten().chain(&self.ownerless_finished);
        for schedule in left.filter_map(|key| self.schedules.get(*key)) {
            write!(f, "without owner")?;
            self.print_schedule(schedule, f)?;
        }
        Ok(())
    }
}

impl State {
    fn print_session(&self, session: &SessionRecord, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "session {} host {} opened {}", session.id, session.host, session.opened_at)?;
        if let Some(provenance) = session.provenance() {
            write!(f, " from {} of {} below {}", provenance.schedule, provenance.origin, provenance.root)?;
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
        let run_id = |key: Option<Key>| key.and_then(|key| self.run_id(self.runs.get(key)?));
        if let Some(run) = run_id(session.in_flight) {
            write!(f, " delivery-in-flight {run}")?;
        }
        if let Some(run) = run_id(session.turn_of) {
            write!(f, " turn-of {run}")?;
        }
        let counts = (session.live.len(), session.unstarted, session.finished.len());
        write!(f, " live {} unstarted {} finished {}", counts.0, counts.1, counts.2)?;
        if let Some(deadline) = self.session_deadline(&session.id) {
            write!(f, " presumed-until {}ns", deadline.nanos())?;
        }
        if let Some(at) = session.last_user_activity {
            write!(f, " user-spoke {at}")?;
        }
        for ping in session.pings.all() {
            write!(f, " ping {} {}", ping.name, ping.at)?;
        }
        for waiting in self.waiting(session) {
            if let Some(run) = self.run_id(waiting) {
                write!(f, " waiting {run}")?;
            }
        }
        for left in self.inbox(session).into_iter().filter_map(|run| self.run_id(run)) {
            write!(f, " left {left}")?;
        }
        write!(f, " woken {:?} away {:?} wakes {:?}", session.woken, session.away, session.wakes)?;
        write!(f, " ready {:?} remembers {:?}", session.ready_jobs, session.memory)?;
        writeln!(f, " config {:?}", session.config)
    }

    fn print_schedule(&self, record: &ScheduleRecord, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schedule = &record.schedule;
        write!(f, "  schedule {} {} ", schedule.id, record.status.name())?;
        write!(f, "{} {} ", schedule.dialect.name(), schedule.payload.kind().name())?;
        write!(f, "created {} trigger {:?}", schedule.created_at, schedule.trigger)?;
        if let Some(next) = record.next {
            write!(f, " next {next}")?;
        }
        if let Some(deadline) = self.deadline(&schedule.id) {
            write!(f, " deadline {}ns", deadline.nanos())?;
        }
        write!(f, " payload {:?}", schedule.payload)?;
        if let Some(maker) = schedule.created_by() {
            write!(f, " made by {maker}")?;
        }
        if let Some(label) = &schedule.label {
            write!(f, " label {label:?}")?;
        }
        if let Some(settings) = &schedule.settings {
            write!(f, " terms {settings:?}")?;
        }
        if let Some(progress) = &record.progress {
            write!(f, " course {progress:?}")?;
        }
        if let Some(watch) = &record.remembered {
            write!(f, " remembers {watch:?}")?;
        }
        if let Some(reason) = record.ended_for() {
            write!(f, " ended-for {}", reason.name())?;
        }
        writeln!(f)?;
        let runs: Vec<(Key, &RunRecord)> = self.runs_of(record).collect();
        // Oldest first.
        for (key, run) in runs.into_iter().rev() {
            self.print_run(key, run, f)?;
        }
        Ok(())
    }

    fn print_run(&self, key: Key, record: &RunRecord, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let run = &record.run;
        write!(f, "    run {}~{} {} {}", run.incarnation, run.slot, run.cause.name(), run.state.name())?;
        write!(f, " attempt {} claimed {} folded {}", run.attempt, run.claimed_at, run.folded)?;
        for timer in [Timer::Receipt(key), Timer::Retry(key), Timer::Approval(key), Timer::TimeUp(key)] {
            if let Some(deadline) = self.timers.deadline(timer) {
                write!(f, " deadline {}ns", deadline.nanos())?;
            }
        }
        if let Some(phase) = run.phase {
            write!(f, " phase {}", phase.name())?;
        }
        if let Some(reason) = run.reason.or_else(|| self.run_waits_for(record)) {
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
        if let Some(earlier) = &run.earlier {
            write!(f, " earlier {earlier:?}")?;
        }
        if let Some(checks) = &run.checks {
            write!(f, " checks {checks:?}")?;
        }
        if let Some(asked) = &run.definition {
            write!(f, " asked {asked:?}")?;
        }
        writeln!(f)
    }
}
