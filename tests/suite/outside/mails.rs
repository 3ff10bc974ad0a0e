//! E-mail to a mail server on the loopback: what is said, in which order, and what becomes of a message that is refused.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use reveille::adapter::outbound::{
    ChannelRoute, Client, MailAddress, MailServer, Mailer, OutboundCourier, Patience, Trust,
};
use reveille::domain::{Cause, Dialect, Failure, Moment, Reason, Route, RunId, ScheduleId, SessionId, Span};
use reveille::engine::Parcel;
use reveille::port::Courier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::fixture;
use super::receiver::Script;

/// What a mail server does otherwise than it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quirk {
    None,
    /// It does not offer TLS.
    Stripped,
    /// It says more in the clear than it is asked for.
    Injects,
    /// It answers this where the command begins so.
    Says(&'static str, &'static str),
    /// It answers nothing where the command begins so, before the sender has gone away.
    Hangs(&'static str),
    /// It goes away in the middle of the message.
    Drops,
}

/// What a server has read: each command, with the message as one.
type Told = Arc<Mutex<Vec<String>>>;

fn tls() -> Arc<ServerConfig> {
    let certificates = CertificateDer::pem_file_iter(fixture("tls/endpoint.pem")).expect("the file is there");
    let certificates = certificates.collect::<Result<_, _>>().expect("certificates");
    let key = PrivateKeyDer::from_pem_file(fixture("tls/endpoint.key")).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().expect("versions").with_no_client_auth();
    Arc::new(config.with_single_cert(certificates, key).expect("the key fits"))
}

/// Starts a server for one connection.
fn server(quirk: Quirk, at_once: bool) -> (std::net::SocketAddr, Told) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let (address, told) = (listener.local_addr().expect("an address"), Told::default());
    let kept = Arc::clone(&told);
    thread::spawn(move || {
        let Ok((mut socket, _)) = listener.accept() else { return };
        // What goes wrong with a connection is the sender's to notice.
        let _ = if at_once {
            socket_over_tls(socket).and_then(|stream| talk(stream, quirk, &kept, true))
        } else {
            clear(&mut socket, quirk, &kept)
                .and_then(|goes_on| if goes_on { socket_over_tls(socket).map(Some) } else { Ok(None) })
                .and_then(|stream| stream.map_or(Ok(()), |stream| talk(stream, quirk, &kept, false)))
        };
    });
    (address, told)
}

fn socket_over_tls(socket: TcpStream) -> std::io::Result<StreamOwned<ServerConnection, TcpStream>> {
    Ok(StreamOwned::new(ServerConnection::new(tls()).expect("a connection"), socket))
}

/// The part in the clear; whether TLS begins.
fn clear(socket: &mut TcpStream, quirk: Quirk, kept: &Mutex<Vec<String>>) -> std::io::Result<bool> {
    socket.write_all(b"220-mail.example.com\r\n220 ready\r\n")?;
    loop {
        let mut line = String::new();
        let mut byte = [0];
        while !line.ends_with('\n') {
            if socket.read(&mut byte)? == 0 {
                return Ok(false);
            }
            line.push(char::from(byte[0]));
        }
        kept.lock().expect("nobody panics").push(format!("clear {}", line.trim_end()));
        let offer: &[u8] = if quirk == Quirk::Stripped { b"" } else { b"250-STARTTLS\r\n" };
        match line.trim_end() {
            "STARTTLS" if quirk == Quirk::Injects => {
                socket.write_all(b"220 go on\r\n250 forged\r\n250 forged\r\n")?;
                return Ok(true);
            }
            "STARTTLS" => {
                socket.write_all(b"220 go on\r\n")?;
                return Ok(true);
            }
            _ => socket.write_all(&[b"250-mail.example.com\r\n", offer, b"250 PIPELINING\r\n"].concat())?,
        }
    }
}

/// What a server without quirks answers.
fn usual(line: &str) -> &'static str {
    match line.split([' ', '\r']).next() {
        Some("EHLO") => "250-mail.example.com\r\n250 AUTH PLAIN LOGIN\r\n",
        Some("AUTH") => "235 welcome\r\n",
        Some("DATA") => "354 go on\r\n",
        Some("QUIT") => "221 bye\r\n",
        Some(_) | None => "250 fine\r\n",
    }
}

