//! The fast path for queries: writes the answer while reading, by a template that is made with the plan.
//!
//! Shape: a template has all text between two values ready (keys, brackets, type names); a value has an index in the
//! plan's level, and is a leaf or has a template of its own. Most queries can be answered this way. Anything else (an
//! error, a null that is not allowed, a value that may refer to an entity) discards the text, and `answer.rs` answers
//! from the graph's rows. Invariant: the text is, letter for letter, what `answer.rs` would write.

use super::write;
use crate::edn::Value;
use crate::graph::eql::{FastPath, Plan, Position, QueryRequest};
use crate::graph::registry::{Datum, Registry, ViewOf, World};
use crate::surface::graphql::operation::select::Locator;
use crate::surface::graphql::operation::select::{Selected, SelectedKind, Selection};
use crate::surface::graphql::schema::model::{Enum, Field, FieldSource, Leaf, Out, Scalar, SchemaModel};
use crate::surface::graphql::schema::record;

/// The template by which the answer for one object is written.
pub(in crate::surface::graphql) struct AnswerTemplate {
    parts: Vec<TemplatePart>,
    /// The text after the last value.
    tail: String,
}

/// A value, with the text before it.
struct TemplatePart {
    lead: String,
    /// The index of the value in the plan's level.
    place: usize,
    out: Out,
    below: Below,
}

/// What is below a value.
enum Below {
    Nothing,
    Entity(AnswerTemplate),
    Record(record::Shape),
}

impl AnswerTemplate {
    /// Creates the template of a query. Returns `None` if the fast path cannot answer all of it.
    pub(in crate::surface::graphql) fn of(
        model: &SchemaModel,
        selection: &Selection,
        plan: &Plan,
    ) -> Option<Self> {
        let mut builder =
            TemplateBuilder { model, plan, level: 0, text: "{\"data\":".to_owned(), parts: Vec::new() };
        builder.object(selection)?;
        builder.text.push('}');
        Some(builder.done())
    }

    /// Writes the answer. Returns `None` if only the general path can answer.
    pub(in crate::surface::graphql) fn write<W: World>(
        &self,
        model: &SchemaModel,
        registry: &Registry<W>,
        request: &QueryRequest<'_>,
        view: ViewOf<'_, W>,
    ) -> Option<String> {
        // Whatever stops the walk, an exceeded limit included, the general path answers and reports the error.
        let walk = FastPath::begin(registry, request, view).ok()?;
        let mut writer = Writer { enums: &model.enums, walk, out: String::with_capacity(ROOM) };
        writer.object(self, Position::ROOT)?;
        Some(writer.out)
    }
}

/// A template under construction.
struct TemplateBuilder<'a> {
    model: &'a SchemaModel,
    plan: &'a Plan,
    level: usize,
    /// The text before the next value.
    text: String,
    parts: Vec<TemplatePart>,
}

impl TemplateBuilder<'_> {
    fn object(&mut self, selection: &Selection) -> Option<()> {
        let object = &self.model.objects[selection.object];
        self.text.push('{');
        for (at, selected) in selection.fields.iter().enumerate() {
            self.text.push_str(if at > 0 { "," } else { "" });
            self.text.push_str(&selected.prefix);
            match selected.what {
                SelectedKind::Typename => write::text(&object.name, &mut self.text),
                // Only the general path merges async-graphql's answer.
                SelectedKind::Introspection => return None,
                SelectedKind::Field(number) => self.field(&object.fields[number], selected)?,
            }
        }
        self.text.push('}');
        Some(())
    }

    fn field(&mut self, field: &Field, selected: &Selected) -> Option<()> {
        match &field.source {
            // Shows the row itself, so its values are on this level of the plan.
            FieldSource::Itself => self.object(selected.below.as_ref()?)?,
            FieldSource::Attr(_) | FieldSource::Entity { .. } => {
                // An entity needs no witness here: if its key is not found, the read falls back to the general path.
                // Values in placeholders are always left to it.
                let Locator { within: None, key, .. } = &selected.at else { return None };
                let (place, level) = self.plan.place(self.level, key)?;
                // A field that is selected under two keys would be read, and charged to the limits, twice. The general
                // path reads it once.
                if self.parts.iter().any(|part| part.place == place) {
                    return None;
                }
                let below = match &selected.below {
                    None => Below::Nothing,
                    Some(selection) if self.model.objects[selection.object].is_record => {
                        Below::Record(record::Shape::of(self.model, selection))
                    }
                    Some(selection) => Below::Entity(self.below(selection, level?)?),
                };
                let lead = std::mem::take(&mut self.text);
                self.parts.push(TemplatePart { lead, place, out: field.out, below });
            }
            FieldSource::Mutation(_) | FieldSource::Subscription => return None,
        }
        Some(())
    }

    fn below(&self, selection: &Selection, level: usize) -> Option<AnswerTemplate> {
        let mut builder = TemplateBuilder { level, text: String::new(), parts: Vec::new(), ..*self };
        builder.object(selection)?;
        Some(builder.done())
    }

    fn done(self) -> AnswerTemplate {
        AnswerTemplate { parts: self.parts, tail: self.text }
    }
}

/// An answer in progress.
struct Writer<'a, 'v, W: World> {
    enums: &'a [Enum],
    walk: FastPath<'a, 'v, W>,
    out: String,
}

