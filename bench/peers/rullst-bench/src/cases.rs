//! One case per process, one JSON line: what `make compare` runs side by side with ours.
//!
//! Usage: rullst-bench case NAME MESSAGES DB-DIR [STORE=sqlite]     STORE: sqlite, sealed, memory
//! publish-1    one publisher that waits for each message
//! publish-32   32 tasks, each waits for its message
//! publish-100  groups of 100 (the crate has no batch call: 100 calls, all in flight at once)
//! cycle-1      publish, receive, ack, one after the other
//! cycle-32     32 publishing tasks; one task receives up to 100 and acknowledges them, all in flight at once
//! cycle-100    100 publishes in flight at once, receive(100), 100 acks in flight at once
use crate::{receive, remove, request, subscribe};
use rullst_messaging::{Delivery, InMemoryBroker, MessageBroker};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// A broker whose copies share everything.
trait Shared: MessageBroker + Clone + Send + Sync + 'static {}
impl<B: MessageBroker + Clone + Send + Sync + 'static> Shared for B {}

/// Publishes message `i`; a busy file is tried again, as a user would have to.
async fn publish_one<B: Shared>(b: &B, i: usize, retries: &AtomicUsize) {
    while b.publish(request(i)).await.is_err() {
        retries.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// `lanes` tasks publish `0..n`; ready when all of it is stored.
fn spawn_publishers<B: Shared>(b: &B, lanes: usize, n: usize, retries: &Arc<AtomicUsize>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    for lane in 0..lanes {
        let (b, retries) = (b.clone(), retries.clone());
        tasks.spawn(async move {
            for i in (lane..n).step_by(lanes) {
                publish_one(&b, i, &retries).await;
            }
        });
    }
    tasks
}

async fn ack_all<B: Shared>(b: &B, batch: Vec<Delivery>, at_once: bool, retries: &Arc<AtomicUsize>) {
    let mut tasks = JoinSet::new();
    for d in batch {
        let (b, retries) = (b.clone(), retries.clone());
        let one = async move {
            while b.ack(d.ack_token()).await.is_err() {
                retries.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        if at_once {
            tasks.spawn(one);
        } else {
            one.await;
        }
    }
    while tasks.join_next().await.is_some() {}
}

/// Receives and acknowledges until `n` messages are done.
async fn drain<B: Shared>(b: &B, n: usize, max: usize, at_once: bool, retries: &Arc<AtomicUsize>) {
    let mut done = 0;
    while done < n {
        let batch = b.receive(receive(max)).await.unwrap_or_default();
        if batch.is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        done += batch.len();
        ack_all(b, batch, at_once, retries).await;
    }
}

async fn in_groups<B: Shared>(b: &B, n: usize, cycle: bool, retries: &Arc<AtomicUsize>) {
    for from in (0..n).step_by(100) {
        let mut tasks = JoinSet::new();
        for i in from..from + 100 {
            let (b, retries) = (b.clone(), retries.clone());
            tasks.spawn(async move { publish_one(&b, i, &retries).await });
        }
        while tasks.join_next().await.is_some() {}
        if cycle {
            drain(b, 100, 100, true, retries).await;
        }
    }
}

async fn work<B: Shared>(b: &B, name: &str, n: usize, retries: &Arc<AtomicUsize>) {
    match name {
        "publish-1" | "publish-32" => {
            let lanes = if name == "publish-1" { 1 } else { 32 };
            let mut tasks = spawn_publishers(b, lanes, n, retries);
            while tasks.join_next().await.is_some() {}
        }
        "publish-100" => in_groups(b, n, false, retries).await,
        "cycle-1" => {
            for i in 0..n {
                publish_one(b, i, retries).await;
                drain(b, 1, 1, false, retries).await;
            }
        }
        "cycle-32" => {
            let mut tasks = spawn_publishers(b, 32, n, retries);
            drain(b, n, 100, true, retries).await;
            while tasks.join_next().await.is_some() {}
        }
        "cycle-100" => in_groups(b, n, true, retries).await,
        other => panic!("unknown case {other}"),
    }
}

async fn measure<B: Shared>(b: &B, name: &str, n: usize, retries: &Arc<AtomicUsize>) -> f64 {
    subscribe(b).await;
    let t = Instant::now();
    work(b, name, n, retries).await;
    t.elapsed().as_secs_f64()
}

pub async fn run(name: &str, n: usize, dir: &Path, store: &str) {
    let path = dir.join(format!("rullst-bench-{}.sqlite", std::process::id()));
    remove(&path);
    let retries = Arc::new(AtomicUsize::new(0));
    let elapsed = if store == "memory" {
        measure(&InMemoryBroker::new(crate::config()), name, n, &retries).await
    } else {
        let b = crate::connect(&path, store == "sealed").await;
        let elapsed = measure(&b, name, n, &retries).await;
        b.close().await;
        elapsed
    };
    remove(&path);
    println!(
        "{{\"impl\":\"rullst-messaging-13.0.0-alpha.4\",\"case\":\"{name}\",\"store\":\"{store}\",\"messages\":{n},\
         \"elapsed_s\":{elapsed:.6},\"msgs_per_s\":{:.1},\"busy_retries\":{}}}",
        n as f64 / elapsed,
        retries.load(Ordering::Relaxed)
    );
}
