//! The catalogue of items, as the store shows it.

use proto::rpc::persistence::v1 as wire;
use tonic::{Code, Status};

use crate::stage::{Kind, Stage, refused, region};

fn item(id: &str, value: u32) -> wire::ItemRow {
    wire::ItemRow {
        id: id.to_owned(),
        name: format!("The {id}"),
        r#type: "misc".to_owned(),
        description: "It is one.".to_owned(),
        value,
        weight_grams: 1_500,
        stackable: id == "coins",
        tradeable: id != "letter",
        stats: r#"{"bonuses":{"prayer":1}}"#.to_owned(),
    }
}

/// Sends the page of `items` after `after` in the name of `run`.
async fn mirror(
    stage: &Stage,
    run: u64,
    (after, last): (&str, bool),
    items: &[wire::ItemRow],
) -> Result<u32, Status> {
    let ask = wire::MirrorItemsRequest {
        run_id: run,
        after: after.to_owned(),
        items: items.to_vec(),
        last,
    };
    let reply = stage.runs().mirror_items(ask).await?;
    Ok(reply.into_inner().changed)
}

async fn ids(stage: &Stage) -> Vec<String> {
    stage.ask("SELECT id FROM items ORDER BY id").await
}

pub(crate) async fn items_are_what_the_content_of_a_run_says(kind: Kind) {
    let stage = Stage::new(kind).await;
    let run = stage.register(&[region(0, 0)]).await.run_id;
    let old = "INSERT INTO items (id, name, type)
        VALUES ('_old', 'O', 'x'), ('ball', 'B', 'x'), ('zebra', 'Z', 'x')";
    stage.sql(old, old);
    let first = [item("Axe", 3), item("bow", 5)];
    let second = [item("coins", 1), item("letter", 0)];
    assert_eq!(mirror(&stage, run, ("", false), &first).await.unwrap(), 4);
    assert_eq!(
        ids(&stage).await.len(),
        3,
        "zebra is for the last page to say"
    );
    assert_eq!(
        mirror(&stage, run, ("bow", true), &second).await.unwrap(),
        3
    );
    let all = "SELECT id || ' ' || name || ' ' || type || ' ' || value || ' ' || weight || ' ' ||
        CASE WHEN stackable THEN 1 ELSE 0 END || CASE WHEN tradeable THEN 1 ELSE 0 END
        FROM items ORDER BY lower(id)";
    let rows = [
        "Axe The Axe misc 3 1.5 01",
        "bow The bow misc 5 1.5 01",
        "coins The coins misc 1 1.5 11",
        "letter The letter misc 0 1.5 00",
    ];
    assert_eq!(stage.ask(all).await, rows);
    // The same again is nothing new; other content changes what it says otherwise.
    assert_eq!(mirror(&stage, run, ("", false), &first).await.unwrap(), 0);
    assert_eq!(
        mirror(&stage, run, ("bow", true), &second).await.unwrap(),
        0
    );
    let other = [item("Axe", 4), item("coins", 1)];
    assert_eq!(mirror(&stage, run, ("", true), &other).await.unwrap(), 3);
    assert_eq!(stage.ask(all).await, ["Axe The Axe misc 4 1.5 01", rows[2]]);
    assert_eq!(mirror(&stage, run, ("", true), &[]).await.unwrap(), 2);
    assert!(ids(&stage).await.is_empty());
}

pub(crate) async fn only_a_run_that_lives_says_what_items_are(kind: Kind) {
    let stage = Stage::new(kind).await;
    let run = stage.register(&[region(0, 0)]).await.run_id;
    let bad = [
        vec![item("bow", 1), item("axe", 1)],
        vec![item("bow", 1), item("bow", 1)],
        vec![item("a", 1)],
        vec![item("", 1)],
        vec![item("bow", 3_000_000_000)],
        vec![wire::ItemRow {
            stats: "{".to_owned(),
            ..item("bow", 1)
        }],
        (0..257).map(|n| item(&format!("b{n:03}"), 1)).collect(),
    ];
    for items in bad {
        let answer = mirror(&stage, run, ("a", true), &items).await;
        refused(answer, Code::InvalidArgument);
    }
    refused(
        mirror(&stage, run, ("a", false), &[]).await,
        Code::InvalidArgument,
    );
    let release = wire::ReleaseRequest { run_id: run };
    stage.runs().release(release).await.unwrap();
    let late = mirror(&stage, run, ("", true), &[item("bow", 1)]).await;
    refused(late, Code::PermissionDenied);
    assert!(ids(&stage).await.is_empty());
}
