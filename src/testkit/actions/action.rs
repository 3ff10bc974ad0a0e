//! The random actions of a world: one function per action, each drawing its details from the seed.

use std::sync::Arc;

use crate::domain::{
    About, Actor, Durability, Failure, HostId, Moment, Notice, Payload, Phase, PingName, Reason, RunId,
    ScheduleId, Scope, SessionConfig, SessionId, Span, Status, TokenName, Via, When,
};
use crate::engine::{Command, Input, NewSchedule, Report, ScheduleRecord, SessionRecord, State, Which};
use crate::port::{Clock, EntropySource};
use crate::testkit::actions::guard_actions::TOOLS;
use crate::testkit::actions::watches::WATCHED_PINGS;
use crate::testkit::history::Seen;
use crate::testkit::laws::Broken;
use crate::testkit::world::World;
use crate::testkit::world_config::Action;

type Outcome = Result<(), Broken>;

impl World {
    pub(in crate::testkit) fn act(&mut self, action: Action) -> Outcome {
        let now = self.stage.clock.now();
        self.say(format!("{} {} {action:?}", now.boot.nanos(), now.wall));
        self.show_pings();
        match action {
            Action::OpenSession => self.open_session(),
            Action::CloseSession => self.close_session(),
            Action::OpenFreshSession => self.open_fresh_session(),
            Action::CreateSchedule => self.create_schedule(),
            Action::CreateBunch => self.create_bunch(),
            Action::CancelSchedule => self.cancel_schedule(),
            Action::ReportTurn => self.report_turn(),
            Action::UserMessage => self.user_message(),
            Action::JobReady => self.job_ready(),
            Action::Ping => self.ping(),
            Action::AnswerReceipt => self.answer_receipt(),
            Action::FalseReceipt => self.false_receipt(),
            Action::TakeLeft => self.take_left(),
            Action::LoseHost => self.lose_host(),
            Action::ConnectHost => self.connect(),
            Action::AdvanceToWake => self.advance_to_wake(Span::ZERO),
            Action::AdvanceNearWake => self.advance_to_wake(Span::from_nanos(1)),
            Action::Advance => self.advance(),
            Action::StepWall => self.step_wall(),
            Action::Change => self.change(),
            Action::Pause => self.pause(),
            Action::RunNow => self.run_now(),
            Action::SkipNext => self.skip_next(),
            Action::Hold => self.hold(),
            Action::CrowdOutside => self.crowd_outside(),
            Action::PauseChannel => self.pause_channel(),
            Action::ChangeGuard => self.change_guard(),
            Action::ChangeGrant => self.change_grant(),
            Action::SwitchFamilies => self.switch_families(),
            Action::SayWord => self.say_word(),
            Action::GuardSpeaks => self.guard_speaks(),
            Action::SlowDisk => self.wait_for_disk(),
            Action::FailDisk => self.fail_disk(),
            Action::MendDisk => self.mend_disk(),
            Action::CallTool => self.call_tool(),
            Action::CourierAnswers => self.courier_answers(),
            Action::ExecutorAnswers => self.executor_answers(),
            Action::CancelCall => self.cancel_call(),
            Action::AwaitCall => self.await_call(),
            Action::Drift => self.drift(),
            Action::Crash => self.crash(),
        }
    }

    fn open_session(&mut self) -> Outcome {
        // One in ten asks for an id that is open already: the engine has to refuse it.
        let taken = self.any_session().filter(|_| self.stage.entropy.one_in(10));
        if taken.is_none() && self.sessions(|_, _| true).len() >= self.config.sessions_max {
            return Ok(());
        }
        self.opened += 1;
        let session = taken.or_else(|| SessionId::new(&format!("session-{}", self.opened)).ok());
        // `hosts[0]` is the built-in host; at least half of all sessions are opened there.
        let hosts: Vec<HostId> = self.hosts.iter().map(|host| host.number()).collect();
        let connected = self.stage.entropy.pick(&hosts).copied().filter(|_| self.stage.entropy.one_in(2));
        // In half of the built-in ones nobody listens.
        let built_in = if self.stage.entropy.one_in(2) { HostId::INBOX } else { HostId::LOCAL };
        self.open(session, connected.unwrap_or(built_in))
    }

