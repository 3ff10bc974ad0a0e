//! The short way: an answer is written while it is read, by a shape that was made with the plan.
//!
//! Shape: all text between two values stands ready, keys, brackets and type names alike; a value stands at a place of the
//! plan, and is a leaf or the shape of what is below. Most queries can be answered so; whatever else turns up (an error, a
//! null that is not allowed, a value that hides something) throws the text away, and `answer.rs` answers from the graph's
//! rows. Invariant: what is written is, letter for letter, what `answer.rs` would have written.

use super::lower::Locator;
use super::model::{Enum, Field, FieldSource, Leaf, Out, Scalar, SchemaModel};
use super::record;
use super::select::{Selected, SelectedKind, Selection};
use super::write;
use crate::edn::Value;
use crate::graph::eql::{FastPath, Plan, Position, QueryRequest};
use crate::graph::registry::{Datum, Registry, ViewOf, World};

/// How the answer for one object is written.
pub(super) struct AnswerTemplate {
    parts: Vec<TemplatePart>,
    /// What follows the last of them.
    tail: String,
}

/// A value, and the text before it.
struct TemplatePart {
    lead: String,
    /// Where the value stands in the plan's level.
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
    /// Makes the shape of a query, if there is one for all of it.
    pub(super) fn of(model: &SchemaModel, selection: &Selection, plan: &Plan) -> Option<Self> {
        let mut making =
            TemplateBuilder { model, plan, level: 0, text: "{\"data\":".to_owned(), parts: Vec::new() };
        making.object(selection)?;
        making.text.push('}');
        Some(making.done())
    }

    /// Writes the answer, if nothing turns up for which there is only the long way.
    pub(super) fn write<W: World>(
        &self,
        model: &SchemaModel,
        registry: &Registry<W>,
        request: &QueryRequest<'_>,
        view: ViewOf<'_, W>,
    ) -> Option<String> {
        let walk = FastPath::begin(registry, request, view).ok()?;
        let mut writer = Writer { enums: &model.enums, walk, out: String::with_capacity(ROOM) };
        writer.object(self, Position::ROOT)?;
        Some(writer.out)
    }
}

/// The shape of one object in the making.
struct TemplateBuilder<'a> {
    model: &'a SchemaModel,
    plan: &'a Plan,
    level: usize,
    /// What stands before the next value.
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
                SelectedKind::Introspection => return None,
                SelectedKind::Field(number) => self.field(&object.fields[number], selected)?,
            }
        }
        self.text.push('}');
        Some(())
    }

    fn field(&mut self, field: &Field, selected: &Selected) -> Option<()> {
        match &field.source {
            FieldSource::True => self.text.push_str("true"),
            FieldSource::Itself => self.object(selected.below.as_ref()?)?,
            FieldSource::Attr(_) | FieldSource::Entity { .. } => {
                let Locator { within: None, key, .. } = &selected.at else { return None };
                let (place, level) = self.plan.place(self.level, key)?;
                // What is asked for twice is read once, the long way.
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
        let mut making = TemplateBuilder { level, text: String::new(), parts: Vec::new(), ..*self };
        making.object(selection)?;
        Some(making.done())
    }

    fn done(self) -> AnswerTemplate {
        AnswerTemplate { parts: self.parts, tail: self.text }
    }
}

/// An answer in the making.
struct Writer<'a, 'v, W: World> {
    enums: &'a [Enum],
    walk: FastPath<'a, 'v, W>,
    out: String,
}

impl<W: World> Writer<'_, '_, W> {
    fn object(&mut self, shape: &AnswerTemplate, spot: Position) -> Option<()> {
        for part in &shape.parts {
            self.out.push_str(&part.lead);
            let datum = self.walk.read(spot, part.place).ok()?;
            match (&datum, &part.below) {
                (Datum::Nil | Datum::Value(Value::Nil), _) if part.out.is_nullable => {
                    self.out.push_str("null");
                }
                (Datum::Nil | Datum::Value(Value::Nil), _) => return None,
                (Datum::Entity(number), Below::Entity(below)) if !part.out.is_list => {
                    let spot = self.walk.join(spot, part.place, 1).ok()?;
                    self.object(below, spot.of(*number))?;
                }
                (Datum::Entities(numbers), Below::Entity(below)) if part.out.is_list => {
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
        self.out.push_str(&shape.tail);
        Some(())
    }

    fn objects(&mut self, shape: &AnswerTemplate, spot: Position, numbers: &[u64]) -> Option<()> {
        self.out.push('[');
        for (at, number) in numbers.iter().enumerate() {
            self.out.push_str(if at > 0 { "," } else { "" });
            self.object(shape, spot.of(*number))?;
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

    /// Writes what most answers consist of as it is borrowed; everything else as the value that it would be.
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

/// Room for the answers that most queries get.
const ROOM: usize = 4_096;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::{Graphql, GraphqlCaller, GraphqlRequest, scheduler};
    use crate::graph::attr;
    use crate::graph::eql::Limits;
    use crate::graph::registry::Viewer;

    #[track_caller]
    fn check(query: &str, has_shape: bool) {
        let registry = Arc::new(attr::registry().expect("sound declarations"));
        let graphql = Graphql::new(registry, &scheduler::roots()).unwrap();
        let limits = Limits { depth: 20, attributes: 500, rows: 1_000, calls: 1_000 };
        let caller = GraphqlCaller {
            viewer: Viewer::Operator,
            may_introspect: true,
            is_reading: true,
            limits,
            stop: &|| false,
        };
        let prepared = graphql.prepare(&GraphqlRequest::new(query), &caller);
        let prepared = prepared.unwrap_or_else(|errors| unreachable!("{errors:?}"));
        assert_eq!(prepared.shape.is_some(), has_shape, "{query}");
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
