use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use host::{Definitions, Limits, Metrics, Parts, Role};
use store::Store;
use store::memory::Memory;
use tokio::net::TcpListener;
use tokio::sync::watch;
#[tokio::main]
async fn main() {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64;
    let store: Arc<dyn Store> = Arc::new(Memory::new(Arc::new(now)));
    let limits = Arc::new(Limits::default());
    let metrics = Arc::new(Metrics::default());
    let definitions = Arc::new(Definitions::new(store.clone(), &limits, metrics.clone()));
    let (_stop, stopping) = watch::channel(false);
    let (host, driver) = host::prepare(Parts { store, limits, metrics, definitions }, "here".into(), Role::Engine);
    tokio::spawn(driver.run(stopping));
    let (_d, drain) = watch::channel(false);
    let mut config = api::rest::Config::default();
    if std::env::var("FAST").is_ok() { config.poll_wait_default = std::time::Duration::from_millis(50); config.poll_wait_max = std::time::Duration::from_millis(50); config.await_timeout_max = std::time::Duration::from_millis(100); config.await_timeout_default = std::time::Duration::from_millis(100); }
    let listener = TcpListener::bind(std::env::args().nth(1).unwrap()).await.unwrap();
    let router = api::rest::router(host, &config, drain.clone());
    api::rest::serve(vec![listener], router, &config, drain).await;
}
