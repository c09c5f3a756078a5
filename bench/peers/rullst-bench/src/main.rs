//! Throughput of the durable broker crate: one task, 100-byte payloads.
//!
//! Usage: rullst-bench [runs=7] [db-dir=.] [mem-n=50000] [sqlite-n=1500]
//!        rullst-bench case NAME MESSAGES DB-DIR        (one case, one JSON line: see cases.rs)
//! Every run uses a fresh broker (fresh database file). The time of building
//! each request (name checks, key text) is inside the measured interval.
//! The last column is process CPU time (user + system, all threads) per message,
//! which depends less on other load of the machine than the rates do.
use rullst_messaging::{
    BrokerConfig, InMemoryBroker, MessageAdmin, MessageBroker, MessagingKeyring,
    MessagingStorageKey, PublishRequest, PurgeRequest, ReceiveRequest, SqliteBroker,
    StartPosition, SubscriptionRequest,
};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

mod cases;

const TOPIC: &str = "bench";
const GROUP: &str = "workers";

/// User + system seconds of this process so far (Linux, 10 ms steps).
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let rest = stat.rsplit(')').next().unwrap_or("");
    let f: Vec<&str> = rest.split_whitespace().collect();
    let tick = |i: usize| f.get(i).and_then(|v| v.parse::<f64>().ok()).unwrap_or(0.0);
    (tick(11) + tick(12)) / 100.0
}

fn config() -> BrokerConfig {
    BrokerConfig::try_new("bench")
        .unwrap()
        .with_limits(100_000, 8, 5, 1024 * 1024)
        .unwrap()
}

fn request(i: usize) -> PublishRequest {
    PublishRequest::try_new(TOPIC, "bench.event", format!("key/{i}"), vec![0x61u8; 100]).unwrap()
}

fn receive(max: usize) -> ReceiveRequest {
    ReceiveRequest::try_new(TOPIC, GROUP, "worker-1", max, Duration::from_secs(60)).unwrap()
}

async fn subscribe(b: &impl MessageBroker) {
    b.subscribe(SubscriptionRequest::try_new(TOPIC, GROUP, StartPosition::Earliest).unwrap())
        .await
        .unwrap();
}

async fn publish_range(b: &impl MessageBroker, from: usize, to: usize) {
    for i in from..to {
        b.publish(request(i)).await.unwrap();
    }
}

/// publish n; messages per second
async fn publish_only(b: &impl MessageBroker, n: usize) -> f64 {
    let t = Instant::now();
    publish_range(b, 0, n).await;
    n as f64 / t.elapsed().as_secs_f64()
}

/// publish one, receive one, acknowledge one, n times; full cycles per second
async fn cycle_single(b: &impl MessageBroker, n: usize) -> f64 {
    let t = Instant::now();
    for i in 0..n {
        b.publish(request(i)).await.unwrap();
        let d = b.receive(receive(1)).await.unwrap();
        b.ack(d[0].ack_token()).await.unwrap();
    }
    n as f64 / t.elapsed().as_secs_f64()
}

/// publish 100, receive 100 in one call, acknowledge each; messages per second
async fn cycle_batch(b: &impl MessageBroker, n: usize) -> f64 {
    let t = Instant::now();
    let mut done = 0;
    while done < n {
        publish_range(b, done, done + 100).await;
        let batch = b.receive(receive(100)).await.unwrap();
        assert_eq!(batch.len(), 100);
        for d in &batch {
            b.ack(d.ack_token()).await.unwrap();
        }
        done += 100;
    }
    n as f64 / t.elapsed().as_secs_f64()
}

/// As `cycle_single`, with a purge of terminal messages every 100 messages.
async fn cycle_purge<B: MessageAdmin>(b: &B, n: usize) -> f64 {
    let t = Instant::now();
    for i in 0..n {
        b.publish(request(i)).await.unwrap();
        let d = b.receive(receive(1)).await.unwrap();
        b.ack(d[0].ack_token()).await.unwrap();
        if i % 100 == 99 {
            b.purge_terminal(PurgeRequest::try_new(TOPIC, 1000).unwrap()).await.unwrap();
        }
    }
    n as f64 / t.elapsed().as_secs_f64()
}

fn remove(path: &Path) {
    for s in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{s}", path.display()));
    }
}

