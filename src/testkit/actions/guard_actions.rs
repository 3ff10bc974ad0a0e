//! Random actions on a world's guard: its policy, grants, operators' decisions, and the external
//! guard.

use std::sync::Arc;

use crate::domain::{
    Awaits, Dialect, Digest, Grant, GuardPolicy, PayloadKind, Primitives, Right, Rule, RuleScope, Ruling,
    RunId, Scope, Span, TimeOfDay, TimeWindow, Weekday, Weekdays, Zone,
};
use crate::engine::{Command, Input, Report};
use crate::testkit::laws::Broken;
use crate::testkit::sim::sim_executor::TOOL;
use crate::testkit::world::World;

type Outcome = Result<(), Broken>;

/// The tools that sessions of a world may have.
pub(in crate::testkit) const TOOLS: [&str; 2] = ["shell", "browser"];
/// Names of rules for the tool that worlds call: its own, and one that it begins with.
const CALLED_TOOLS: [&str; 2] = [TOOL, "http.*"];
/// The families of schedules where these are drawn: with a switch of their own, and without one.
const FAMILIES: [Dialect; 3] = [Dialect::Watch, Dialect::Scheduler, Dialect::Psi];

impl World {
    /// Sets another guard policy; one in four removes it.
    pub(in crate::testkit) fn change_guard(&mut self) -> Outcome {
        let policy = (!self.stage.entropy.one_in(4)).then(|| Arc::new(self.any_guard_policy()));
        let by = Scope::Operator.into();
        self.submit(Input::Command(Command::SetGuard { policy, by })).map(|_| ())
    }

    fn any_guard_policy(&self) -> GuardPolicy {
        let entropy = &self.stage.entropy;
        let sessions = self.sessions(|_, _| true);
        let called = CALLED_TOOLS.iter().filter(|_| self.config.families);
        let tools: Vec<&str> = TOOLS.iter().chain(called).copied().collect();
        let rule = |number: u64| {
            let pick = |one_in: u64| entropy.one_in(one_in);
            let of = RuleScope {
                sessions: entropy.pick(&sessions).filter(|_| pick(3)).cloned().into_iter().collect(),
                dialects: entropy.pick(Dialect::ALL).filter(|_| pick(3)).copied().into_iter().collect(),
                kinds: entropy.pick(PayloadKind::ALL).filter(|_| pick(2)).copied().into_iter().collect(),
                tools: tools.iter().filter(|_| pick(6)).map(|tool| (*tool).into()).collect(),
                window: self.any_window().filter(|_| pick(5)),
            };
            let then = *entropy.pick(Ruling::ALL).unwrap_or(&Ruling::Allow);
            // The name contains the content, so that equal names mean equal rules in every policy
            // of a world.
            let name = format!("rule-{number}-{}-{:?}", then.name(), of).into();
            Rule { name, of, then, why: None }
        };
        GuardPolicy {
            rules: (0..entropy.below(3)).map(rule).collect(),
            approval: (!entropy.one_in(5)).then(|| Span::from_millis(1_000 + entropy.below(120_000))),
            asks: entropy.one_in(2).then(|| Span::from_millis(100 + entropy.below(5_000))),
        }
    }

    /// A window of some days and hours, in a zone of a fixed offset: the model reads the clock without a zone database.
    fn any_window(&self) -> Option<TimeWindow> {
        let entropy = &self.stage.entropy;
        let hour = || TimeOfDay::new(u8::try_from(entropy.below(24)).unwrap_or(0), 15, 0);
        let days = Weekday::ALL.iter().copied().filter(|_| !entropy.one_in(3));
        let zone = if entropy.one_in(2) { Zone::Utc } else { Zone::parse("+05:30").ok()? };
        Some(TimeWindow { days: Weekdays::new(days)?, from: hour()?, until: hour()?, zone })
    }

    /// Restricts what a session may do, extends it to others' jobs, or gives it the full grant again.
    pub(in crate::testkit) fn change_grant(&mut self) -> Outcome {
        let sessions = self.sessions(|_, _| true);
        let Some(session) = self.stage.entropy.pick(&sessions).cloned() else { return Ok(()) };
        let grant = match self.stage.entropy.below(8) {
            0 => Grant { right: Some(Right::Read), ..Grant::FULL },
            1 => Grant { right: None, ..Grant::FULL },
            2 => Grant { dialects: Some(vec![Dialect::Native]), ..Grant::FULL },
            _ if self.config.families && self.stage.entropy.one_in(2) => {
                Grant { dialects: Some(vec![self.any_family()]), ..Grant::FULL }
            }
            3 | 4 => Grant { cron_others: true, ..Grant::FULL },
            _ => Grant::FULL,
        };
        let by = Scope::Operator.into();
        self.submit(Input::Command(Command::SetGrant { session, grant, by })).map(|_| ())
    }

    /// The family of tools that a schedule is of, or that a grant names.
    pub(in crate::testkit) fn any_family(&self) -> Dialect {
        let drawn = self.config.families.then(|| self.stage.entropy.pick(&FAMILIES)).flatten();
        drawn.copied().unwrap_or(Dialect::Psi)
    }

    /// Switches families of tools, as a program does when it starts; here also later, while their schedules wait.
    pub(in crate::testkit) fn switch_families(&mut self) -> Outcome {
        let watchers = !self.stage.entropy.one_in(3);
        let scheduler = watchers && !self.stage.entropy.one_in(3);
        let primitives = Primitives { watchers, scheduler, ..Primitives::default() };
        self.submit(Input::Report(Report::Switched(primitives))).map(|_| ())
    }

    /// An operator approves or denies a held run; sometimes with a stale digest, sometimes as a
    /// session.
    pub(in crate::testkit) fn say_word(&mut self) -> Outcome {
        let held = self.handle.view(|state| {
            let records = state.schedules().into_iter();
            let runs = records.flat_map(|record| state.runs_of(record).map(|(_, run)| run));
            let held = runs.filter_map(|run| {
                let hold = run.run().checks.as_ref()?.waits.as_ref()?;
                let is_held = hold.awaits == Awaits::Operator;
                is_held.then(|| Some((state.run_id(run)?, state.approval_digest(run)?)))?
            });
            held.collect::<Vec<(RunId, Digest)>>()
        });
        let Some((run, digest)) = self.stage.entropy.pick(&held).cloned() else { return Ok(()) };
        // A wrong digest stands for a schedule that changed after the operator read it.
        let digest = if self.stage.entropy.one_in(8) { Digest([7; 32]) } else { digest };
        let scope = if self.stage.entropy.one_in(8) {
            self.sessions(|_, _| true).into_iter().next().map_or(Scope::Operator, Scope::Session)
        } else {
            Scope::Operator
        };
        let by = scope.into();
        let command = if self.stage.entropy.one_in(4) {
            Command::Deny { run, why: Some("no".into()), by }
        } else {
            Command::Approve { run, digest, by }
        };
        self.submit(Input::Command(command)).map(|_| ())
    }

    /// The external guard answers an open question, or dies and drops all of them.
    pub(in crate::testkit) fn guard_speaks(&mut self) -> Outcome {
        let guard = Arc::clone(&self.guard);
        if self.stage.entropy.one_in(8) {
            self.say("  the guard dies".to_owned());
            guard.die();
        } else if guard.answer_one() {
            self.say("  the guard answers".to_owned());
        }
        Ok(())
    }
}
