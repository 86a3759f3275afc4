//! Sends batches to the store, each until it is answered.
//!
//! Always: the committer sends a batch with an unknown outcome again, unchanged; the store knows by
//! its sequence whether it has applied it. Rows of positions go only to a store that has said it
//! knows them. Another one gets rows of characters that write the same, so that it does not matter
//! which of the two forms of a batch the store applied.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use opentelemetry::{
    Context, KeyValue,
    trace::{Link, Span, SpanContext, SpanKind, TraceContextExt, Tracer as _},
};
use proto::rpc::persistence::v1::{
    CommitHeader, CommitPart, CommitReply, commit_part::Part, commit_reply::Outcome,
};
use service_runtime::telemetry::{Tracer, traceparent};
use tokio::sync::mpsc;
use tonic::{Code, Status};

use super::{batch::Sending, rows};
use crate::{
    mailbox::{Mailbox, StoreMessage},
    metrics::Metrics,
    ownership::lease::Pulse,
    store::Store,
};

type TracerSpan = <Tracer as opentelemetry::trace::Tracer>::Span;

/// The sender of a run's batches.
pub(crate) struct Committer {
    pub(crate) run_id: u64,
    pub(crate) store: Store,
    pub(crate) mailbox: Mailbox,
    pub(crate) metrics: Metrics,
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) tracer: Tracer,
    pub(crate) positions: Positions,
}

/// Time for which a run sends no rows of positions after a service took none.
const NO_POSITIONS: Duration = Duration::from_secs(60);

/// Whether the services that answer take rows of positions. Services of 0.2.0 take a batch with such
/// rows for one that was cut off.
#[derive(Debug)]
pub(crate) struct Positions {
    known: bool,
    /// Moment at which a service took a batch with such rows for one that was cut off.
    cut_off_at: Option<Instant>,
}

impl Positions {
    /// Returns the knowledge of a run whose registration a service answered that takes such rows, or
    /// takes none.
    pub(crate) fn new(known: bool) -> Positions {
        Positions {
            known,
            cut_off_at: None,
        }
    }

    /// Notes that a service answered a batch, and whether it takes such rows.
    fn answered(&mut self, known: bool, now: Instant) {
        let mixed = |at: Instant| now.saturating_duration_since(at) < NO_POSITIONS;
        self.known = known && !self.cut_off_at.is_some_and(mixed);
    }

    /// Notes that a service took the batch for one that was cut off. Returns whether the reason may
    /// be such a row, so that the batch should go again without them.
    fn cut_off(&mut self, now: Instant) -> bool {
        self.cut_off_at = Some(now);
        std::mem::replace(&mut self.known, false)
    }
}

impl Committer {
    /// Sends the batches one after the other until the run drops its end of the channel.
    pub(crate) async fn work(mut self, mut batches: mpsc::Receiver<Sending>) {
        while let Some(sending) = batches.recv().await {
            let reply = self.until_answered(&sending).await;
            let sequence = sending.sequence;
            let answered = || StoreMessage::Answered {
                sequence,
                reply: reply.clone(),
            };
            self.mailbox.insist(answered).await;
        }
    }

    async fn until_answered(&mut self, sending: &Sending) -> CommitReply {
        let mut backoff = service_runtime::rpc::Backoff::new();
        let mut away = false;
        loop {
            let begun = Instant::now();
            match self.send(sending).await {
                Ok(reply) => {
                    self.positions
                        .answered(reply.knows_positions, Instant::now());
                    if away {
                        tracing::info!(sequence = sending.sequence, "the store answers again");
                    }
                    let took = begun.elapsed();
                    self.measure(outcome(&reply), took, sending);
                    self.pulse.commit.note(took);
                    return reply;
                }
                Err(status) => {
                    self.measure("unanswered", begun.elapsed(), sending);
                    let narrow = !sending.rows.positions.is_empty();
                    if status.code() == Code::DataLoss
                        && narrow
                        && self.positions.cut_off(Instant::now())
                    {
                        tracing::warn!(
                            "a service of the release before takes no rows of positions"
                        );
                        continue;
                    }
                    if !away {
                        let sequence = sending.sequence;
                        tracing::warn!(sequence, %status, "the store does not answer a commit");
                    }
                    away = true;
                    // A run that misses this message notices by the ticks that pass.
                    let _ = self.mailbox.say(StoreMessage::CommitFailed).await;
                    backoff.wait().await;
                }
            }
        }
    }

    /// Records an attempt, within the trace of the batch's first tick.
    fn measure(&self, outcome: &'static str, took: Duration, sending: &Sending) {
        let first = sending.traces.split().map(|(first, _)| first.clone());
        let _within = first.map(|tick| Context::new().with_remote_span_context(tick).attach());
        self.metrics.commit(outcome, took, &sending.rows);
    }

    async fn send(&self, sending: &Sending) -> Result<CommitReply, Status> {
        let (mut span, traceparents) = span(&self.tracer, sending);
        let parts = if self.positions.known {
            parts(self.run_id, sending, traceparents)
        } else {
            let rows = rows::without_positions(&sending.rows, &sending.combat_levels);
            let sending = Sending {
                rows: Arc::new(rows),
                ..sending.clone()
            };
            parts(self.run_id, &sending, traceparents)
        };
        let deadline = Duration::from_millis(2000 + rows::count(&sending.rows) as u64);
        let mut client = self.store.runs();
        let call = client.commit(tokio_stream::iter(parts));
        let answer = match tokio::time::timeout(deadline, call).await {
            Ok(answer) => answer.map(tonic::Response::into_inner),
            Err(_) => Err(Status::deadline_exceeded("no answer to the commit")),
        };
        let answer = answer.and_then(known);
        if let Some(span) = &mut span {
            let text = answer.as_ref().map_or("unanswered", outcome);
            span.set_attribute(KeyValue::new("outcome", text));
            span.end();
        }
        answer
    }
}