impl<W: World> Writer<'_, '_, W> {
    fn object(&mut self, template: &AnswerTemplate, spot: Position) -> Option<()> {
        for part in &template.parts {
            self.out.push_str(&part.lead);
            let datum = self.walk.read(spot, part.place).ok()?;
            match (&datum, &part.below) {
                (Datum::Nil | Datum::Value(Value::Nil), _) if part.out.is_nullable => {
                    self.out.push_str("null");
                }
                // A null that is not allowed is an error with a path, which the general path reports.
                (Datum::Nil | Datum::Value(Value::Nil), _) => return None,
                (Datum::Entity(number), Below::Entity(below)) if !part.out.is_list => {
                    let spot = self.walk.join(spot, part.place, 1).ok()?;
                    self.object(below, spot.of(*number))?;
                }
                (Datum::Entities(numbers), Below::Entity(below)) if part.out.is_list => {
                    // Charges all entities of the list before the first is read.
                    let spot = self.walk.join(spot, part.place, numbers.len()).ok()?;
                    self.objects(below, spot, numbers)?;
                }
                (_, Below::Nothing) => self.leaf(part.out, datum)?,
                (Datum::Value(value), Below::Record(below)) => {
                    record::value(self.enums, (part.out, Some(below)), value, &mut self.out)?;
                }
                (_, Below::Entity(_) | Below::Record(_)) => return None,
            }
        }
        self.out.push_str(&template.tail);
        Some(())
    }

    fn objects(&mut self, template: &AnswerTemplate, spot: Position, numbers: &[u64]) -> Option<()> {
        self.out.push('[');
        for (at, number) in numbers.iter().enumerate() {
            self.out.push_str(if at > 0 { "," } else { "" });
            self.object(template, spot.of(*number))?;
            // An answer beyond its bound stops here, and the general path reports the bound.
            self.walk.wrote(self.out.len()).ok()?;
        }
        self.out.push(']');
        Some(())
    }

    /// Writes a leaf, or a list of them.
    fn leaf(&mut self, out: Out, datum: Datum<'_>) -> Option<()> {
        if !out.is_list {
            return match out.leaf {
                Leaf::Scalar(scalar) => self.scalar(scalar, datum),
                Leaf::Enum(number) => {
                    let constants = &self.enums[number];
                    // The common case, for which no value has to be built.
                    if let Datum::Name(name) = datum {
                        return write::name(constants, name, &mut self.out).then_some(());
                    }
                    write::constant(constants, &datum.into_value(), &mut self.out).ok()
                }
                Leaf::Object(_) => None,
            };
        }
        record::value(self.enums, (out, None), &datum.into_value(), &mut self.out)
    }

    /// Writes a scalar: the most frequent kinds from borrowed data, all others by way of a value.
    fn scalar(&mut self, scalar: Scalar, datum: Datum<'_>) -> Option<()> {
        match (scalar, datum) {
            (Scalar::String | Scalar::Id, Datum::Text(text)) => write::text(text, &mut self.out),
            (Scalar::String | Scalar::Id, Datum::Shown(shown)) => write::shown(shown, &mut self.out),
            (Scalar::DateTime, Datum::Inst(inst)) => write::instant(inst, &mut self.out),
            (_, datum) => write::scalar(scalar, &datum.into_value(), &mut self.out).ok()?,
        }
        Some(())
    }
}

/// The initial capacity in bytes, enough for the answers to most queries.
const ROOM: usize = 4_096;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::graph::attr;
    use crate::graph::eql::Limits;
    use crate::graph::registry::Viewer;
    use crate::surface::graphql::schema::scheduler;
    use crate::surface::graphql::{Graphql, GraphqlCaller, GraphqlRequest};

    #[track_caller]
    fn check(query: &str, has_shape: bool) {
        let registry = Arc::new(attr::registry().expect("sound declarations"));
        let graphql = Graphql::new(registry, &scheduler::roots()).unwrap();
        let limits = Limits { depth: 20, attributes: 500, rows: 1_000, calls: 1_000, bytes: 1_000_000 };
        let caller = GraphqlCaller {
            viewer: Viewer::Operator,
            may_introspect: true,
            is_reading: true,
            limits,
            stop: &|| false,
        };
        let prepared = graphql.prepare(&GraphqlRequest::new(query), &caller);
        let prepared = prepared.unwrap_or_else(|errors| unreachable!("{errors:?}"));
        assert_eq!(prepared.template.is_some(), has_shape, "{query}");
    }

    #[test]
    fn most_queries_have_a_shape() {
        check("{ schedules(first: 100) { nodes { scheduleId kind status fireAt } } }", true);
        let page = "totalCount pageInfo { hasNextPage endCursor __typename }";
        check(
            &format!("{{ schedules {{ {page} edges {{ cursor node {{ a: label __typename }} }} }} }}"),
            true,
        );
        check("{ attributes(entity: \"schedule\") { ident } }", true);
        check("{ schedules { nodes { policy { overlap backoffMs __typename } trigger { kind } } } }", true);
        check("{ engine { channels { name } held { by } guard { rules { window { days } } } } }", true);
        check("{ session(sessionId: \"a\") { schedules { label reason } } engine { __typename } }", true);
    }

    #[test]
    fn the_rest_goes_the_long_way() {
        check("{ a: pendingCount b: pendingCount }", false);
        check("{ schedules { edges { cursor } nodes { label } } }", false);
        check("{ a: schedules(first: 1) { totalCount } b: schedules(first: 2) { totalCount } }", false);
        check("{ pendingCount __schema { queryType { name } } }", false);
    }
}
