//! Reads where a server of tools is on the network: its URL, and the headers that requests to it bear.
//!
//! Invariant: no error message contains a token or the value of a header.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use hyper::header::{
    ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, HeaderValue,
    TRANSFER_ENCODING, UPGRADE, USER_AGENT,
};

use crate::adapter::outbound::{Client, Endpoint, McpEndpoint, NetworkOs, Trust};
use crate::limits;

/// An endpoint as written in a configuration file.
pub(in crate::app) struct EndpointConfig {
    pub(in crate::app) url: String,
    /// The variable of the daemon's environment with the bearer token.
    pub(in crate::app) token_env: Option<String>,
    /// The file with the bearer token.
    pub(in crate::app) token_file: Option<PathBuf>,
    /// Further headers.
    pub(in crate::app) headers: BTreeMap<String, String>,
    /// A file with a certificate authority that is trusted in addition to the system's.
    pub(in crate::app) ca_file: Option<PathBuf>,
}

impl EndpointConfig {
    /// Validates it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(in crate::app) fn read(
        self,
        inherited: &impl Fn(&str) -> Option<String>,
    ) -> Result<McpEndpoint, String> {
        let endpoint = Endpoint::parse(&self.url).map_err(|fault| format!("url: {fault}"))?;
        let mut headers = self.headers()?;
        if let Some(token) = self.token(inherited)? {
            if headers.iter().any(|(name, _)| *name == AUTHORIZATION) {
                return Err("the header authorization and a token do not go together".to_owned());
            }
            let bearer = HeaderValue::from_str(&format!("Bearer {token}"));
            let bearer = bearer.map_err(|_| "its token is no line of printable ASCII".to_owned())?;
            headers.push((AUTHORIZATION, bearer));
        }
        let mut trust = Trust::system();
        if let Some(file) = &self.ca_file {
            let pem = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
            trust.add(&pem).map_err(|fault| format!("{}: {fault}", file.display()))?;
        }
        let client = Client::new(Arc::new(NetworkOs), trust).map_err(|error| error.to_string())?;
        Ok(McpEndpoint::new(client, endpoint, headers))
    }

    fn token(&self, inherited: &impl Fn(&str) -> Option<String>) -> Result<Option<String>, String> {
        let (token, source) = match (&self.token_env, &self.token_file) {
            (None, None) => return Ok(None),
            (Some(_), Some(_)) => return Err("give either token-env or token-file".to_owned()),
            (Some(name), None) => {
                let token = inherited(name).ok_or_else(|| format!("token-env: {name} is not set"))?;
                (token, "token-env")
            }
            (None, Some(file)) => {
                let token = fs::read_to_string(file);
                (token.map_err(|error| format!("{}: {error}", file.display()))?, "token-file")
            }
        };
        // A file that an editor wrote ends with a line feed.
        let token = token.trim();
        if token.is_empty() {
            Err(format!("{source}: there is no token in it"))
        } else {
            Ok(Some(token.to_owned()))
        }
    }

    fn headers(&self) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
        let max = limits::SERVER_HEADERS;
        if self.headers.len() as u64 > max.value {
            return Err(format!("it has {} headers: at most {}", self.headers.len(), max.value));
        }
        let mut headers = Vec::new();
        for (written, value) in &self.headers {
            let name: Option<HeaderName> = written.parse().ok();
            let name = name.ok_or_else(|| format!("headers: {written:?} is no name of a header"))?;
            // These say how a message is sent, which is not the operator's to say.
            if RESERVED.contains(&name) || name.as_str().starts_with("mcp-") || name == LAST_EVENT {
                return Err(format!("headers: {name} is set by Reveille"));
            }
            let value = HeaderValue::from_str(value);
            headers.push((
                name,
                value.map_err(|_| format!("headers: {written} is no line of printable ASCII"))?,
            ));
        }
        Ok(headers)
    }
}

const RESERVED: &[HeaderName] =
    &[ACCEPT, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING, UPGRADE, USER_AGENT];
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(config: EndpointConfig, expected: &str) {
        let inherited = |name: &str| match name {
            "TOKEN" => Some("t0ken-secret\n".to_owned()),
            "LINES" => Some("t0ken\nsecret".to_owned()),
            "EMPTY" => Some(" ".to_owned()),
            _ => None,
        };
        let read = match config.read(&inherited) {
            Ok(endpoint) => format!("{endpoint:?}"),
            Err(error) => error,
        };
        assert!(read.contains(expected), "{read}");
        assert!(!read.contains("secret"), "{read}");
    }

    fn written(headers: &[(&str, &str)], token_env: Option<&str>) -> EndpointConfig {
        EndpointConfig {
            url: "https://mcp.example.com/secret".to_owned(),
            token_env: token_env.map(str::to_owned),
            token_file: None,
            headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ca_file: None,
        }
    }

    #[test]
    fn tokens_and_headers_are_read_and_never_shown() {
        let shown =
            "McpEndpoint { endpoint: https://mcp.example.com, headers: [\"x-team\", \"authorization\"] }";
        check(written(&[("X-Team", "secret")], Some("TOKEN")), shown);
        check(written(&[("Authorization", "Basic secret")], None), "\"authorization\"");
        check(written(&[("Authorization", "Basic secret")], Some("TOKEN")), "do not go together");
        check(written(&[], Some("NONE")), "token-env: NONE is not set");
        check(written(&[], Some("EMPTY")), "token-env: there is no token in it");
        check(written(&[], Some("LINES")), "no line of printable ASCII");
        check(written(&[("a b", "secret")], None), "\"a b\" is no name of a header");
        check(written(&[("x", "secret\n")], None), "headers: x is no line");
        for name in ["Host", "Mcp-Session-Id", "Last-Event-ID", "content-type"] {
            check(written(&[(name, "secret")], None), "is set by Reveille");
        }
        let many: Vec<String> = (0..17).map(|number| format!("x-{number}")).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|name| (&**name, "")).collect();
        check(written(&many, None), "17 headers: at most 16");
        let file = EndpointConfig { token_file: Some("/none/secret".into()), ..written(&[], Some("TOKEN")) };
        check(file, "either token-env or token-file");
        let url = EndpointConfig { url: "http://a b/secret".to_owned(), ..written(&[], None) };
        check(url, "url: it holds a character");
    }
}
