//! What the port of health tells while a real database is away or takes no writes, and afterwards.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::place::{Place, execute};
use crate::server::Server;
use serde_json::Value;

/// A busy machine takes its time.
const PATIENCE: Duration = Duration::from_secs(240);

/// Stands before a database and can take it away.
struct Between {
    port: u16,
    /// Both ends of what goes through; none while nothing may.
    open: Arc<Mutex<Option<Vec<TcpStream>>>>,
}

impl Between {
    fn before(behind: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let open = Arc::new(Mutex::new(None));
        let streams: Arc<Mutex<Option<Vec<TcpStream>>>> = open.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let mut streams = streams.lock().unwrap();
                let (Some(streams), Ok(client)) = (streams.as_mut(), client) else { continue };
                let database = TcpStream::connect(&behind).unwrap();
                streams.extend([client.try_clone().unwrap(), database.try_clone().unwrap()]);
                pass(client.try_clone().unwrap(), database.try_clone().unwrap());
                pass(database, client);
            }
        });
        Self { port, open }
    }

    fn let_through(&self) {
        *self.open.lock().unwrap() = Some(Vec::new());
    }

    fn cut(&self) {
        for stream in self.open.lock().unwrap().take().unwrap() {
            let _already_closed = stream.shutdown(Shutdown::Both);
        }
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream) {
    std::thread::spawn(move || {
        let _until_either_ends = io::copy(&mut from, &mut to);
        let _already_closed = to.shutdown(Shutdown::Both);
    });
}

fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).max_idle_connections(0).build().into();
    let mut answer = agent.get(format!("http://{address}{path}")).call().unwrap();
    (answer.status().as_u16(), answer.body_mut().read_to_string().unwrap())
}

/// What is told as soon as it is this.
fn told(server: &Server, expected: u16, why: &str) -> Value {
    let until = Instant::now() + PATIENCE;
    loop {
        let (status, text) = get(server.metrics, "/health");
        let told: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(told["status"], if status == 200 { "UP" } else { "DOWN" }, "{told}");
        if status == expected && told["reason"].as_str().unwrap_or_default().contains(why) {
            return told;
        }
        assert!(Instant::now() < until, "{status} rather than {expected} because of {why}: {told}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

fn of_a_database() -> Option<Place> {
    Place::all().into_iter().find(Place::is_shared)
}

#[test]
fn a_database_that_goes_away_is_told_and_that_it_is_back() {
    let Some(place) = of_a_database() else { return };
    let (_, behind) = place.through(0);
    let between = Between::before(behind);
    between.let_through();
    let (url, _) = place.through(between.port);
    let server = Server::start(&url);
    let well = told(&server, 200, "");
    let store = well["store"].as_str().unwrap();
    assert!(store.starts_with(&format!("postgres://127.0.0.1:{}/", between.port)) && store.ends_with("(PostgreSQL)"), "{well}");
    let topology: Value = serde_json::from_str(&get(server.rest, "/v2/topology").1).unwrap();
    assert_eq!(well["clusterId"], topology["clusterId"]);

    between.cut();
    let away = told(&server, 503, "not available");
    assert_eq!((&away["store"], &away["clusterId"], &away["server"]), (&well["store"], &well["clusterId"], &well["server"]));
    let (status, text) = get(server.metrics, "/health/ready");
    assert!(status == 503 && text.starts_with("not ready: "), "{status} {text}");
    assert_eq!(get(server.metrics, "/health/live"), (200, "alive\n".to_owned()));
    assert_eq!(get(server.metrics, "/metrics").0, 200);

    between.let_through();
    assert_eq!(told(&server, 200, "")["owns"], true);
    server.caudal(&["signal", "go"]).done();
}

#[test]
fn a_database_that_takes_no_writes_is_told_and_that_it_does_again() {
    let Some(place) = of_a_database() else { return };
    let server = Server::start(&place.url());
    // Whoever is connected goes by the new rule from the next connection on.
    let reconnected = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                       WHERE datname = current_database() AND pid <> pg_backend_pid()";
    let Place::Database { base, name } = &place else { return };
    let database = place.url();
    execute(base, &format!("ALTER DATABASE {name} SET default_transaction_read_only = on"));
    execute(&database, reconnected);
    let refused = server.caudal(&["signal", "go"]);
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    // It may have heard of the connection that was ended first.
    told(&server, 503, "");
    execute(base, &format!("ALTER DATABASE {name} RESET default_transaction_read_only"));
    execute(&database, reconnected);
    told(&server, 200, "");
    server.caudal(&["signal", "go"]).done();
}
