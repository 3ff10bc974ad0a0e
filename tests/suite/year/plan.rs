//! What is asked for: drawn in the checker's words, and said to the scheduler in its own.

use reveille::calendar::parse_cron;
use reveille::domain::{
    Calendar, CountFrom, EndsWith, Every, Missed, Moment, Overlap, Policy, Recovery, Span, TimeOfDay,
    Trigger, Weekday, Weekdays, WhenBusy, Zone,
};
use reveille::testkit::SimEntropy;
use reveille_checker as told;

/// What is asked of one schedule.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) trigger: told::Trigger,
    pub(crate) policy: told::Policy,
    pub(crate) ends_with: EndsWith,
}

impl Plan {
    /// The plan with this number, made at `now`: every kind of trigger comes in turn.
    pub(crate) fn draw(number: usize, zones: &[&str], now: told::Moment, dice: &SimEntropy) -> Plan {
        let ends_with = if dice.one_in(2) { EndsWith::Turn } else { EndsWith::Receipt };
        Plan { trigger: trigger(number, zones, now, dice), policy: policy(dice), ends_with }
    }
}

/// Every kind in turn, and every zone with every kind.
pub(crate) fn trigger(number: usize, zones: &[&str], now: told::Moment, dice: &SimEntropy) -> told::Trigger {
    let zone = || zones[number % zones.len()].to_owned();
    // Never at the very instant of anything else that happens.
    let from_now = |least: u64, most: u64| {
        let span = told::Span::from_millis(least + dice.below(most - least));
        now.checked_add(span).expect("within the calendar")
    };
    let hour = 3_600_000;
    let every = |least: u64, most: u64, from| told::Trigger::Every {
        period_ms: 1_000 * (least + dice.below(most - least)),
        anchor: Some(from_now(1, 48 * hour)),
        from,
    };
    match number % 8 {
        0 | 5 => {
            let expr = CRONS[number / 8 % CRONS.len()].to_owned();
            told::Trigger::Cron { expr, zone: zone() }
        }
        1 | 6 => told::Trigger::Calendar { weekdays: Vec::new(), time: time_of_day(dice), zone: zone() },
        2 => {
            let (one, other) = (DAYS[number / 8 % 7], DAYS[(number / 8 + 3) % 7]);
            let weekdays = if dice.one_in(2) { vec![one.0] } else { vec![one.0, other.0] };
            told::Trigger::Calendar { weekdays, time: time_of_day(dice), zone: zone() }
        }
        3 => every(4 * 3_600, 60 * 3_600, told::CountFrom::Slot),
        4 => every(6 * 3_600, 60 * 3_600, told::CountFrom::Finish),
        _ => told::Trigger::At { at: from_now(hour, 60 * 24 * hour) },
    }
}

/// All mixed with all.
pub(crate) fn policy(dice: &SimEntropy) -> told::Policy {
    let pick = |count: usize| usize::try_from(dice.below(count as u64)).unwrap_or(0);
    told::Policy {
        overlap: [told::Overlap::Skip, told::Overlap::Parallel][pick(2)],
        missed: [told::Missed::RunOnce, told::Missed::Skip, told::Missed::All][pick(3)],
        recovery: [told::Recovery::Fail, told::Recovery::Redeliver][pick(2)],
        busy: [told::Busy::Queue, told::Busy::Skip, told::Busy::Coalesce][pick(3)],
        max_late_ms: dice.one_in(5).then(|| 600_000 + dice.below(6 * 3_600_000)),
    }
}

/// The same to the scheduler.
pub(crate) fn ask_trigger(trigger: &told::Trigger) -> Trigger {
    match trigger {
        told::Trigger::At { at } => Trigger::At(ask_moment(*at)),
        told::Trigger::Every { period_ms, anchor, from } => {
            let from = match from {
                told::CountFrom::Slot => CountFrom::Slot,
                told::CountFrom::Finish => CountFrom::Finish,
            };
            let anchor = ask_moment(anchor.expect("all of ours have one"));
            Trigger::from(Every::new(Span::from_millis(*period_ms), anchor, from).expect("in bounds"))
        }
        told::Trigger::Calendar { weekdays, time, zone } => {
            let named = |day: &told::Day| DAYS.iter().find(|(told, _)| told == day).map(|(_, day)| *day);
            let weekdays = Weekdays::new(weekdays.iter().filter_map(named)).unwrap_or(Weekdays::DAILY);
            let time = TimeOfDay::parse(time).expect("a time of day");
            Trigger::Calendar(Box::new(Calendar { weekdays, time, zone: in_zone(zone) }))
        }
        told::Trigger::Cron { expr, zone } => {
            Trigger::Cron(Box::new(parse_cron(expr).expect("cron")), Box::new(in_zone(zone)))
        }
    }
}

/// The same to the scheduler.
pub(crate) fn ask_policy(policy: &told::Policy, ends_with: EndsWith) -> Policy {
    Policy {
        overlap: match policy.overlap {
            told::Overlap::Skip => Overlap::Skip,
            told::Overlap::Parallel => Overlap::Parallel,
        },
        missed: match policy.missed {
            told::Missed::RunOnce => Missed::RunOnce,
            told::Missed::Skip => Missed::Skip,
            told::Missed::All => Missed::All,
        },
        recovery: match policy.recovery {
            told::Recovery::Fail => Recovery::Fail,
            told::Recovery::Redeliver => Recovery::Redeliver,
        },
        when_busy: match policy.busy {
            told::Busy::Queue => WhenBusy::Queue,
            told::Busy::Skip => WhenBusy::Skip,
            told::Busy::Coalesce => WhenBusy::Coalesce,
        },
        max_late: policy.max_late_ms.map(Span::from_millis),
        ends_with,
        ..Policy::PLAIN
    }
}

/// An instant of the scheduler, as the checker has it.
pub(crate) fn told_moment(moment: Moment) -> told::Moment {
    told::Moment::new(moment.seconds(), moment.nanos()).expect("within jiff's years")
}

/// The same to the scheduler.
fn ask_moment(moment: told::Moment) -> Moment {
    Moment::new(moment.seconds(), moment.nanos()).expect("within the calendar")
}

fn time_of_day(dice: &SimEntropy) -> String {
    // Half of them at night, where clocks are changed.
    let hour = if dice.one_in(2) { dice.below(4) } else { dice.below(24) };
    format!("{hour:02}:{:02}", 5 * dice.below(12))
}

fn in_zone(name: &str) -> Zone {
    Zone::parse(name).expect("a zone of the database")
}

const CRONS: [&str; 10] = [
    "0 9 * * MON-FRI",
    "30 2 * * *",
    "0 */6 * * *",
    "15 1,2,3 * * *",
    "0 0 1 * *",
    "5 4 * * SUN",
    "0 12 L * *",
    "*/20 8-10 * * MON",
    "45 23 * * *",
    "0 8 * * 1#2",
];

const DAYS: [(told::Day, Weekday); 7] = [
    (told::Day::Sunday, Weekday::Sunday),
    (told::Day::Monday, Weekday::Monday),
    (told::Day::Tuesday, Weekday::Tuesday),
    (told::Day::Wednesday, Weekday::Wednesday),
    (told::Day::Thursday, Weekday::Thursday),
    (told::Day::Friday, Weekday::Friday),
    (told::Day::Saturday, Weekday::Saturday),
];
