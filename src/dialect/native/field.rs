//! The fields of the seven tools: each is declared once, with what it takes and what a model is told of it.
//!
//! Lives here: the tables, and the JSON Schema (2020-12) that is made of them. Does not live here: what the fields of a call
//! mean together (`call.rs`). Invariant: a field is read with the bounds that its schema names, because both are those of one
//! constant.

use super::tool::Tool;
use crate::dialect::args::{ArgError, Args};
use crate::domain::{Moment, PayloadKind};
use crate::edn::{Map, Value};
use crate::limits::{self, Limit};

/// A field with text.
#[derive(Clone, Copy)]
pub(super) struct Text {
    pub(super) name: &'static str,
    min: bool,
    max: Limit,
}

/// A field with a whole number.
#[derive(Clone, Copy)]
pub(super) struct Whole {
    pub(super) name: &'static str,
    min: u64,
    max: u64,
    default: Option<u64>,
}

/// A field that is true or false.
#[derive(Clone, Copy)]
pub(super) struct Flag {
    pub(super) name: &'static str,
    default: Option<bool>,
}

/// A field with an instant.
#[derive(Clone, Copy)]
pub(super) struct Instant {
    pub(super) name: &'static str,
}

/// The field that says what kind of schedule it is.
#[derive(Clone, Copy)]
pub(super) struct KindField {
    pub(super) name: &'static str,
}

pub(super) const MESSAGE: Text = Text::filled("message", limits::TEXT_BYTES);
pub(super) const WHEN: Text = Text::filled("when", limits::PHRASE_BYTES);
pub(super) const ZONE: Text = Text::new("zone", limits::ZONE_BYTES);
pub(super) const LABEL: Text = Text::new("label", limits::LABEL_BYTES);
pub(super) const KEY: Text = Text::new("key", limits::LABEL_BYTES);
pub(super) const SESSION_ID: Text = Text::new("session_id", limits::ID_BYTES);
pub(super) const SCHEDULE_ID: Text = Text::new("schedule_id", limits::ID_BYTES);
pub(super) const AFTER: Text = Text::new("after", limits::LABEL_BYTES);
pub(super) const QUERY: Text = Text::filled("query", limits::TEXT_BYTES);
pub(super) const KIND: KindField = KindField { name: "kind" };
pub(super) const MAX_RUNS: Whole = Whole { name: "max_runs", min: 1, max: u32::MAX as u64, default: None };
pub(super) const REVISION: Whole = Whole { name: "revision", min: 1, max: u32::MAX as u64, default: None };
pub(super) const FIRST: Whole =
    Whole { name: "first", min: 1, max: limits::TOOL_PAGE_MAX.value, default: Some(limits::TOOL_PAGE.value) };
pub(super) const WAIT_SECONDS: Whole =
    Whole { name: "wait_seconds", min: 1, max: limits::INBOX_WAIT_SECONDS.value, default: None };
pub(super) const ALL: Flag = Flag { name: "all", default: Some(false) };
pub(super) const PAUSED: Flag = Flag { name: "paused", default: None };
pub(super) const AT: Instant = Instant { name: "at" };

/// One field of one tool.
struct Field {
    name: &'static str,
    is_required: bool,
    /// What a model is told of it; empty if the name says all.
    doc: &'static str,
    example: Option<&'static str>,
    schema: fn() -> Map,
}

/// Declares the fields of each tool, with what a model is told of them.
macro_rules! tools {
    ($($tool:ident { $($presence:ident $field:ident: $doc:literal $(such as $example:literal)?,)+ })+) => {
        /// The names of the fields of a tool.
        pub(super) const fn names(tool: Tool) -> &'static [&'static str] {
            match tool { $(Tool::$tool => &[$($field.name),+],)+ }
        }

        const fn fields(tool: Tool) -> &'static [Field] {
            match tool {
                $(Tool::$tool => &[$(Field {
                    name: $field.name,
                    is_required: tools!(@ $presence),
                    doc: $doc,
                    example: tools!(@ example $($example)?),
                    schema: || $field.schema(),
                }),+],)+
            }
        }
    };
    (@ example) => { None };
    (@ example $example:literal) => { Some($example) };
    (@ required) => { true };
    (@ optional) => { false };
}

