//! A rush of players.

use tokio::time::advance;

use super::*;
use crate::zone_link::rush::NEWCOMERS;

/// In a rush a task that needed long for a flush takes frames in, and shows nothing before it has
/// rested. Then it shows all that came meanwhile.
#[tokio::test(start_paused = true)]
async fn a_task_shows_nothing_while_it_rests_in_a_rush() {
    let (table, directory, measures) = stand();
    let mailbox = session(&table, 1, Format::Json, Tile { x: 60, z: 30 });
    let mut fan_out = FanOut::new(0, table, directory, measures, Arc::default());
    let things = [thing(1, 60, 30), thing(2, 70, 30)];
    let mut asks = Vec::new();
    for (run, things) in [1, 2].into_iter().zip(things.chunks(1)) {
        let (up, mut asked) = up(run);
        fan_out.hear(up);
        fan_out.hear(frame(run, 1, answer(asked.recv().await.unwrap(), things)));
        asks.push(asked);
    }
    taken(&mailbox).expect("the first update");
    let begin = Due::now();
    advance(Duration::from_millis(100)).await;
    fan_out.rush.flushed(begin, Due::now(), NEWCOMERS);
    let rests = fan_out.rush.rests();
    for tick in 2..4 {
        for run in [1, 2] {
            let at = usize::try_from(run - 1).unwrap();
            fan_out.hear(frame(run, tick, moved(&things[at..=at], tick)));
        }
        let mut news = frame(1, tick, Vec::new());
        if let FromLink::Frame { extra, .. } = &mut news {
            *extra = true;
        }
        fan_out.hear(news);
        assert!(taken(&mailbox).is_none(), "it rests");
    }
    assert_eq!(fan_out.window.map(|window| window.due), Some(rests));
    advance(rests - Due::now()).await;
    for run in [1, 2] {
        fan_out.hear(frame(run, 4, Vec::new()));
    }
    let all = told(&mailbox).expect("the rest is over");
    assert_eq!((all.tick, all.chunks.len()), (4, 2));
}
