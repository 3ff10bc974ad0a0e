//! A GraphQL request as it arrived, independent of its transport.
//!
//! Invariant: JSON is read within the caps of every request, and its content is not interpreted here.

use crate::dialect::REQUEST_CAPS;
use crate::domain::Moment;
use crate::edn::{Map, Value};
use crate::limits::{REQUEST_BYTES, REQUEST_DEPTH};
use crate::surface::graphql::error::{Code, GraphqlError};
use crate::surface::json;

/// A GraphQL request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphqlRequest {
    /// The text of the document.
    pub query: String,
    /// The name of the operation to run, if the document has several.
    pub operation_name: Option<String>,
    /// The variables, keyed by strings.
    pub variables: Map,
    /// The instant as of which the query is answered: `asOf` in the request's extensions. `None` means the present.
    pub as_of: Option<Moment>,
}

impl GraphqlRequest {
    /// Creates a request that consists of a document alone.
    pub fn new(query: impl Into<String>) -> Self {
        Self { query: query.into(), operation_name: None, variables: Map::new(), as_of: None }
    }

    /// Reads a request from a JSON object.
    ///
    /// # Errors
    ///
    /// Returns what makes the body an invalid request, worded for the client's developer.
    pub fn from_json(body: &[u8]) -> Result<Self, GraphqlError> {
        let value = json::read(body, &REQUEST_CAPS).map_err(|error| match error {
            json::JsonError::TooLong { .. } => GraphqlError::limit(REQUEST_BYTES, error.to_string()),
            json::JsonError::TooDeep { .. } => GraphqlError::limit(REQUEST_DEPTH, error.to_string()),
            json::JsonError::Malformed(_) => fault(format!("the request is not JSON: {error}")),
        })?;
        Self::from_value(&value)
    }

    /// Reads a request from an object.
    ///
    /// # Errors
    ///
    /// Returns what makes the object an invalid request, worded for the client's developer.
    pub fn from_value(value: &Value) -> Result<Self, GraphqlError> {
        let Some(map) = value.as_map() else {
            // Some clients send several requests as a list, so a list gets a message of its own.
            return Err(fault(match value.as_items() {
                Some(_) => "batches are not supported: send one request at a time",
                None => "the request is not a JSON object",
            }));
        };
        let Some(query) = map.text("query").and_then(Value::as_str) else {
            return Err(fault("the request needs a `query`, which is a string"));
        };
        // GraphQL over HTTP: null means that an optional parameter is absent.
        let operation_name = match map.text("operationName") {
            None | Some(Value::Nil) => None,
            Some(Value::Str(name)) => Some(name.to_string()),
            Some(_) => return Err(fault("`operationName` is a string")),
        };
        // `extensions` is where GraphQL over HTTP leaves room for parameters of a server's own.
        let as_of = match object(map, "extensions")?.and_then(|extensions| extensions.text("asOf")) {
            None | Some(Value::Nil) => None,
            Some(instant) => {
                let moment = instant.as_str().and_then(|text| Moment::parse(text).ok());
                Some(moment.ok_or_else(|| fault("`asOf` is an ISO instant"))?)
            }
        };
        let variables = object(map, "variables")?.cloned().unwrap_or_default();
        Ok(Self { query: query.to_owned(), operation_name, variables, as_of })
    }
}

fn object<'m>(map: &'m Map, name: &str) -> Result<Option<&'m Map>, GraphqlError> {
    match map.text(name) {
        None | Some(Value::Nil) => Ok(None),
        Some(Value::Map(object)) => Ok(Some(object)),
        Some(_) => Err(fault(format!("`{name}` is an object"))),
    }
}

fn fault(message: impl Into<String>) -> GraphqlError {
    GraphqlError::new(Code::Document, message)
}