    fn open(&mut self, session: Option<SessionId>, host: HostId) -> Outcome {
        let config = self.any_config();
        // Two in three by the token of a host, which has to be known of them after a crash as well.
        let token = match self.opened % 3 {
            0 => None,
            1 => TokenName::new("editor").ok(),
            _ => TokenName::new("shell").ok(),
        };
        let by = token.map(|token| Actor { via: Some(Via::Host(token)), ..Actor::from(Scope::nothing()) });
        self.submit(Input::Command(Command::OpenSession { session, host, config, by })).map(|_| ())
    }

    fn close_session(&mut self) -> Outcome {
        let Some(session) = self.any_session() else { return Ok(()) };
        // Closing a session cancels its volatile schedules and those with `dies-with-session`.
        let dies = |record: &&ScheduleRecord| {
            let schedule = record.schedule();
            !schedule.is_durable() || schedule.lifetime().dies_with_session
        };
        let dying = self.handle.view(|state| {
            let live = state.live_schedules_of(&session).into_iter().filter(dies);
            live.map(|record| record.schedule().id.clone()).collect::<Vec<_>>()
        });
        self.submit(Input::Command(Command::CloseSession { session: session.clone(), by: None }))?;
        if self.handle.view(|state| state.session(&session).is_none()) {
            // The close is acknowledged even if the disk fails, so what it cancelled must never run
            // again.
            for schedule in dying {
                let is_cancelled = |state: &State| {
                    state.schedule(&schedule).is_some_and(|record| record.status() == Status::Cancelled)
                };
                if self.handle.view(is_cancelled) {
                    let scope = Scope::Operator;
                    self.stage
                        .history
                        .note(self.stage.clock.now(), Seen::CancelAcknowledged { scope, schedule });
                }
            }
        }
        Ok(())
    }

    fn open_fresh_session(&mut self) -> Outcome {
        // Races the host: the engine has asked for a session under this id, and a user opens it
        // first.
        let creating = self.handle.view(|state| {
            let schedules = state.schedules().into_iter();
            let runs = schedules.flat_map(|record| state.runs_of(record)).map(|(_, run)| run.run());
            let creating =
                runs.filter(|run| run.phase == Some(Phase::CreateSession) && run.ended_at.is_none());
            creating.filter_map(|run| run.session.clone()).collect::<Vec<_>>()
        });
        let Some(session) = self.stage.entropy.pick(&creating).cloned() else { return Ok(()) };
        self.open(Some(session), HostId::LOCAL)
    }

    fn create_schedule(&mut self) -> Outcome {
        let Some(owner) = self.any_session() else { return Ok(()) };
        let when = self.any_time();
        // One in twenty reuses an id: refused while that schedule is live, allowed once it has
        // ended.
        let taken = self.any_schedule().filter(|_| self.stage.entropy.one_in(20));
        self.create(owner, when, taken)
    }

    fn create_bunch(&mut self) -> Outcome {
        let when = self.any_time();
        let owner = self.any_session();
        let crowd = if self.config.long_prompts { 8 } else { 0 };
        for _ in 0..2 + crowd + self.stage.entropy.below(5) {
            // Most of a bunch go to one session, where they have to queue in the order of their
            // slots.
            let elsewhere = self.any_session().filter(|_| self.stage.entropy.one_in(3));
            let Some(owner) = elsewhere.or_else(|| owner.clone()) else { return Ok(()) };
            self.create(owner, when.clone(), None)?;
        }
        Ok(())
    }

    fn create(&mut self, owner: SessionId, when: When, id: Option<ScheduleId>) -> Outcome {
        if self.is_watch_drawn() {
            return self.create_watch(owner);
        }
        let fresh = self.stage.entropy.one_in(self.config.fresh_one_in);
        let more = if self.config.long_prompts { LONG_PROMPT_BYTES } else { 0 };
        let text = format!("prompt for {owner}{}", "!".repeat(more)).into();
        let calls = self.config.calls_one_in > 0 && self.stage.entropy.one_in(self.config.calls_one_in);
        let payload = if calls {
            self.any_call_of_a_tool()
        } else if fresh {
            Payload::new_session(text, self.any_config())
        } else if self.stage.entropy.one_in(6) {
            Payload::Notice(Box::new(Notice { about: About::Reminder, text, file: None }))
        } else {
            Payload::Turn { text }
        };
        let settings = self.any_terms(fresh || calls);
        // Worlds of watches have those that are on disk (`watches.rs`).
        let is_watch = payload.call().is_some_and(|call| call.filter.is_some());
        let author = self.any_maker().map(|scope| self.any_author(scope));
        let new = NewSchedule {
            made_by: author.map(Box::new),
            id,
            dialect: self.any_family(),
            durability: if self.stage.entropy.one_in(3) && !is_watch {
                Durability::Durable
            } else {
                Durability::Volatile
            },
            label: self.stage.entropy.one_in(3).then(|| "label".into()),
            owner,
            when,
            payload,
            settings,
            session_live_max: self.config.session_live_max,
        };
        self.submit(Input::Command(Command::CreateSchedule(new))).map(|_| ())
    }

