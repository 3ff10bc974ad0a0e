//! Random actions on existing schedules, and random triggers, policies and lifetimes for them.

use std::num::NonZeroU32;

use crate::calendar::parse_cron;
use crate::domain::{
    Actor, Calendar, CountFrom, EndsWith, Envelope, Event, Every, JobId, Lifetime, Missed, Overlap, Policy,
    Recovery, Route, Scope, Settings, Span, Target, TimeOfDay, Trigger, Via, Ways, Weekdays, When, WhenBusy,
    Zone,
};
use crate::engine::{Command, Input, NewSchedule, ScheduleChange, State, Which};
use crate::port::Clock;
use crate::testkit::laws::Broken;
use crate::testkit::sim::sim_courier::CHANNELS;
use crate::testkit::world::World;

type Outcome = Result<(), Broken>;

impl World {
    /// A random trigger: an interval, a time of day, cron, or a job; in zones with and without
    /// clock changes.
    pub(in crate::testkit) fn any_trigger(&self) -> Trigger {
        let (entropy, now) = (&self.stage.entropy, self.stage.clock.now().wall);
        let zone = entropy.pick(&ZONES).and_then(|name| Zone::parse(name).ok()).unwrap_or(Zone::Utc);
        let period =
            Span::from_millis(1_000 * (1 + entropy.below(*entropy.pick(&[30, 600, 20_000]).unwrap_or(&30))));
        let from = if entropy.one_in(3) { CountFrom::Finish } else { CountFrom::Slot };
        // An anchor in the past, so that the first slot is not simply one period from now.
        let back = now.checked_sub(Span::from_millis(entropy.below(10_000_000))).unwrap_or(now);
        let anchor = if entropy.one_in(2) { now } else { back };
        let every = Every::new(period, anchor, from).map(Trigger::from);
        let time = TimeOfDay::new(u8::try_from(entropy.below(24)).unwrap_or(0), 30, 0);
        let other = match entropy.below(4) {
            0 => time.map(|time| {
                Trigger::Calendar(Box::new(Calendar { weekdays: Weekdays::DAILY, time, zone: zone.clone() }))
            }),
            1 => entropy
                .pick(&CRONS)
                .and_then(|text| parse_cron(text).ok())
                .map(|cron| Trigger::Cron(Box::new(cron), Box::new(zone.clone()))),
            2 if entropy.one_in(2) => self.any_job().map(|job| {
                let latest = now.checked_add(period).filter(|_| entropy.one_in(2));
                Trigger::Event(Box::new(Event { job, latest }))
            }),
            _ => None,
        };
        other.or(every).unwrap_or(Trigger::At(now))
    }

    pub(in crate::testkit) fn any_job(&self) -> Option<JobId> {
        self.stage.entropy.pick(&JOBS).and_then(|name| JobId::new(name).ok())
    }

    pub(in crate::testkit) fn any_terms(&self, fresh: bool) -> Option<Box<Settings>> {
        let entropy = &self.stage.entropy;
        if entropy.one_in(2) {
            return None;
        }
        let other = self.sessions(|_, _| true);
        let target = match entropy.pick(&other) {
            // A schedule that creates a session has no other target, so only messages are
            // redirected.
            Some(_) if !fresh && entropy.one_in(4) => self.any_route(),
            Some(session) if !fresh && entropy.one_in(4) => Target::Session(session.clone()),
            Some(_) | None => Target::Owner,
        };
        let key = format!("key-{}", entropy.below(6));
        Some(Box::new(Settings {
            key: entropy.one_in(8).then(|| key.into()),
            shared: entropy.one_in(6),
            target,
            envelope: *entropy.pick(Envelope::ALL).unwrap_or(&Envelope::Plain),
            policy: self.any_policy(),
            lifetime: self.any_lifetime(),
            ..Settings::PLAIN
        }))
    }

