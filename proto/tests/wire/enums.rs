//! Each enumeration and each choice that crosses between processes, and what a process makes of a
//! number that only a newer release knows.

use super::{facts, here, read};

/// The field, and what its receiver does with an unknown number. A new field needs a row, and the
/// receiver a test or a safe default.
const TREATMENT: &[(&str, &str)] = &[
    // Persistence service.
    (
        "tilestead.persistence.v1.LedgerRow.balance",
        "the store answers UNAVAILABLE and applies nothing: the zone sends the batch again, to a \
         replica that knows it (persistence-svc: what_only_a_newer_process_says_is_not_misread)",
    ),
    (
        "tilestead.persistence.v1.EndedRequest.reason",
        "the store counts a fault of the named regions, as for a panic, and ends the run \
         (what_only_a_newer_process_says_is_not_misread)",
    ),
    (
        "tilestead.identity.v1.ModerateRequest.action",
        "the store refuses the request by its number (what_only_a_newer_process_says_is_not_misread)",
    ),
    (
        "tilestead.persistence.v1.CommitPart.part",
        "the store refuses the call before it reads the batch: the zone sends it again \
         (what_only_a_newer_process_says_is_not_misread)",
    ),
    (
        "tilestead.agents.v1.OrderRequest.order",
        "the store refuses the request: no order",
    ),
    (
        "tilestead.social.v1.ChangeRequest.change",
        "the store refuses the request: no change",
    ),
    // Zone server.
    (
        "tilestead.persistence.v1.CommitReply.outcome",
        "the zone takes it for no answer and sends the batch again \
         (zone-server: an_outcome_of_a_newer_store_counts_as_no_answer)",
    ),
    (
        "tilestead.persistence.v1.RenewReply.state",
        "the run goes on as one that lives: only FENCED ends it, and the store itself refuses what \
         a fenced run writes (zone-server: what_only_a_newer_store_says_ends_no_run)",
    ),
    (
        "tilestead.zone.v1.ToZone.message",
        "the zone passes over the message; the gateway asks again for what it has no answer to \
         (zone-server: what_only_a_newer_gateway_says_is_passed_over)",
    ),
    // Gateway and zone server.
    (
        "tilestead.persistence.v1.Run.state",
        "the run counts as one that lives: only FENCED ends and only DRAINING empties it \
         (both: a_run_of_a_state_that_only_a_newer_store_knows_lives)",
    ),
    (
        "tilestead.zone.v1.FromZone.message",
        "the gateway passes over the message; it asks again for what it has no answer to \
         (gateway: what_only_a_newer_zone_says_is_passed_over)",
    ),
    // Gateway.
    (
        "tilestead.identity.v1.Sanction.kind",
        "the gateway logs it, and it has no effect there until a newer gateway reads it \
         (gateway: a_sanction_of_a_newer_version_has_no_effect)",
    ),
    (
        "tilestead.social.v1.ChangeReply.outcome",
        "the player gets the error INTERNAL, and the lists of the reply \
         (gateway: a_refusal_that_only_a_newer_store_knows_is_an_error)",
    ),
    (
        "tilestead.zone.v1.Field.value",
        "the gateway shows the thing without the field (view: typed_fields_say_the_same_as_json, \
         where a field without a value is none)",
    ),
    (
        "tilestead.personal.v1.DeleteAccountReply.outcome",
        "the player gets the error INTERNAL and keeps the account: the store deletes nothing when it \
         refuses (gateway: who_is_kept_for_a_reason_that_only_a_newer_store_knows_plays_on)",
    ),
];

#[test]
fn every_enumeration_has_a_treatment() {
    let found = facts::choices(&read(&here("protos")));
    let mut known: Vec<&str> = TREATMENT.iter().map(|(field, _)| *field).collect();
    known.sort_unstable();
    assert_eq!(found, known);
    assert!(TREATMENT.iter().all(|(_, said)| !said.is_empty()));
}
