//! What a guard goes by, what it says, and what is remembered of that for a run.
//!
//! What lives elsewhere: who asks it, and when (`engine/guard.rs`, `engine/step/pass.rs`).

use std::fmt;

use crate::limits;

use super::{
    BootTime, Dialect, Kind, Moment, Reason, Right, SessionId, Span, TimeOfDay, Weekdays, Zone, names,
};

names! {
    /// What becomes of a run that is about to be handed over.
    Ruling {
        /// It is handed over.
        Allow = "allow",
        /// It waits until an operator says yes.
        Hold = "hold",
        /// It fails.
        Refuse = "refuse",
    }
}

/// What every run is measured by when it is about to be handed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuardPolicy {
    /// In this order; the first that matches decides, and what none matches is allowed.
    pub rules: Vec<Rule>,
    /// How long a run waits for an operator's word; `None` where there is nobody to give one, and it is denied at once.
    pub approval: Option<Span>,
    /// How long a guard outside may take that is asked about what the rules allow; `None` where there is none.
    pub asks: Option<Span>,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name, in reasons and approvals.
    pub name: Box<str>,
    /// What it is about; a list that is empty says nothing.
    pub of: RuleScope,
    /// What becomes of that.
    pub then: Ruling,
    /// Why, in the words of whoever wrote it.
    pub why: Option<Box<str>>,
}

/// What a rule is about: all of it has to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleScope {
    /// Schedules of one of these sessions.
    pub sessions: Vec<SessionId>,
    /// Made by tools of one of these dialects.
    pub dialects: Vec<Dialect>,
    /// Of one of these kinds.
    pub kinds: Vec<Kind>,
    /// Whose fresh session is to have one of these tools.
    pub tools: Vec<Box<str>>,
    /// Handed over within this time.
    pub window: Option<TimeWindow>,
}

/// A stretch of each of some days. One that ends before it begins goes on into the next day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeWindow {
    /// The days on which it begins.
    pub days: Weekdays,
    /// When it begins.
    pub from: TimeOfDay,
    /// When it ends, itself left out; the same as `from` for a whole day.
    pub until: TimeOfDay,
    /// On whose clock.
    pub zone: Zone,
}

/// What a session may do, where that is less than everything. It never grows by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Look, or look and change; `None` for neither: its token is revoked.
    pub right: Option<Right>,
    /// By the tools of which dialects; `None` for all.
    pub dialects: Option<Vec<Dialect>>,
    /// How deep it may be in a line of turns that schedules began, and schedule more: 0 for never in such a turn.
    pub depth: u32,
}

/// In the type of a depth.
#[expect(clippy::cast_possible_truncation, reason = "some turns")]
const LINE_DEPTH: u32 = limits::LINE_DEPTH.value as u32;

impl Grant {
    /// Everything that a session can do.
    pub const FULL: Grant = Grant { right: Some(Right::Change), dialects: None, depth: LINE_DEPTH };

    /// Whether it covers changes by tools of this dialect, and the runs of what was made by them.
    pub fn covers(&self, dialect: Dialect) -> bool {
        let has = |dialects: &Vec<Dialect>| dialects.contains(&dialect);
        self.right == Some(Right::Change) && self.dialects.as_ref().is_none_or(has)
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.right.map_or("nothing", Right::name))?;
        if let Some(dialects) = &self.dialects {
            let names: Vec<&str> = dialects.iter().map(|dialect| dialect.name()).collect();
            write!(f, " by {}", if names.is_empty() { "no tools".to_owned() } else { names.join(", ") })?;
        }
        if self.depth == Grant::FULL.depth { Ok(()) } else { write!(f, ", {} deep", self.depth) }
    }
}

/// What a guard outside answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuardAnswer {
    /// The run may be handed over.
    Allow,
    /// An operator has to say yes first.
    Hold {
        /// Why, in its words.
        why: Option<Box<str>>,
    },
    /// The run may not be handed over.
    Refuse {
        /// Why, in its words.
        why: Option<Box<str>>,
    },
    /// It gave no answer that can be understood: it crashed, cannot be reached, or said something else.
    Failed {
        /// What is known of that.
        detail: Box<str>,
    },
}

/// A SHA-256 of all that a run is about: what is said, to whom, by which revision of its schedule, and under which rule.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// Reads 64 hexadecimal digits in lower case.
    pub fn parse(text: &str) -> Option<Digest> {
        let pair = |pair: &[u8]| {
            let is_digit = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
            let text = std::str::from_utf8(pair).ok().filter(|_| pair.iter().all(is_digit))?;
            u8::from_str_radix(text, 16).ok()
        };
        let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(pair).collect();
        Some(Digest(bytes?.try_into().ok()?)).filter(|_| text.len() == 64)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What is remembered of the guard for a run that has not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// What it waits for.
    pub waits: Option<Hold>,
    /// What operators have said yes to, newest last.
    pub approved: Vec<Digest>,
    /// What a guard outside has allowed, and until when that holds.
    pub allowed: Option<(Digest, BootTime)>,
}

/// A run waits for somebody's word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Whose.
    pub awaits: Awaits,
    /// The rule that says so.
    pub rule: Box<str>,
    /// Why, in the words of whoever wrote the rule, or of the guard.
    pub why: Option<Box<str>>,
    /// What the word is to be about.
    pub digest: Digest,
    /// Without a word by then, the run fails.
    pub until: Moment,
    /// The same on the boot clock.
    pub due: BootTime,
}

impl Hold {
    /// The rule, and why.
    pub fn detail(&self) -> String {
        match &self.why {
            Some(why) => format!("{}: {why}", self.rule),
            None => self.rule.to_string(),
        }
    }

    /// What the run waits for.
    pub fn reason(&self) -> Reason {
        match self.awaits {
            Awaits::Guard => Reason::AwaitingGuard,
            Awaits::Operator => Reason::AwaitingApproval,
        }
    }
}

names! {
    /// Whose word a run waits for.
    Awaits {
        /// The answer of a guard outside.
        Guard = "guard",
        /// An operator's.
        Operator = "operator",
    }
}