    fn any_route(&self) -> Target {
        let entropy = &self.stage.entropy;
        let channel = *entropy.pick(&CHANNELS).unwrap_or(&CHANNELS[0]);
        let thread = entropy.one_in(3).then(|| "thread".into());
        Target::Route(Box::new(Route { channel: channel.into(), conversation: "room".into(), thread }))
    }

    fn any_policy(&self) -> Policy {
        let entropy = &self.stage.entropy;
        let seconds = |most: u64| Span::from_millis(1_000 * (1 + entropy.below(most)));
        Policy {
            overlap: *entropy.pick(Overlap::ALL).unwrap_or(&Overlap::Skip),
            missed: *entropy.pick(Missed::ALL).unwrap_or(&Missed::RunOnce),
            max_late: entropy.one_in(6).then(|| seconds(120)),
            when_busy: *entropy.pick(WhenBusy::ALL).unwrap_or(&WhenBusy::Queue),
            recovery: *entropy.pick(Recovery::ALL).unwrap_or(&Recovery::Fail),
            ends_with: *entropy.pick(EndsWith::ALL).unwrap_or(&EndsWith::Receipt),
            timeout: entropy.one_in(4).then(|| seconds(200)),
            backoff: (0..entropy.below(3)).map(|_| seconds(30)).collect(),
        }
    }

    fn any_lifetime(&self) -> Lifetime {
        let (entropy, now) = (&self.stage.entropy, self.stage.clock.now().wall);
        let max = NonZeroU32::new(u32::try_from(entropy.below(5)).unwrap_or(0));
        let end = now.checked_add(Span::from_millis(entropy.below(20_000_000)));
        Lifetime {
            max_runs: max.filter(|_| entropy.one_in(3)),
            expires_at: end.filter(|_| entropy.one_in(5)),
            cancel_on_user_activity: entropy.one_in(3),
            dies_with_session: !entropy.one_in(3),
        }
    }

    /// A schedule and a caller: mostly the operator, sometimes a session that may not own it,
    /// sometimes with a base revision that may be stale.
    fn any_which(&self) -> Option<Which> {
        let entropy = &self.stage.entropy;
        let schedule = self.any_schedule()?;
        let strangers = self.sessions(|_, _| true);
        let stranger = entropy.pick(&strangers).cloned().filter(|_| entropy.one_in(8));
        let asks = self.config.sessions_ask && entropy.one_in(2);
        let owner = |state: &State| state.schedule(&schedule).map(|record| record.schedule().owner.clone());
        let owner = asks.then(|| self.handle.view(owner)).flatten();
        let scope = stranger.or(owner).map_or(Scope::Operator, Scope::Session);
        let base = entropy.one_in(6).then(|| u32::try_from(1 + entropy.below(3)).unwrap_or(1));
        Some(Which { by: self.any_author(scope), schedule, base })
    }

    /// The author of a change: a session acts by its token, or by the program that embeds the engine, which may leave that to a
    /// model.
    pub(in crate::testkit) fn any_author(&self, scope: Scope) -> Actor {
        let (via, as_model) = match &scope {
            Scope::Session(_) => match self.stage.entropy.below(6) {
                0 => (Via::Embedder, false),
                1 => (Via::Embedder, true),
                _ => (Via::Session, false),
            },
            Scope::Operator => (Via::Embedder, false),
        };
        Actor { via: Some(via), as_model, ..Actor::from(scope) }
    }

    pub(in crate::testkit) fn change(&mut self) -> Outcome {
        let Some(which) = self.any_which() else { return Ok(()) };
        let entropy = &self.stage.entropy;
        let change = ScheduleChange {
            label: entropy.one_in(3).then(|| Some("renamed".into())),
            when: entropy.one_in(2).then(|| self.any_time()),
            text: entropy.one_in(3).then(|| "another prompt".into()),
            policy: entropy.one_in(4).then(|| self.any_policy()),
            lifetime: entropy.one_in(6).then(|| self.any_lifetime()),
            paused: entropy.one_in(5).then(|| entropy.one_in(2)),
            ..ScheduleChange::default()
        };
        self.submit(Input::Command(Command::ChangeSchedule { which, change: Box::new(change) })).map(|_| ())
    }