tools! {
    Create {
        required MESSAGE: "What you are to do then. It must stand on its own.",
        required WHEN: "" such as "tomorrow at 9",
        optional ZONE: "Such as Europe/Berlin; else the server's.",
        optional LABEL: "",
        optional KIND: "message: a turn in this session. session: a turn in a fresh one. notice: the user is told, you do \
                        not run.",
        optional MAX_RUNS: "Of what comes again and again: how often at most.",
        optional KEY: "Your name for this request: the same again adds nothing.",
        optional SESSION_ID: "For operators only: the session that it is for.",
    }
    List {
        optional ALL: "Those that have ended too.",
        optional FIRST: "",
        optional AFTER: "From the answer before, to go on.",
    }
    Cancel {
        optional SCHEDULE_ID: "Give this or key." such as "sch-0198c2f4",
        optional KEY: "",
    }
    Update {
        optional SCHEDULE_ID: "Give this or key." such as "sch-0198c2f4",
        optional KEY: "",
        optional WHEN: "As in create.",
        optional ZONE: "",
        optional MESSAGE: "",
        optional LABEL: "",
        optional PAUSED: "true: nothing fires until it is false again. Not together with another change.",
        optional REVISION: "Change it only if this is still its revision.",
    }
    Explain {
        optional SCHEDULE_ID: "Give this or key." such as "sch-0198c2f4",
        optional KEY: "",
        optional AT: "Which instant; what matters now if left out.",
    }
    Inbox {
        optional FIRST: "",
        optional WAIT_SECONDS: "",
    }
    Query {
        required QUERY: "A vector in EDN." such as "[{:psi.scheduler/schedules [:psi.scheduler/label :psi.scheduler/status]}]",
    }
}

impl Tool {
    /// The JSON Schema (2020-12) of its arguments.
    pub fn input_schema(self) -> Value {
        let required = fields(self).iter().filter(|field| field.is_required).map(|field| field.name.into());
        let required: Vec<Value> = required.collect();
        let properties = fields(self).iter().fold(Map::new(), |map, field| {
            let schema = (field.schema)();
            let schema = if field.doc.is_empty() { schema } else { schema.with("description", field.doc) };
            let examples = field.example.map(|example| vec![Value::from(example)]);
            map.with(
                field.name,
                examples.map_or(schema.clone(), |examples| schema.with("examples", examples)),
            )
        });
        let schema = Map::new().with("type", "object").with("additionalProperties", false);
        let schema = if required.is_empty() { schema } else { schema.with("required", required) };
        schema.with("properties", properties).into()
    }
}

impl Text {
    const fn new(name: &'static str, max: Limit) -> Self {
        Self { name, min: false, max }
    }

    /// One that may not be empty.
    const fn filled(name: &'static str, max: Limit) -> Self {
        Self { name, min: true, max }
    }

    pub(super) fn opt<'a>(&self, args: &Args<'a>) -> Result<Option<&'a str>, ArgError> {
        args.opt_text(self.name, self.max)
    }

    /// The text with the space around it.
    pub(super) fn raw<'a>(&self, args: &Args<'a>) -> Result<Option<&'a str>, ArgError> {
        args.raw_text(self.name, self.max)
    }

    pub(super) fn required_raw<'a>(&self, args: &Args<'a>) -> Result<&'a str, ArgError> {
        args.required_raw_text(self.name, self.max)
    }

    fn schema(&self) -> Map {
        let schema = Map::new().with("type", "string");
        let schema = if self.min { schema.with("minLength", 1) } else { schema };
        // JSON Schema counts characters, the limit bytes. So the parser may refuse a text that the schema allows.
        schema.with("maxLength", integer(self.max.value))
    }
}

impl Whole {
    pub(super) fn opt(&self, args: &Args<'_>) -> Result<Option<u64>, ArgError> {
        // The default that the schema announces. A model that leaves the field out relies on it.
        Ok(args.int_in(self.name, self.min, self.max)?.or(self.default))
    }

    fn schema(&self) -> Map {
        let schema = Map::new().with("type", "integer");
        let schema = schema.with("minimum", integer(self.min)).with("maximum", integer(self.max));
        self.default.map_or(schema.clone(), |default| schema.with("default", integer(default)))
    }
}

impl Flag {
    pub(super) fn opt(&self, args: &Args<'_>) -> Result<Option<bool>, ArgError> {
        Ok(args.flag(self.name)?.or(self.default))
    }

    fn schema(&self) -> Map {
        let schema = Map::new().with("type", "boolean");
        self.default.map_or(schema.clone(), |default| schema.with("default", default))
    }
}

impl Instant {
    pub(super) fn opt(&self, args: &Args<'_>) -> Result<Option<Moment>, ArgError> {
        args.opt_instant(self.name)
    }

    fn schema(&self) -> Map {
        Map::new().with("type", "string").with("format", "date-time")
    }
}

impl KindField {
    pub(super) fn opt(&self, args: &Args<'_>) -> Result<PayloadKind, ArgError> {
        Ok(args.one_of(self.name, Self::NAMES, Self::KINDS)?.unwrap_or(Self::DEFAULT))
    }

    fn schema(&self) -> Map {
        let names: Vec<Value> = Self::NAMES.iter().copied().map(Value::from).collect();
        Map::new().with("type", "string").with("enum", names).with("default", Self::DEFAULT.name())
    }

    /// Calls are made by the tools of their own, which say what is called.
    const KINDS: &[PayloadKind] = &[PayloadKind::Message, PayloadKind::Session, PayloadKind::Notice];
    const NAMES: &[&'static str] =
        &[PayloadKind::Message.name(), PayloadKind::Session.name(), PayloadKind::Notice.name()];
    const DEFAULT: PayloadKind = PayloadKind::Message;
}

fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