async fn connect(path: &Path, encrypted: bool) -> SqliteBroker {
    let url = format!("sqlite://{}", path.display());
    if encrypted {
        let key = MessagingStorageKey::try_new("bench-key", [7u8; 32]).unwrap();
        SqliteBroker::connect_encrypted(url, config(), MessagingKeyring::new(key)).await.unwrap()
    } else {
        SqliteBroker::connect(url, config()).await.unwrap()
    }
}

async fn with_sqlite<F, Fut>(dir: &Path, encrypted: bool, f: F) -> f64
where
    F: FnOnce(SqliteBroker) -> Fut,
    Fut: Future<Output = f64>,
{
    let path: PathBuf = dir.join(format!("rullst-bench-{}.sqlite", std::process::id()));
    remove(&path);
    let broker = connect(&path, encrypted).await;
    let keep = broker.clone();
    let rate = f(broker).await;
    keep.close().await;
    remove(&path);
    rate
}

fn report(name: &str, n: usize, mut rates: Vec<f64>, cpu: f64) {
    let raw: Vec<String> = rates.iter().map(|r| format!("{r:.0}")).collect();
    rates.sort_by(|a, b| a.total_cmp(b));
    println!(
        "| {name} | {n} | {} | {:.0} | {:.0} | {:.0} | {} | {:.1} |",
        rates.len(),
        rates[0],
        rates[rates.len() / 2],
        rates[rates.len() - 1],
        raw.join(" "),
        cpu / (n * rates.len()) as f64 * 1e6
    );
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args.get(1).is_some_and(|a| a == "case") {
        let store = args.get(5).map_or("sqlite", |a| a.as_str());
        cases::run(&args[2], args[3].parse().unwrap(), Path::new(&args[4]), store).await;
        return;
    }
    let num = |i: usize, d: usize| args.get(i).and_then(|v| v.parse().ok()).unwrap_or(d);
    let runs = num(1, 7);
    let dir = PathBuf::from(args.get(2).cloned().unwrap_or_else(|| ".".into()));
    let (mem_n, sql_n) = (num(3, 50_000), num(4, 1_500));
    println!("| case | messages a run | runs | min msg/s | median msg/s | max msg/s | all runs | CPU us/msg |");
    println!("|---|---|---|---|---|---|---|---|");

    macro_rules! memory {
        ($name:expr, $sub:expr, $f:ident) => {{
            let mut r = Vec::new();
            let c = cpu_seconds();
            for _ in 0..runs {
                let b = InMemoryBroker::new(config());
                if $sub {
                    subscribe(&b).await;
                }
                r.push($f(&b, mem_n).await);
            }
            report($name, mem_n, r, cpu_seconds() - c);
        }};
    }
    memory!("memory publish, no group", false, publish_only);
    memory!("memory publish, one group", true, publish_only);
    memory!("memory publish+receive(1)+ack", true, cycle_single);
    memory!("memory 100x publish, receive(100), 100x ack", true, cycle_batch);
    memory!("memory publish+receive(1)+ack, purge every 100", true, cycle_purge);

    macro_rules! sqlite {
        ($name:expr, $enc:expr, $sub:expr, $pre:expr, $n:expr, $f:ident) => {{
            let mut r = Vec::new();
            let c = cpu_seconds();
            for _ in 0..runs {
                r.push(
                    with_sqlite(&dir, $enc, |b| async move {
                        if $sub {
                            subscribe(&b).await;
                        }
                        for i in 0..$pre {
                            let q = PublishRequest::try_new("prefill", "bench.event", format!("p/{i}"), vec![0x61u8; 100]).unwrap();
                            b.publish(q).await.unwrap();
                        }
                        $f(&b, $n).await
                    })
                    .await,
                );
            }
            report($name, $n, r, cpu_seconds() - c);
        }};
    }
    sqlite!("sqlite publish, no group", false, false, 0, sql_n, publish_only);
    sqlite!("sqlite publish, one group", false, true, 0, sql_n, publish_only);
    sqlite!("sqlite publish+receive(1)+ack", false, true, 0, sql_n / 2, cycle_single);
    sqlite!("sqlite 100x publish, receive(100), 100x ack", false, true, 0, sql_n / 100 * 100, cycle_batch);
    sqlite!("sqlite publish+receive(1)+ack, purge every 100", false, true, 0, sql_n / 2, cycle_purge);
    sqlite!("sqlite encrypted publish, one group", true, true, 0, sql_n, publish_only);
    sqlite!("sqlite publish, one group, 5000 already retained", false, true, 5_000, 300, publish_only);
}
