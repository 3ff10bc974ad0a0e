//! The finished rows, and three ways to answer them.

use std::fmt::Write as _;

/// The number of rows, equal to ours.
pub(crate) const ROWS: usize = 100;

/// The texts of a row, as long as ours.
pub(crate) fn texts(number: usize) -> (String, String) {
    let id = format!("sch-6f9619ff-8b86-4d01-b42d-{number:012x}");
    (id, format!("2026-03-01T10:{:02}:00Z", number % 60))
}

#[derive(Clone, Copy, PartialEq, Eq, async_graphql::Enum, juniper::GraphQLEnum)]
pub(crate) enum Kind {
    Message,
}

#[derive(Clone, Copy, PartialEq, Eq, async_graphql::Enum, juniper::GraphQLEnum)]
pub(crate) enum Status {
    Pending,
}

/// The schema for async-graphql.
pub(crate) mod statically {
    use async_graphql::{EmptyMutation, EmptySubscription, ID, Object, Schema, SimpleObject};

    use super::{Kind, ROWS, Status, texts};

    #[derive(Clone, SimpleObject)]
    pub(crate) struct Row {
        schedule_id: ID,
        kind: Kind,
        status: Status,
        fire_at: String,
    }

    pub(crate) struct Root(Vec<Row>);

    #[Object]
    impl Root {
        async fn schedules(&self) -> &[Row] {
            &self.0
        }
    }

    pub(crate) fn schema() -> Schema<Root, EmptyMutation, EmptySubscription> {
        let row = |number| {
            let (id, fire_at) = texts(number);
            Row { schedule_id: ID(id), kind: Kind::Message, status: Status::Pending, fire_at }
        };
        Schema::new(Root((0..ROWS).map(row).collect()), EmptyMutation, EmptySubscription)
    }
}

/// The schema for juniper, with synchronous resolvers: they are faster, and nothing here waits.
pub(crate) mod by_juniper {
    use juniper::{EmptyMutation, EmptySubscription, GraphQLObject, ID, RootNode, graphql_object};

    use super::{Kind, ROWS, Status, texts};

    #[derive(GraphQLObject)]
    pub(crate) struct Row {
        schedule_id: ID,
        kind: Kind,
        status: Status,
        fire_at: String,
    }

    pub(crate) struct Root(Vec<Row>);

    #[graphql_object]
    impl Root {
        fn schedules(&self) -> &[Row] {
            &self.0
        }
    }

    pub(crate) type Schema = RootNode<Root, EmptyMutation, EmptySubscription>;

    pub(crate) fn schema() -> Schema {
        let row = |number| {
            let (id, fire_at) = texts(number);
            Row { schedule_id: ID::new(id), kind: Kind::Message, status: Status::Pending, fire_at }
        };
        let root = Root((0..ROWS).map(row).collect());
        Schema::new(root, EmptyMutation::new(), EmptySubscription::new())
    }
}

/// Hand-written JSON from the rows.
pub(crate) fn by_hand(rows: &[(String, String)]) -> String {
    let mut text = String::with_capacity(16_384);
    text.push_str("{\"data\":{\"schedules\":[");
    for (place, (id, fire_at)) in rows.iter().enumerate() {
        text.push_str(if place > 0 { "," } else { "" });
        let _ = write!(
            text,
            "{{\"scheduleId\":\"{id}\",\"kind\":\"MESSAGE\",\"status\":\"PENDING\",\"fireAt\":\"{fire_at}\"}}"
        );
    }
    text.push_str("]}}");
    text
}