fn talk(
    stream: impl Read + Write,
    quirk: Quirk,
    kept: &Mutex<Vec<String>>,
    greets: bool,
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    if greets {
        stream.get_mut().write_all(b"220 ready\r\n")?;
    }
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Ok(());
        }
        kept.lock().expect("nobody panics").push(line.trim_end().to_owned());
        let answer = match quirk {
            Quirk::Hangs(begin) if line.starts_with(begin) => {
                let _ = stream.read_line(&mut line);
                return Ok(());
            }
            Quirk::Says(begin, answer) if line.starts_with(begin) => answer,
            Quirk::None
            | Quirk::Stripped
            | Quirk::Injects
            | Quirk::Says(..)
            | Quirk::Hangs(_)
            | Quirk::Drops => usual(&line),
        };
        stream.get_mut().write_all(answer.as_bytes())?;
        if line.starts_with("DATA") && answer.starts_with("354") {
            let mut message = String::new();
            while !message.ends_with("\r\n.\r\n") {
                if quirk == Quirk::Drops || stream.read_line(&mut message)? == 0 {
                    return Ok(());
                }
            }
            kept.lock().expect("nobody panics").push(message);
            let answer = match quirk {
                Quirk::Says(".", answer) => answer,
                Quirk::Hangs(".") => {
                    let _ = stream.read_line(&mut line);
                    return Ok(());
                }
                Quirk::None
                | Quirk::Stripped
                | Quirk::Injects
                | Quirk::Says(..)
                | Quirk::Hangs(_)
                | Quirk::Drops => "250 taken\r\n",
            };
            stream.get_mut().write_all(answer.as_bytes())?;
        }
    }
}

fn parcel(text: &str, label: Option<&str>, recipient: &str) -> Parcel {
    let schedule = ScheduleId::new("sch-1").expect("an id");
    let slot = Moment::parse("2026-06-01T00:05:00Z").expect("an instant");
    Parcel {
        run: RunId { schedule, incarnation: 1, slot },
        route: Route { channel: "mail".into(), conversation: recipient.into(), thread: None },
        at: slot,
        attempt: 1,
        cause: Cause::Slot,
        late: Span::ZERO,
        folded: 0,
        dialect: Dialect::Native,
        session: SessionId::new("main").expect("an id"),
        family: SessionId::new("main").expect("an id"),
        is_operators: false,
        label: label.map(Into::into),
        text: text.into(),
        file: None,
    }
}

struct Sending {
    quirk: Quirk,
    url: &'static str,
    millis: u64,
}

impl Sending {
    fn to(quirk: Quirk) -> Sending {
        Sending { quirk, url: "smtp://hooks.example.com", millis: 20_000 }
    }

    fn send(&self, parcel: Parcel) -> (Result<(), Failure>, Vec<String>) {
        let (address, told) = server(self.quirk, self.url.starts_with("smtps"));
        let at = MailServer::parse(self.url, false).expect("a server");
        let mut trust = Trust::none();
        trust.add(&std::fs::read(fixture("tls/authority.pem")).expect("it is there")).expect("an authority");
        let public: IpAddr = [93, 184, 216, 34].into();
        let total = Duration::from_millis(self.millis);
        let client = Client::for_mail(Script::new(&[&[public]], Some(address)), trust).expect("a client");
        let client = client.allowing(at.endpoint()).with_patience(Patience { connect: total, total });
        let mailer = Mailer {
            server: at,
            client,
            login: Some(("bot".to_owned(), "secret".to_owned())),
            from: MailAddress::parse("Reveille <bot@example.com>").expect("an address"),
            to: ["ops@example.com", "team@example.com"].map(|it| MailAddress::parse(it).expect("one")).into(),
            subject: "[ci] {{label}} in {{channel}}".into(),
        };
        let route = ChannelRoute::Email(Box::new(mailer));
        let courier = OutboundCourier::start([("mail".into(), route)].into()).expect("a thread");
        let (done, ended): (_, Receiver<Result<(), Failure>>) = channel();
        courier.carry(parcel, Box::new(move |answer| _ = done.send(answer)));
        let answer = ended.recv().expect("it is bounded");
        let told = told.lock().expect("nobody panics").clone();
        (answer, told)
    }
}

/// Where the message begins in what a server was told.
fn message(told: &[String]) -> &str {
    told.iter().find(|it| it.contains("\r\n.\r\n")).map(String::as_str).unwrap_or_default()
}

const GOLDEN: &str = "From: Reveille <bot@example.com>\r\n\
    Date: Mon, 01 Jun 2026 00:05:00 +0000\r\n\
    Subject: [ci] Build  Bcc: x@y.example in mail\r\n\
    Message-ID: <ID@example.com>\r\n\
    Content-Type: text/plain; charset=utf-8\r\n\
    To: ops@example.com, team@example.com\r\n\
    Auto-Submitted: auto-generated\r\n\
    Content-Transfer-Encoding: 7bit\r\n\
    \r\n\
    It is red.\r\n\
    ..\r\n\
    ..hidden\r\n\
    end\r\n.\r\n";