    /// Who makes a schedule: mostly the owner itself, now and then another session, and where budgets are at stake an operator,
    /// whose runs wait for none.
    fn any_maker(&self) -> Option<Scope> {
        let has_operators = self.config.long_prompts || self.config.sessions_ask;
        if has_operators && self.stage.entropy.one_in(4) {
            return Some(Scope::Operator);
        }
        self.any_session().filter(|_| self.stage.entropy.one_in(3)).map(Scope::Session)
    }

    /// A configuration that names some tools, or leaves them to the origin or the host.
    fn any_config(&self) -> Arc<SessionConfig> {
        let entropy = &self.stage.entropy;
        let tools = || TOOLS.iter().filter(|_| entropy.one_in(2)).map(|tool| (*tool).into()).collect();
        let tool_ids = entropy.one_in(2).then(tools);
        Arc::new(SessionConfig { tool_ids, ..SessionConfig::default() })
    }

    fn cancel_schedule(&mut self) -> Outcome {
        // One in twelve cancels a schedule that does not exist.
        let drawn = ScheduleId::random(self.stage.entropy.draw());
        let schedule = self.any_schedule().filter(|_| !self.stage.entropy.one_in(12)).unwrap_or(drawn);
        let owner =
            self.handle.view(|state| state.schedule(&schedule).map(|record| record.schedule().owner.clone()));
        // A session that does not own the schedule may try; `a_session_cancels_its_own` must still
        // hold.
        let stranger = self.any_session().filter(|_| self.stage.entropy.one_in(4));
        let scope = match stranger.or(owner) {
            Some(session) if !self.stage.entropy.one_in(4) => Scope::Session(session),
            Some(_) | None => Scope::Operator,
        };
        // A durable schedule stays listed after its end until it is deleted, so delete it here.
        let may_be_deleted = |record: &ScheduleRecord| {
            record.status().is_terminal() && record.schedule().is_durable() && !record.is_cancelled()
        };
        if self.handle.view(|state| state.schedule(&schedule).is_some_and(may_be_deleted)) {
            return self
                .submit(Input::Command(Command::DeleteSchedule(Which::any(scope, schedule))))
                .map(|_| ());
        }
        let command = Command::CancelSchedule(Which::any(scope.clone(), schedule.clone()));
        if self.submit(Input::Command(command))? {
            self.stage.history.note(self.stage.clock.now(), Seen::CancelAcknowledged { scope, schedule });
        }
        Ok(())
    }

    fn report_turn(&mut self) -> Outcome {
        let Some(session) = self.any_session() else { return Ok(()) };
        let busy = self.handle.view(|state| state.session(&session).is_some_and(SessionRecord::is_busy));
        // Mostly a real transition; one in six repeats the current state, which must change
        // nothing.
        let busy = if self.stage.entropy.one_in(6) { busy } else { !busy };
        self.submit(Input::Report(Report::Busy { session, busy, by: None })).map(|_| ())
    }

    fn user_message(&mut self) -> Outcome {
        let Some(session) = self.any_session() else { return Ok(()) };
        self.submit(Input::Report(Report::UserMessage { session, text: "a word".into(), by: None }))
            .map(|_| ())
    }

    fn job_ready(&mut self) -> Outcome {
        let (Some(session), Some(job)) = (self.any_session(), self.any_job()) else { return Ok(()) };
        let reports = self.config.sessions_ask && self.stage.entropy.one_in(2);
        let by = reports.then(|| self.any_author(Scope::Session(session.clone())));
        self.submit(Input::Command(Command::JobReady { session, job, by })).map(|_| ())
    }

    fn ping(&mut self) -> Outcome {
        // One in twelve pings a session that may not be open.
        let absent = || SessionId::new(&format!("session-{}", self.opened)).ok();
        let session = self.any_session().filter(|_| !self.stage.entropy.one_in(12)).or_else(absent);
        // Few names, so that the second ping of one is as likely as the first.
        let all: &[&str] = if self.config.watches_one_in > 0 {
            &WATCHED_PINGS
        } else {
            &["backup", "build", "nightly report"]
        };
        let name = self.stage.entropy.pick(all).copied();
        let (Some(session), Some(name)) = (session, name.and_then(|name| PingName::new(name).ok())) else {
            return Ok(());
        };
        self.submit(Input::Command(Command::Ping { session, name, by: None })).map(|_| ())
    }

