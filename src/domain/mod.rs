//! The nouns of the domain: plain values with closed enums, shared by every layer above.
//!
//! What lives elsewhere: rules (`engine`), wire names (`dialect`, `graph`). Invariant: a value of these types
//! is already checked; nothing here reads a clock, draws randomness or does I/O.

mod agent_schedules;
mod call;
mod channel;
mod definition;
mod excerpt;
mod guard;
mod identity;
mod memory;
mod message;
mod nearest;
mod outcome;
mod ping;
mod primitives;
mod secrets;
mod session_config;
mod time;

pub use agent_schedules::{AgentSchedule, AgentSchedules};
#[doc(hidden)]
pub use call::collected::{Collected, Entry};
pub(crate) use call::condition::KEYWORDS;
pub use call::condition::{
    Clause, Comparator, Comparison, Condition, Measure, Operand, PathRoot, Step, ValuePath,
};
#[doc(hidden)]
pub use call::executor_kind::ExecutorKind;
pub use call::filter::{Edge, Filter, Gaps, Lasting, NotifyWhen, Show};
#[doc(hidden)]
pub use call::glimpse::Glimpse;
pub use call::outcome::Outcome;
#[doc(hidden)]
pub use call::reading::{Reading, WatchCheck, Weighed};
pub use call::request::{Call, CallPurpose, CallVia, Sink};
pub use call::task_end::TaskEnd;
pub use call::task_state::TaskState;
pub use call::telling::Telling;
pub use call::tool_counts::ToolCounts;
pub use call::tool_name::{ToolName, ToolNameError};
pub use call::tool_spec::{Risk, ToolSpec};
#[doc(hidden)]
pub use call::watch::{Open, Past, Ring, Streak, Tally, Told, Trial, Watch};
#[doc(hidden)]
pub use call::watch_status::WatchStatus;
pub use call::why::{Lasted, Why};
pub use channel::{Channel, ChannelEvent, ChannelFact, ChannelKind, Direction, Ways};
pub use definition::durability::Durability;
pub use definition::lifetime::Lifetime;
pub use definition::notice::{About, Attachment, Notice};
pub use definition::payload::{NewSession, Payload, PayloadKind};
pub use definition::policy::{EndsWith, Missed, Overlap, Policy, Recovery, WhenBusy};
pub use definition::schedule::{Creation, Schedule};
pub use definition::settings::{Envelope, Settings};
pub use definition::target::{Route, Target};
pub(crate) use excerpt::excerpt;
pub use guard::{
    Awaits, Checks, Digest, Grant, GrantChange, GuardAnswer, GuardPolicy, Hold, Rule, RuleScope, Ruling,
    TimeWindow,
};
pub use identity::actor::{Actor, TokenName, Via};
pub use identity::address::{Address, AddressError, AgentName};
pub use identity::agent_kind::AgentKind;
#[cfg(feature = "channels")]
pub(crate) use identity::agent_kind::{Believes, HolderKnown};
#[cfg(feature = "cli")]
pub(crate) use identity::agent_kind::{KNOWN as KNOWN_AGENTS, LiveDoor};
pub use identity::caller::{Caller, CallerRole, Right};
#[doc(hidden)]
pub use identity::cursor::Cursor;
pub use identity::dialect::Dialect;
pub use identity::entropy::Entropy;
pub use identity::id::{HostId, IdError, JobId, RunId, ScheduleId, SessionId};
#[doc(hidden)]
pub use identity::lineage::Lineage;
pub use identity::op::{Op, OpRule};
#[doc(hidden)]
pub use identity::provenance::{Descent, MessageProvenance, SessionProvenance};
pub use identity::scope::Scope;
pub use memory::{KnownFact, Memory, MemoryChange, TaskNote, TaskStatus};
pub use message::{Content, Message, Role, Transcript};
pub(crate) use nearest::{clearly_nearest, nearest, one_slip_away};
pub(crate) use outcome::attempt::{EarlierAttempts, FailedAttempt};
#[doc(hidden)]
pub use outcome::decision::{Decision, DecisionKind, SlotRange, Subject};
#[doc(hidden)]
pub use outcome::downtime::Downtime;
#[doc(hidden)]
pub use outcome::fact::{
    Claim, Decided, Dispatch, EngineFact, Fact, GuardFact, HostFact, Next, Redefinition, RunFact,
    ScheduleFact, SessionFact, Skip,
};
pub use outcome::failure::{Failure, Phase};
pub(crate) use outcome::lost::LostEnd;
pub use outcome::lost::LostSchedule;
#[doc(hidden)]
pub use outcome::obstacle::{HolderProcess, Obstacle};
pub use outcome::reason::Reason;
pub use outcome::refusal::{Code, Refusal};
#[doc(hidden)]
pub use outcome::run::{Attempt, Cause, Run, RunState};
pub use outcome::status::Status;
pub use outcome::turn::{PermissionAnswer, Question, ToolCall, Turn, TurnOutcome, Usage};
pub use ping::{Ping, PingName, PingNameError, Pings};
pub use primitives::{Gate, Primitives, SchedulerNeedsWatchers};
pub use secrets::{REDACTED, redacted};
pub use session_config::{
    CacheBreakpoint, Model, PromptComponent, PromptSelection, PromptSource, SessionConfig, Skill,
    SkillSource, ThinkingLevel,
};
pub use time::cron::{Cron, CronDays, CronFields};
pub(crate) use time::moment::days_in_month;
pub use time::moment::{BootTime, Moment, MomentError, Now, Span};
pub use time::out_of_range::OutOfRange;
pub use time::trigger::{Calendar, CountFrom, Event, Every, TimeOfDay, Trigger, Weekday, Weekdays};
pub use time::when::When;
pub use time::zone::{Offset, Zone, ZoneError, ZoneName};

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
