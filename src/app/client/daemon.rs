//! Finds the daemon that a command asks, and the token that it may have.
//!
//! What lives elsewhere: requests (`mod.rs`) and the lock (`serve/data_dir.rs`). Invariants: the token of a data directory
//! goes only to the address that the lock names, while a live process of this user holds it; to any other address goes
//! only a token that the user gives; in clear, a token leaves this machine only with `--insecure`. The port itself
//! proves nothing: while no daemon runs, any user of this machine can listen there.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hyper::Uri;

use crate::app::config::environment::Environment;
use crate::app::config::{DEFAULT_LISTEN, data_dir_of};
use crate::app::fault::AppFault;
use crate::app::serve::data_dir::{Holder, OPERATOR_TOKEN, holder_of, read_token};
use crate::runtime::Token;
use crate::surface::cli::DaemonArgs;

/// A daemon's address, and a token that may be sent there.
pub(in crate::app) struct Daemon {
    /// Host and port.
    pub(in crate::app) authority: String,
    pub(in crate::app) token: Token,
    /// The data directory whose lock has to name the address; `None` if the user has given address and token.
    directory: Option<PathBuf>,
    /// Whether the daemon is the one that serves the directory, wherever it listens: it may come back at another port.
    follows: bool,
}

impl Daemon {
    /// Finds the daemon that the arguments name, or else the one that serves the data directory; `None` if the command
    /// has to use an engine of its own.
    ///
    /// # Errors
    /// [`AppFault`] for an invalid address, a missing token, or an address that may not have it.
    pub(in crate::app) fn find(args: &DaemonArgs) -> Result<Option<Daemon>, AppFault> {
        if args.is_embedded() {
            return Ok(None);
        }
        let environment = Environment::read();
        let given = given_token(args, &environment)?;
        let directory = data_dir_of(args.data_dir.clone(), &environment).ok();
        match (args.url.as_deref(), given, directory) {
            (Some(url), Some(token), _) => Daemon::given(url, token, args.insecure).map(Some),
            (Some(url), None, Some(directory)) => Daemon::named(url, directory).map(Some),
            (Some(_), None, None) => Err(AppFault::usage("pass --token-file FILE, or set REVEILLE_TOKEN")),
            (None, given, Some(directory)) => Daemon::local(given, directory),
            (None, _, None) => Ok(None),
        }
    }

    /// The daemon at an address that the user gives with its token.
    fn given(url: &str, token: Token, insecure: bool) -> Result<Daemon, AppFault> {
        let authority = authority(url)?;
        if !insecure && !is_loopback(&authority) {
            return Err(AppFault::usage(format!(
                "the token would leave this machine in clear, to {url}; use a tunnel to a port of this machine, or pass \
                 --insecure if every network on the way is trusted"
            )));
        }
        Ok(Daemon { authority, token, directory: None, follows: false })
    }

    /// The daemon at an address without a token of its own: it has to be the data directory's.
    fn named(url: &str, directory: PathBuf) -> Result<Daemon, AppFault> {
        let authority = authority(url)?;
        let holder = held(&directory)?;
        let served = holder.as_ref().and_then(Holder::authority);
        if served.as_ref() == Some(&authority) {
            let token = own_token(&directory)?;
            // Also beyond loopback: the address is one of this machine, so nothing leaves it.
            return Ok(Daemon { authority, token, directory: Some(directory), follows: false });
        }
        let path = directory.display();
        let truth = match (served, holder) {
            (Some(served), _) => format!("the daemon of {path} is at http://{served}"),
            (None, Some(_)) => format!("the daemon of {path} is starting or stopping"),
            (None, None) => format!("no daemon serves {path}"),
        };
        Err(AppFault::NoDaemon(format!(
            "{url} does not get the token {}: {truth}; for the daemon of another directory pass --data-dir DIR, for any \
             other --token-file FILE, or set REVEILLE_TOKEN",
            directory.join(OPERATOR_TOKEN).display()
        )))
    }

    /// The daemon of the data directory, if there is one.
    fn local(given: Option<Token>, directory: PathBuf) -> Result<Option<Daemon>, AppFault> {
        let Some(holder) = held(&directory)? else {
            // A command without a token has no business with a daemon, whatever listens there.
            let is_ours = given.is_some() || read_token(&directory.join(OPERATOR_TOKEN)).is_ok();
            return if is_ours && is_there(DEFAULT_LISTEN) { Err(stranger(&directory)) } else { Ok(None) };
        };
        let path = directory.display();
        let Some(authority) = holder.authority() else {
            return Err(AppFault::NoDaemon(format!(
                "the daemon of {path} is starting or stopping; try again"
            )));
        };
        let token = given.map_or_else(|| own_token(&directory), Ok)?;
        Ok(Some(Daemon { authority, token, directory: Some(directory), follows: true }))
    }

