//! Channels that the gateway reads when the bus may have forgotten them.

use super::*;

fn named(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Returns the channels on which the reader hears something.
async fn heard(bus: &Bus, reader: &mut mpsc::Receiver<Heard>) -> BTreeSet<String> {
    for channel in ["a", "b", "c"] {
        bus.publish(channel, Bytes::new()).await.unwrap();
    }
    let mut channels = BTreeSet::new();
    while let Ok(heard) = reader.try_recv() {
        channels.insert(heard.channel);
    }
    channels
}

#[tokio::test]
async fn what_is_uncertain_is_read_again_and_what_nobody_wants_is_given_up() {
    let name = uuid::Uuid::new_v4().to_string();
    let (bus, mut reader) = Bus::local(&name);
    let mut channels = Channels::default();
    channels.follow(&bus, named(&["a", "b"])).await.unwrap();
    assert_eq!(heard(&bus, &mut reader).await, named(&["a", "b"]));

    // The bus forgets a channel behind our back.
    bus.unsubscribe("b").await.unwrap();
    channels.uncertain = true;
    channels.follow(&bus, named(&["b", "c"])).await.unwrap();
    assert_eq!(heard(&bus, &mut reader).await, named(&["b", "c"]));
    assert!(!channels.uncertain);
}