/// Starts the span of an attempt at a batch, within the trace of the first tick that the batch makes
/// durable. Returns it with the trace contexts for the store: its own, and those of the other ticks.
/// Returns no span if no tick was traced.
fn span(tracer: &Tracer, sending: &Sending) -> (Option<TracerSpan>, Vec<String>) {
    let Some((parent, others)) = sending.traces.split() else {
        return (None, Vec::new());
    };
    let link = |tick: &SpanContext| Link::new(tick.clone(), Vec::new(), 0);
    let span = tracer
        .span_builder("zone.commit")
        .with_kind(SpanKind::Client)
        .with_attributes([KeyValue::new("rows", rows::count(&sending.rows) as i64)])
        .with_links(others.iter().map(link).collect())
        .start_with_context(
            tracer,
            &Context::new().with_remote_span_context(parent.clone()),
        );
    let own = std::iter::once(span.span_context());
    let traceparents = own.chain(others).map(traceparent).collect();
    (Some(span), traceparents)
}

/// Returns the messages of a batch. The first of `traceparents` is the parent of the store's span.
pub(crate) fn parts(run_id: u64, sending: &Sending, traceparents: Vec<String>) -> Vec<CommitPart> {
    let header = CommitHeader {
        run_id,
        sequence: sending.sequence,
        tick: sending.tick,
        rows: u32::try_from(rows::count(&sending.rows)).unwrap_or(u32::MAX),
        traceparent: traceparents.first().cloned().unwrap_or_default(),
        traceparents,
        traceparents_left_out: sending.traces.left_out(),
    };
    let parts = std::iter::once(Part::Header(header)).chain(rows::parts(&sending.rows));
    parts.map(|part| CommitPart { part: Some(part) }).collect()
}

/// Takes an outcome that only a newer store knows for no answer: the run sends the batch again, and
/// neither ends nor takes anything for saved.
fn known(reply: CommitReply) -> Result<CommitReply, Status> {
    match Outcome::try_from(reply.outcome) {
        Ok(_) => Ok(reply),
        Err(_) => {
            let number = reply.outcome;
            let why = format!("this version does not know outcome {number} of a commit");
            Err(Status::unknown(why))
        }
    }
}

fn outcome(reply: &CommitReply) -> &'static str {
    match reply.outcome() {
        Outcome::Done => "done",
        Outcome::Fenced => "fenced",
        Outcome::Refused => "refused",
        Outcome::TransferStale => "transfer_stale",
        Outcome::Unspecified => "unspecified",
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry::trace::{SpanId, TraceFlags, TraceId, TraceState};
    use service_runtime::telemetry::{Telemetry, TelemetryConfig};

    use super::*;
    use crate::commit::traces::Traces;

    #[test]
    fn positions_go_only_to_a_store_that_knows_them_and_again_after_a_while() {
        let begun = Instant::now();
        let after = |seconds| begun + Duration::from_secs(seconds);
        let mut positions = Positions::new(false);
        assert!(!positions.cut_off(begun), "there was none in it");
        let mut positions = Positions::new(true);
        positions.answered(false, begun);
        assert!(
            !positions.known,
            "the next service is of the release before"
        );
        positions.answered(true, begun);
        assert!(positions.known);
        assert!(positions.cut_off(begun), "now without them");
        assert!(!positions.known && !positions.cut_off(begun));
        positions.answered(true, after(59));
        assert!(!positions.known, "both kinds may answer");
        positions.answered(true, after(60));
        assert!(positions.known);
    }

    #[tokio::test]
    async fn a_batch_names_its_own_span_first_and_then_the_ticks_beside_the_first() {
        let telemetry = Telemetry::new("zone-server", &TelemetryConfig::default()).unwrap();
        let mut sending = Sending {
            sequence: 1,
            tick: 1,
            rows: Arc::default(),
            combat_levels: [].into(),
            traces: Traces::default(),
        };
        let none = span(&telemetry.tracer(), &sending);
        assert!(none.0.is_none() && none.1.is_empty());
        let ticks = [1_u64, 2, 3].map(|number| {
            let (trace, own) = (TraceId::from(u128::from(number)), SpanId::from(number));
            SpanContext::new(trace, own, TraceFlags::SAMPLED, false, TraceState::NONE)
        });
        for tick in &ticks {
            sending.traces.note(tick.clone(), true);
        }
        let (own, named) = span(&telemetry.tracer(), &sending);
        let own = own.unwrap().span_context().clone();
        assert_eq!(own.trace_id(), ticks[0].trace_id(), "within the first");
        let expected = [&own, &ticks[1], &ticks[2]].map(traceparent);
        assert_eq!(named, expected);
        let parts = parts(7, &sending, named);
        let Some(Part::Header(header)) = &parts[0].part else {
            panic!("a batch begins with its header");
        };
        assert_eq!(header.traceparents, expected);
        assert_eq!(header.traceparent, expected[0], "for older services");
        assert_eq!(header.traceparents_left_out, 0);
    }

    #[test]
    fn an_outcome_of_a_newer_store_counts_as_no_answer() {
        let reply = |outcome| CommitReply {
            outcome,
            ..CommitReply::default()
        };
        assert!(known(reply(Outcome::Done.into())).is_ok());
        assert!(known(reply(Outcome::Refused.into())).is_ok());
        let unknown = known(reply(1_000_000)).unwrap_err();
        assert!(unknown.message().contains("outcome 1000000"), "{unknown}");
    }
}
