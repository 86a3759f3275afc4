//! Clients whose bodies come byte by byte, to keep the bodies of others out.

use std::time::{Duration, Instant};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::stage::Stage;

/// More than there are places for bodies.
const DRIPPING: usize = 200;

fn post(address: &str, length: usize) -> String {
    format!(
        "POST /api/auth/anonymous HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\
         x-forwarded-for: {address}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n"
    )
}

/// Returns the status of an answer, and the time that it took. Now and then it sends a byte more,
/// until the answer comes.
async fn drips(mut stream: TcpStream) -> (String, Duration) {
    let began = Instant::now();
    let (mut reading, mut writing) = stream.split();
    let mut answer = Vec::new();
    let dripping = async {
        loop {
            // It is cut sooner or later.
            let _ = writing.write_all(b" ").await;
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    };
    tokio::select! {
        // A reset behind the answer is as good as an end.
        _ = reading.read_to_end(&mut answer) => {}
        () = dripping => {}
    }
    (
        String::from_utf8_lossy(&answer).into_owned(),
        began.elapsed(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_that_drips_keeps_nobody_else_out_and_is_cut_soon() {
    let settings = [
        ("TRUSTED_PROXIES", "127.0.0.1"),
        ("DISABLE_RATE_LIMIT", "true"),
    ];
    let stage = Stage::open(&settings).await;
    let mut dripping = Vec::new();
    for _ in 0..DRIPPING {
        let mut stream = TcpStream::connect(stage.address(0)).await.unwrap();
        let head = post("203.0.113.1", 500);
        stream.write_all(head.as_bytes()).await.unwrap();
        dripping.push(tokio::spawn(drips(stream)));
    }
    // First the clients above the bound get their refusal; the others hold their places.
    let held = async {
        while dripping.iter().filter(|one| one.is_finished()).count() < DRIPPING - 128 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(10), held).await.expect("held");
    let honest = format!("{}{{}}", post("203.0.113.2", 2));
    let answer = stage.ask(0, &honest).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let (mut refused, mut cut) = (0, 0);
    for one in dripping {
        let (answer, after) = one.await.unwrap();
        if answer.starts_with("HTTP/1.1 429") {
            assert!(
                answer.contains("At most 16 bodies of your address"),
                "{answer}"
            );
            refused += 1;
        } else {
            assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
            assert!(answer.contains("1024 bytes a second"), "{answer}");
            assert!(after < Duration::from_secs(8), "{after:?}");
            cut += 1;
        }
    }
    assert_eq!((refused, cut), (DRIPPING - 16, 16));
}