/// T63.
#[test]
fn a_message_is_handed_over_encrypted_with_its_lines_intact_and_one_subject() {
    for url in ["smtp://hooks.example.com", "smtps://hooks.example.com"] {
        let text = "It is red.\n.\n.hidden\nend";
        let sending = Sending { url, ..Sending::to(Quirk::None) };
        let (answer, told) = sending.send(parcel(text, Some("Build\r\nBcc: x@y.example"), ""));
        assert_eq!(answer, Ok(()), "{url}: {told:?}");
        let (clear, rest): (Vec<_>, Vec<_>) = told.iter().partition(|line| line.starts_with("clear "));
        let expected: &[&str] = match url.starts_with("smtps") {
            true => &[],
            false => &["clear EHLO example.com", "clear STARTTLS"],
        };
        assert_eq!(clear, expected, "nothing else is said in the clear");
        let commands: Vec<&str> = rest.iter().map(|it| it.split("\r\n").next().unwrap_or_default()).collect();
        assert_eq!(commands[0], "EHLO example.com");
        assert!(commands[1].starts_with("AUTH PLAIN "), "{commands:?}");
        let envelope = [
            "MAIL FROM:<bot@example.com>",
            "RCPT TO:<ops@example.com>",
            "RCPT TO:<team@example.com>",
            "DATA",
        ];
        assert_eq!(commands[2..6], envelope);
        let sent = message(&told);
        let id = sent.split_once("Message-ID: <").and_then(|(_, it)| it.split_once('@')).expect("an id").0;
        assert_eq!(sent.replace(id, "ID"), GOLDEN);
        // The same run has the same id, and another run another one.
        let again = sending.send(parcel(text, None, "team@EXAMPLE.com")).1;
        assert!(message(&again).contains(id), "{again:?}");
        assert!(!again.iter().any(|it| it.contains("ops@example.com")), "one recipient: {again:?}");
    }
}

/// T63.
#[test]
fn what_a_server_answers_decides() {
    let refused = Reason::HostRefused;
    for (quirk, reason, code) in [
        (Quirk::Stripped, refused, None),
        (Quirk::Injects, refused, None),
        (Quirk::Says("AUTH", "535 who are you\r\n"), Reason::Rejected, Some(535)),
        (Quirk::Says("MAIL", "451 not now\r\n"), refused, Some(451)),
        (Quirk::Says("RCPT", "550 nobody here\r\n"), Reason::Rejected, Some(550)),
        (Quirk::Says("DATA", "452 no room\r\n"), refused, Some(452)),
        (Quirk::Says(".", "554 spam\r\n"), Reason::Rejected, Some(554)),
        (Quirk::Says(".", "450 later\r\n"), refused, Some(450)),
        (Quirk::Says("MAIL", "nonsense\r\n"), refused, None),
        // It may have arrived.
        (Quirk::Drops, Reason::ReceiptOverdue, None),
    ] {
        let (answer, told) = Sending::to(quirk).send(parcel("text", None, ""));
        let failure = answer.expect_err("it is refused");
        assert_eq!((failure.reason, failure.code), (reason, code), "{quirk:?}: {failure:?}");
        assert!(!failure.message.contains("secret"), "{failure:?}");
        if matches!(quirk, Quirk::Stripped | Quirk::Injects) {
            assert!(told.iter().all(|line| line.starts_with("clear ")), "{quirk:?}: {told:?}");
        }
    }
}

#[test]
fn a_server_that_says_nothing_is_given_up() {
    for (begin, reason) in [("EHLO", Reason::HostRefused), (".", Reason::ReceiptOverdue)] {
        let sending = Sending { millis: 1_500, ..Sending::to(Quirk::Hangs(begin)) };
        let failure = sending.send(parcel("text", None, "")).0.expect_err("it hangs");
        assert_eq!(failure.reason, reason, "{begin}: {failure:?}");
    }
}

#[test]
fn a_message_goes_to_addresses_of_the_configuration_alone() {
    for recipient in
        ["boss@example.com", "ops@example.com, boss@example.com", "ops@example.com\r\nRCPT TO:<x@y>"]
    {
        let (answer, told) = Sending::to(Quirk::None).send(parcel("text", None, recipient));
        assert_eq!(answer.expect_err("it is not one of them").reason, Reason::Rejected, "{recipient}");
        assert!(told.is_empty(), "{told:?}");
    }
}
