//! The nouns of the domain: plain values with closed enums, shared by every layer above.
//!
//! What lives elsewhere: rules (`engine`), wire names (`dialect`, `graph`). Invariant: a value of these types
//! is already checked; nothing here reads a clock, draws randomness or does I/O.

mod actor;
mod channel;
mod cron;
mod cursor;
mod decision;
mod entropy;
mod fact;
mod failure;
mod guard;
mod id;
mod lifetime;
mod lineage;
mod message;
mod moment;
mod nearest;
mod notice;
mod payload;
mod policy;
mod provenance;
mod reason;
mod refusal;
mod run;
mod schedule;
mod scope;
mod session_config;
mod status;
mod target;
mod terms;
mod told;
mod trigger;
mod when;
mod zone;

pub use actor::{Actor, Entry, TokenName};
pub use channel::{Channel, ChannelFact, ChannelKind};
pub use cron::{Cron, CronDays, CronFields};
pub use cursor::Cursor;
pub use decision::{Dealt, Decision, DecisionKind, Subject};
pub use entropy::Entropy;
pub use fact::{Change, Claim, Fact, HandOver, HostFact, Next, RunFact, ScheduleFact, SessionFact, Skip};
pub use failure::{Failure, Phase};
pub use guard::{
    Awaits, Checks, Digest, Grant, GuardAnswer, GuardPolicy, Hold, Rule, RuleScope, Ruling, TimeWindow,
};
pub use id::{HostId, IdError, JobId, RunId, ScheduleId, SessionId};
pub use lifetime::Lifetime;
pub use lineage::Lineage;
pub use message::{Content, Message, Role, Transcript};
pub use moment::{BootTime, Moment, MomentError, Now, Span};
pub(crate) use nearest::nearest;
pub use notice::{About, Attachment, Notice};
pub use payload::{Kind, Payload};
pub use policy::{EndsWith, Missed, Overlap, Policy, Recovery, WhenBusy};
pub use provenance::{MessageProvenance, SessionProvenance};
pub use reason::Reason;
pub use refusal::{Code, Refusal};
pub use run::{Cause, Run, RunState};
pub use schedule::{Dialect, Durability, Making, Schedule};
pub use scope::{Caller, Right, Scope};
pub use session_config::{
    CacheBreakpoint, Model, PromptComponent, PromptSelection, PromptSource, SessionConfig, Skill,
    SkillSource, ThinkingLevel,
};
pub use status::Status;
pub use target::{Route, Target};
pub use terms::{Envelope, Terms};
pub use trigger::{Calendar, CountFrom, Event, Every, TimeOfDay, Trigger, Weekday, Weekdays};
pub use when::When;
pub use zone::{Offset, Zone, ZoneError, ZoneName};

/// Declares a closed enum whose variants have one name each, with `name()`, `ALL` and `parse()`.
macro_rules! names {
    ($(#[$meta:meta])* $type:ident { $($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type { $($(#[doc = $doc])+ $variant,)+ }

        impl $type {
            /// Every variant, in declaration order.
            pub const ALL: &[$type] = &[$($type::$variant),+];

            /// Every name, in declaration order.
            pub const NAMES: &[&'static str] = &[$($name),+];

            /// Returns the variant's name in kebab case, spelled alike in every notation.
            pub const fn name(self) -> &'static str {
                match self { $($type::$variant => $name),+ }
            }

            /// Returns what the variant means, in one sentence.
            pub const fn doc(self) -> &'static str {
                match self { $($type::$variant => concat!($($doc),+).trim_ascii()),+ }
            }

            /// Parses a name; case matters.
            pub fn parse(text: &str) -> Option<$type> {
                match text { $($name => Some($type::$variant),)+ _ => None }
            }
        }
    };
}
pub(crate) use names;