    /// The process that serves at the address by its lock; `None` if the user vouches for the address.
    ///
    /// # Errors
    /// If no live process holds the lock at this address.
    pub(in crate::app) fn holder(&self) -> io::Result<Option<Holder>> {
        let Some(directory) = &self.directory else { return Ok(None) };
        let holder = holder_of(directory)?;
        let is_it = |holder: &Holder| {
            let authority = holder.authority();
            if self.follows { authority.is_some() } else { authority.as_ref() == Some(&self.authority) }
        };
        let holder = holder.filter(is_it);
        let gone = || {
            let directory = directory.display();
            io::Error::other(format!("it no longer serves {directory}; start one with `reveille serve`"))
        };
        holder.map(Some).ok_or_else(gone)
    }
}

fn held(directory: &Path) -> Result<Option<Holder>, AppFault> {
    let what = || format!("the lock of {} cannot be used", directory.display());
    holder_of(directory).map_err(|error| AppFault::io(what(), error))
}

/// The fault of a port where something listens that is not the data directory's daemon.
fn stranger(directory: &Path) -> AppFault {
    AppFault::NoDaemon(format!(
        "what listens on http://{DEFAULT_LISTEN} is not the daemon of {}, which no daemon serves, so it gets no token; \
         start one with `reveille serve`, name another by --data-dir DIR or by --url URL with --token-file FILE, or pass \
         --url '' to use an in-process engine",
        directory.display()
    ))
}

/// Whether something listens at this address.
fn is_there(address: SocketAddr) -> bool {
    TcpStream::connect_timeout(&address, GLANCE).is_ok()
}

/// The token that the user gives: of a file, or else of the environment.
fn given_token(args: &DaemonArgs, environment: &Environment) -> Result<Option<Token>, AppFault> {
    let Some(path) = &args.token_file else {
        return Ok(environment.token.as_deref().map(Token::from_text));
    };
    // Its mode and owner are not checked: it may be shared on purpose.
    let read = fs::read_to_string(path).map(|text| Some(Token::from_text(text.trim())));
    read.map_err(|error| AppFault::io(format!("the token {}", path.display()), error))
}

fn own_token(directory: &Path) -> Result<Token, AppFault> {
    let path = directory.join(OPERATOR_TOKEN);
    read_token(&path).map_err(|error| AppFault::io(format!("the token {}", path.display()), error))
}

/// Parses host and port of `http://HOST:PORT`.
fn authority(url: &str) -> Result<String, AppFault> {
    let wrong =
        || AppFault::usage(format!("{url} is not the address of a daemon, such as http://127.0.0.1:7517"));
    let uri: Uri = url.parse().map_err(|_| wrong())?;
    // No `https`, because the daemon itself does not speak TLS.
    let authority = uri.authority().filter(|_| uri.scheme_str() == Some("http")).ok_or_else(wrong)?;
    let plain = uri.path_and_query().is_none_or(|path| path.as_str() == "/");
    // A path or a user name would be dropped in silence, so they are refused.
    if !plain || authority.as_str().contains('@') {
        return Err(wrong());
    }
    let port = authority.port_u16().unwrap_or(80);
    Ok(format!("{}:{port}", authority.host()))
}

/// Whether what is sent to this host and port stays on this machine.
fn is_loopback(authority: &str) -> bool {
    match authority.parse::<SocketAddr>() {
        Ok(address) => address.ip().to_canonical().is_loopback(),
        // The one name that is loopback wherever it is asked for (RFC 6761, section 6.3).
        Err(_) => authority.rsplit_once(':').is_some_and(|(host, _)| host.eq_ignore_ascii_case("localhost")),
    }
}

/// Time limit to find out whether something listens: a port on loopback answers at once or not at all.
const GLANCE: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_stays_on_this_machine() {
        for (url, expected) in [
            ("http://127.0.0.1:7517", true),
            ("http://127.9.9.9", true),
            ("http://[::1]:7517/", true),
            ("http://[::ffff:127.0.0.1]:1", true),
            ("http://LocalHost:7517", true),
            ("http://0.0.0.0:7517", false),
            ("http://192.168.1.2:7517", false),
            ("http://[2001:db8::1]:7517", false),
            ("http://localhost.example.com:7517", false),
            ("http://127.0.0.1.example.com", false),
            ("http://2130706433:7517", false),
        ] {
            let authority = authority(url).expect("an address");
            assert_eq!(is_loopback(&authority), expected, "{url}");
        }
    }
}