    fn answer_receipt(&mut self) -> Outcome {
        let owing: Vec<_> = self.hosts.iter().filter(|host| host.receipt_count() > 0).cloned().collect();
        let Some(host) = self.stage.entropy.pick(&owing) else { return Ok(()) };
        // Any of the outstanding receipts: hosts may answer in any order, and twice.
        let place = usize::try_from(self.stage.entropy.below(host.receipt_count() as u64)).unwrap_or(0);
        let Some(report) = host.take_receipt(place) else { return Ok(()) };
        let twice = self.stage.entropy.one_in(8);
        self.submit(Input::Report(report.clone()))?;
        if twice {
            self.submit(Input::Report(report))?;
        }
        Ok(())
    }

    fn false_receipt(&mut self) -> Outcome {
        let unknown = ScheduleId::random(self.stage.entropy.draw());
        let invented = RunId { schedule: unknown, incarnation: 1, slot: self.stage.clock.now().wall };
        // While the store fails, a run can be in flight in the engine before a host has received
        // it. A receipt for it would be believed and break `delivered_means_received`, so only
        // invented runs are used.
        let is_ill = self.disk.as_ref().is_some_and(|disk| disk.is_ill);
        let heard = self.stage.entropy.pick(&self.heard).cloned().filter(|_| !is_ill);
        let mut run = heard.unwrap_or(invented);
        if self.stage.entropy.one_in(4) {
            // A receipt for another definition of the schedule must not end the present run.
            run.incarnation += 1;
        }
        let phase = *self.stage.entropy.pick(Phase::ALL).unwrap_or(&Phase::PromptSubmit);
        let failure = Failure::new(phase, Reason::HostRefused, "a report that nobody owed");
        let failure = if self.stage.entropy.one_in(2) { failure.with_session() } else { failure };
        let report = match self.stage.entropy.below(3) {
            0 => Report::Created { run },
            1 => Report::Accepted { run },
            _ => Report::Failed { run, failure },
        };
        self.submit(Input::Report(report)).map(|_| ())
    }

    fn take_left(&mut self) -> Outcome {
        let Some(session) = self.any_session() else { return Ok(()) };
        let left = self.handle.view(|state| {
            let inbox = state.session(&session).map(|record| state.inbox(record)).unwrap_or_default();
            inbox.into_iter().filter_map(|run| state.run_id(run)).collect::<Vec<_>>()
        });
        let mut runs: Vec<RunId> = left.into_iter().filter(|_| !self.stage.entropy.one_in(3)).collect();
        // One in six names a message that may never have been there, or was taken before: all or none.
        runs.extend(self.stage.entropy.pick(&self.heard).cloned().filter(|_| self.stage.entropy.one_in(6)));
        self.submit(Input::Command(Command::TakeLeft { session, runs, by: None })).map(|_| ())
    }

    fn lose_host(&mut self) -> Outcome {
        if self.hosts.len() < 2 {
            return Ok(());
        }
        // Never `hosts[0]`: the built-in host cannot be lost.
        let place = 1 + usize::try_from(self.stage.entropy.below(self.hosts.len() as u64 - 1)).unwrap_or(0);
        // A receipt may still arrive after the disconnect, from a connection that closes slowly.
        let host = self.hosts.remove(place);
        self.say(format!("  {} is lost", host.number()));
        self.handle.hosts().detach(host.number());
        self.stage.history.note(self.stage.clock.now(), Seen::HostLost(host.number()));
        self.judge(false)?;
        let late = host.take_receipt(0).filter(|_| self.stage.entropy.one_in(2));
        late.map_or(Ok(()), |report| self.submit(Input::Report(report)).map(|_| ()))
    }

    fn connect(&mut self) -> Outcome {
        if self.hosts.len() > self.config.hosts_max {
            return Ok(());
        }
        // A host may take over orphans and built-in sessions. Asking for a session of another
        // attached host fails the whole request; `greedy` tries that.
        let greedy = self.stage.entropy.one_in(5);
        let may_be_had = |state: &State, id: &SessionId| {
            let free = |session: &SessionRecord| !session.is_hosted() || !session.host().is_attached();
            greedy || state.session(id).is_some_and(free)
        };
        let wanted = self.sessions(may_be_had);
        let wanted = wanted.into_iter().filter(|_| !self.stage.entropy.one_in(3)).collect();
        let behaviours = self.config.behaviours.clone();
        self.connect_host(wanted, &behaviours)
    }