    pub(in crate::testkit) fn pause(&mut self) -> Outcome {
        let Some(which) = self.any_which() else { return Ok(()) };
        let paused = self.handle.view(|state| {
            state.schedule(&which.schedule).is_some_and(|record| record.progress().paused.is_some())
        });
        // Mostly a change; one in five repeats the present state.
        let command = if paused != self.stage.entropy.one_in(5) {
            Command::ResumeSchedule(which)
        } else {
            Command::PauseSchedule { which, reason: Some("a reason".into()) }
        };
        self.submit(Input::Command(command)).map(|_| ())
    }

    pub(in crate::testkit) fn run_now(&mut self) -> Outcome {
        let Some(which) = self.any_which() else { return Ok(()) };
        let keeps_slot = self.stage.entropy.one_in(3);
        self.submit(Input::Command(Command::RunNow { which, keeps_slot })).map(|_| ())
    }

    pub(in crate::testkit) fn skip_next(&mut self) -> Outcome {
        let Some(which) = self.any_which() else { return Ok(()) };
        self.submit(Input::Command(Command::SkipNext(which))).map(|_| ())
    }

    pub(in crate::testkit) fn pause_channel(&mut self) -> Outcome {
        let (entropy, by) = (&self.stage.entropy, Actor::from(Scope::Operator));
        let channel: Box<str> = (*entropy.pick(&CHANNELS).unwrap_or(&CHANNELS[0])).into();
        let ways = *entropy.pick(Ways::ALL).unwrap_or(&Ways::Both);
        let command = match entropy.one_in(2) {
            true => Command::PauseChannel { channel, ways, by },
            false => Command::ResumeChannel { channel, ways, by },
        };
        self.submit(Input::Command(command)).map(|_| ())
    }

    pub(in crate::testkit) fn hold(&mut self) -> Outcome {
        let by = Actor::from(Scope::Operator);
        let held = self.handle.view(|state| state.held().is_some());
        let command = if held { Command::ReleaseAll { by } } else { Command::HoldAll { by, reason: None } };
        self.submit(Input::Command(command)).map(|_| ())
    }

    /// Creates messages that go outside by one channel at once: most of one session, some of others, and some of an operator.
    pub(in crate::testkit) fn crowd_outside(&mut self) -> Outcome {
        // Those by which sessions may send.
        let channel = CHANNELS[usize::from(self.stage.entropy.one_in(2))];
        let Some(crowded) = self.any_session() else { return Ok(()) };
        for _ in 0..12 + self.stage.entropy.below(12) {
            let is_elsewhere = self.stage.entropy.one_in(4);
            let owner = self.any_session().filter(|_| is_elsewhere).unwrap_or_else(|| crowded.clone());
            let is_operators = self.stage.entropy.one_in(5);
            let author = if is_operators { Scope::Operator } else { Scope::Session(owner.clone()) };
            let route = Route { channel: channel.into(), conversation: "room".into(), thread: None };
            let target = Target::Route(Box::new(route));
            let new = NewSchedule {
                made_by: Some(Box::new(self.any_author(author))),
                settings: Some(Box::new(Settings { target, ..Settings::PLAIN })),
                session_live_max: self.config.session_live_max,
                ..NewSchedule::message(owner, When::After(Span::ZERO), "to all")
            };
            self.submit(Input::Command(Command::CreateSchedule(new)))?;
        }
        Ok(())
    }
}

const JOBS: [&str; 2] = ["build", "download"];
// Lord Howe changes its clock by half an hour, `+05:30` never, New York by a whole one.
const ZONES: [&str; 4] = ["UTC", "America/New_York", "Australia/Lord_Howe", "+05:30"];
const CRONS: [&str; 4] = ["*/5 * * * *", "30 2 * * *", "0 9 * * MON-FRI", "* * * * *"];
