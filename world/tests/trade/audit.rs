//! The audit notes of trades.

use insta::assert_snapshot;
use world::TradeNote;

use crate::stage::{Land, Stage};

/// Returns the notes: the player, the act, the trade, the other player, and the things.
fn audited(stage: &Stage) -> String {
    let line = |note: &TradeNote| {
        let things = note.things.iter();
        let things = things.map(|stack| format!(" {} {}", stack.quantity, stack.item));
        let things: String = things.collect();
        let trade = if note.trade.as_str().is_empty() {
            "none"
        } else {
            "it"
        };
        format!(
            "{} with {} of {trade}: {:?}{things}",
            note.who, note.with, note.step
        )
    };
    stage.audit.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn each_step_of_a_trade_is_written_down_and_so_is_each_that_is_refused() {
    let mut stage = Stage::new(&Land::default());
    stage.play(
        "ann joins at 0 0 with sword 1 candle 9 / bob joins at 2 2 with logs 1
         ann trades ann
         ann trades bob
         bob agrees to trade
         ann offers 20
         ann offers 4 of 1
         ann keeps 0
         ann offers 0
         bob offers 0
         bob accepts confirm
         ann accepts offer
         ann revokes
         ann accepts offer
         bob accepts offer
         ann accepts confirm / ann may not trade
         ann accepts confirm
         bob accepts confirm
         bob accepts confirm
         wait 6
         bob trades ann
         ann declines",
    );
    assert_snapshot!(audited(&stage), @r"
    ann with ann of none: Refused(SelfTrade)
    ann with bob of it: Asked
    bob with ann of it: Began
    ann with bob of it: Refused(EmptySlot)
    ann with bob of it: Offered 4 candle
    ann with bob of it: Withdrew 4 candle
    ann with bob of it: Offered 1 sword
    bob with ann of it: Offered 1 logs
    bob with ann of it: Refused(ScreenChanged)
    ann with bob of it: Agreed(Offer)
    ann with bob of it: RevokedAcceptance
    ann with bob of it: Agreed(Offer)
    bob with ann of it: Agreed(Offer)
    ann with bob of it: Refused(ExchangesFrozen)
    ann with bob of it: Agreed(Confirm)
    bob with ann of it: Agreed(Confirm)
    ann with bob of it: Gave 1 sword
    bob with ann of it: Gave 1 logs
    bob with  of it: Refused(NotInTrade)
    bob with ann of it: Asked
    bob with ann of it: Ended(Declined)
    ann with bob of it: Ended(Declined)
    ");
}
