//! A process gets the version that another one plays.

use content_loader::{ContentServer, ContentService, Delivered, Run, Shelf, Source, from_runs};
use service_runtime::rpc::{Acceptor, Trust};
use tokio::net::TcpListener;
use world::Content;

use crate::stage::land;

fn small() -> Delivered {
    Delivered {
        content: Content::load(&land()).unwrap().content.into(),
        files: land().into(),
        source: Source::Cdn,
    }
}

/// Starts a zone that plays this; returns its address.
async fn zone(shelf: Shelf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let acceptor = Acceptor::default();
    let service = ContentServer::new(ContentService(shelf));
    let router = acceptor.server().add_service(service);
    tokio::spawn(acceptor.serve(router, listener, Default::default()));
    address
}

fn run(id: u64, address: &str, content: &str) -> Run {
    Run {
        id,
        address: address.to_owned(),
        content: content.to_owned(),
        leaving: false,
    }
}

#[tokio::test]
async fn the_first_that_answers_gives_all_of_it() {
    let theirs = small();
    let hash = theirs.content.hash().to_owned();
    let address = zone(Shelf::new(theirs)).await;
    let runs = [run(1, "127.0.0.1:1", &hash), run(2, &address, &hash)];
    let got = from_runs(&Trust::none(), &runs).await.unwrap();
    assert_eq!(
        (got.content.hash(), got.source),
        (hash.as_str(), Source::Zone)
    );
    assert_eq!(*got.files, land());
}

#[tokio::test]
async fn another_version_than_the_one_asked_for_is_not_taken() {
    let shelf = Shelf::new(small());
    let address = zone(shelf.clone()).await;
    let gone = from_runs(&Trust::none(), &[run(2, &address, "other")])
        .await
        .unwrap_err();
    assert!(format!("{gone:#}").contains("another version"), "{gone:#}");

    // One whose manifests are not those of the hash that it gives.
    let mut forged = land();
    forged.insert("npcs.json".to_owned(), "[ ]".to_owned());
    let honest = small();
    let hash = honest.content.hash().to_owned();
    shelf.put(Delivered {
        files: forged.into(),
        ..honest
    });
    let error = from_runs(&Trust::none(), &[run(2, &address, &hash)])
        .await
        .unwrap_err();
    assert!(
        format!("{error:#}").contains("another version"),
        "{error:#}"
    );
    assert!(from_runs(&Trust::none(), &[]).await.is_err());
}