    fn advance_to_wake(&mut self, short_by: Span) -> Outcome {
        let Some(next) = self.handle.view(|state| state.next_wake(self.handle.now())) else { return Ok(()) };
        let span = next.since(self.stage.clock.now().boot).nanos().saturating_sub(short_by.nanos());
        // A deadline in the year 9999 would end the calendar for everything else: leave it alone.
        if span <= STEP_NANOS_MAX {
            self.stage.clock.advance(Span::from_nanos(span));
            self.turn()?;
        }
        Ok(())
    }

    fn advance(&mut self) -> Outcome {
        let longest = *self.stage.entropy.pick(&[1_000, 3_000, 40_000, 600_000]).unwrap_or(&1_000);
        let span = Span::from_millis(self.stage.entropy.below(longest));
        self.stage.clock.suspend(span);
        // One in four skips the engine's turn, as if another input arrived before the driver woke
        // up.
        if !self.stage.entropy.one_in(4) {
            self.turn()?;
        }
        Ok(())
    }

    fn step_wall(&mut self) -> Outcome {
        let span = Span::from_nanos(self.stage.entropy.below(STEP_NANOS_MAX));
        if self.stage.entropy.one_in(2) {
            self.stage.clock.step_wall_on(span);
        } else {
            self.stage.clock.step_wall_back(span);
        }
        self.turn()
    }

    /// Makes the wall clock drift by up to 5 %, as without a time server or on a starved virtual
    /// machine.
    fn drift(&mut self) -> Outcome {
        let ppm = *self.stage.entropy.pick(&[0, 0, 20, -20, 50_000, -50_000]).unwrap_or(&0);
        self.say(format!("  the wall clock is off by {ppm} ppm"));
        self.stage.clock.drift(ppm);
        Ok(())
    }

    fn courier_answers(&mut self) -> Outcome {
        let courier = self.courier.clone();
        if let Some(run) = courier.answer_one() {
            self.say(format!("  the courier answers for {run}"));
        }
        Ok(())
    }

    pub(in crate::testkit) fn any_session(&self) -> Option<SessionId> {
        let sessions = self.sessions(|_, _| true);
        self.stage.entropy.pick(&sessions).cloned()
    }

    pub(in crate::testkit) fn any_schedule(&self) -> Option<ScheduleId> {
        let ids = self.handle.view(|state| {
            let (live, ended): (Vec<_>, Vec<_>) =
                state.schedules().into_iter().partition(|record| !record.status().is_terminal());
            // Mostly live schedules; one in five picks an ended one, to test the refusals.
            let chosen = if live.is_empty() || self.stage.entropy.one_in(5) { ended } else { live };
            chosen.into_iter().map(|record| record.schedule().id.clone()).collect::<Vec<_>>()
        });
        self.stage.entropy.pick(&ids).cloned()
    }

    /// Draws a time: mostly soon; sometimes past, now, within a millisecond, or in the year 9999.
    pub(in crate::testkit) fn any_time(&self) -> When {
        let (entropy, wall) = (&self.stage.entropy, self.stage.clock.now().wall);
        let soon = Span::from_millis(1_000 + 500 * entropy.below(60));
        match entropy.below(14) {
            0 => When::After(Span::from_nanos(entropy.below(1_000_000))),
            1 => When::After(Span::from_nanos(entropy.below(60_000_000_000))),
            2 => When::At(wall.checked_add(Span::from_nanos(entropy.below(3_000_000_000))).unwrap_or(wall)),
            3 if entropy.one_in(2) => When::At(wall),
            3 => When::At(wall.checked_sub(soon).unwrap_or(wall)),
            4 => When::After(Span::from_millis(entropy.below(86_400_000))),
            5 if entropy.one_in(4) => When::At(Moment::new(YEAR_9999, 0).unwrap_or(wall)),
            5..=8 => When::At(wall.checked_add(soon).unwrap_or(wall)),
            9 => When::After(soon),
            _ => When::By(self.any_trigger()),
        }
    }
}

/// A few prompts of this length are what a family may have written in a second.
const LONG_PROMPT_BYTES: usize = 60_000;
/// One day, the longest single step of a clock.
const STEP_NANOS_MAX: u64 = 86_400_000_000_000;
/// 9999-12-31T00:00:00Z.
const YEAR_9999: i64 = 253_402_214_400;
