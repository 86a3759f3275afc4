//! `Runs.Commit`: collects a batch, lets the store apply it, and returns the outcome.
//!
//! Always: the store applies nothing before the whole batch is here; a batch with wrong content
//! gets REFUSED, because a second attempt would not help; an incomplete batch gets an error,
//! because a second attempt would help.

use std::sync::Arc;
use std::time::{Duration, Instant};

use opentelemetry::trace::{
    FutureExt, Link, Span, SpanKind, Status as SpanStatus, TraceContextExt, Tracer,
};
use opentelemetry::{Context, KeyValue};
use prost::Message;
use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::commit_part::Part;
use proto::rpc::persistence::v1::commit_reply::Outcome;
use service_runtime::telemetry::{CONTEXTS_MAX, parse_traceparent, sampled};
use tokio::time::{Instant as Moment, timeout, timeout_at};
use tonic::{Code, Response, Status, Streaming};

use super::model::{number, position, row, wire_region};
use super::{Desk, Failure, value};
use crate::placement::planner::millis;
use crate::store::error::StoreError;
use crate::store::model::{Batch, CommitOutcome};

/// Rows of one batch, all kinds together.
const ROWS_MAX: usize = 60_000;
/// Bytes of one batch.
const BYTES_MAX: usize = 32 * 1024 * 1024;
/// The deadline of a batch of no rows.
const BASE: Duration = Duration::from_secs(2);
/// Time that each row adds to the deadline.
const EACH: Duration = Duration::from_millis(1);
/// Time that a batch may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(10);

/// Answers one stream.
pub(crate) async fn commit(
    desk: &Desk,
    stream: Streaming<wire::CommitPart>,
) -> Result<Response<wire::CommitReply>, Status> {
    let answered = answer(desk, stream).await;
    let code = answered.as_ref().map_or_else(Status::code, |_| Code::Ok);
    desk.metrics.called("Commit", code);
    answered.map(Response::new)
}

async fn answer(
    desk: &Desk,
    stream: Streaming<wire::CommitPart>,
) -> Result<wire::CommitReply, Status> {
    desk.is_open()?;
    let begun = Instant::now();
    let (header, rows) = collect(stream).await?;
    if let Some(number) = rows.as_ref().ok().and_then(value::unknown_balance) {
        // A refusal would end the run. So it sends the batch again, to a replica that knows it.
        let why =
            format!("this version does not know balance class {number}: a newer one must answer");
        if let Some(left_out) = sampled("a batch of a newer version", "Commit") {
            tracing::warn!(
                run = header.run_id,
                number,
                left_out,
                "a newer zone server needs a newer store"
            );
        }
        return Err(Status::unavailable(why));
    }
    let batch = match rows.and_then(|rows| batch(desk, &header, rows)) {
        Ok(batch) => Arc::new(batch),
        Err(wrong) => {
            tracing::warn!(run = header.run_id, detail = wrong.detail, "batch refused");
            desk.metrics.committed("refused", 0, begun.elapsed());
            return Ok(reply(Outcome::Refused, wrong.ids, wrong.detail));
        }
    };
    let (done, span) = traced(desk, &header, &batch).await;
    let outcome = match &done {
        Ok(CommitOutcome::Done { repeated: false }) => "done",
        Ok(CommitOutcome::Done { repeated: true }) => "repeated",
        Ok(CommitOutcome::Fenced) => "fenced",
        Ok(CommitOutcome::Refused { .. }) => "refused",
        Ok(CommitOutcome::TransferStale { .. }) => "transfer_stale",
        Err(_) => "failed",
    };
    {
        let _within = span.attach();
        desk.metrics
            .committed(outcome, batch.len(), begun.elapsed());
    }
    match done {
        Ok(CommitOutcome::Done { .. }) => Ok(reply(Outcome::Done, Vec::new(), String::new())),
        Ok(CommitOutcome::Fenced) => {
            let detail = "the run is fenced".to_owned();
            Ok(reply(Outcome::Fenced, Vec::new(), detail))
        }
        Ok(CommitOutcome::Refused { ids, detail }) => {
            tracing::warn!(run = batch.run, detail, "batch refused");
            Ok(reply(Outcome::Refused, ids, detail))
        }
        Ok(CommitOutcome::TransferStale {
            ids,
            regions,
            detail,
        }) => Ok(wire::CommitReply {
            regions: regions.into_iter().map(wire_region).collect(),
            ..reply(Outcome::TransferStale, ids, detail)
        }),
        Err(error) => Err(desk.status("Commit", Failure::Store(error))),
    }
}

fn reply(outcome: Outcome, character_ids: Vec<String>, detail: String) -> wire::CommitReply {
    wire::CommitReply {
        outcome: outcome.into(),
        character_ids,
        detail,
        regions: Vec::new(),
        knows_positions: true,
    }
}

/// Reason why the store can never apply a batch.
struct Wrong {
    ids: Vec<String>,
    detail: String,
}

fn wrong(detail: impl Into<String>) -> Wrong {
    Wrong {
        ids: Vec::new(),
        detail: detail.into(),
    }
}

type Rows = Result<wire::CommitRows, Wrong>;

fn count(rows: &wire::CommitRows) -> usize {
    let value = rows.ground.len() + rows.gone.len() + rows.ledger.len();
    let regions = rows.gives.len() + rows.chunks.len() + rows.states.len();
    rows.characters.len() + rows.positions.len() + value + regions
}

fn extend(rows: &mut wire::CommitRows, more: wire::CommitRows) {
    rows.characters.extend(more.characters);
    rows.positions.extend(more.positions);
    rows.ground.extend(more.ground);
    rows.gone.extend(more.gone);
    rows.ledger.extend(more.ledger);
    rows.gives.extend(more.gives);
    rows.chunks.extend(more.chunks);
    rows.states.extend(more.states);
}

/// Reads the whole stream, so that the answer does not cut off a caller that still sends.
async fn collect(
    mut stream: Streaming<wire::CommitPart>,
) -> Result<(wire::CommitHeader, Rows), Status> {
    let deadline = Moment::now() + ARRIVAL;
    let mut header: Option<wire::CommitHeader> = None;
    let mut rows = wire::CommitRows::default();
    let mut bytes = 0;
    let late = |_| Status::deadline_exceeded("the batch did not arrive in time");
    while let Some(part) = timeout_at(deadline, stream.message())
        .await
        .map_err(late)??
    {
        bytes += part.encoded_len();
        match (part.part, &header) {
            (Some(Part::Header(first)), None) => header = Some(first),
            (Some(Part::Rows(more)), Some(_)) => extend(&mut rows, more),
            (_, None) => return Err(Status::invalid_argument("a batch begins with its header")),
            (_, Some(_)) => return Err(Status::invalid_argument("rows follow the header")),
        }
        if let Some(header) = &header
            && (count(&rows) > ROWS_MAX || bytes > BYTES_MAX)
        {
            let limit = format!("a batch has at most {ROWS_MAX} rows and {BYTES_MAX} bytes");
            return Ok((header.clone(), Err(wrong(limit))));
        }
    }
    let header = header.ok_or_else(|| Status::invalid_argument("an empty batch"))?;
    let said = usize::try_from(header.rows).unwrap_or(usize::MAX);
    if count(&rows) < said {
        return Err(Status::data_loss("the batch was cut off"));
    }
    if count(&rows) > said {
        return Ok((header, Err(wrong("more rows than the header says"))));
    }
    Ok((header, Ok(rows)))
}

fn why(failure: Failure) -> Wrong {
    match failure {
        Failure::Malformed(why) => wrong(why),
        Failure::Store(error) => wrong(error.to_string()),
    }
}

fn batch(desk: &Desk, header: &wire::CommitHeader, rows: wire::CommitRows) -> Result<Batch, Wrong> {
    let sequence = number("sequence", header.sequence).map_err(why)?;
    if sequence == 0 {
        return Err(wrong("sequences begin at 1"));
    }
    let of = |one: &wire::CharacterRow| one.record.as_ref().map(|record| record.id.clone());
    Ok(Batch {
        run: number("run_id", header.run_id).map_err(why)?,
        sequence,
        tick: number("tick", header.tick).map_err(why)?,
        rows: checked(rows.characters, of, row)?,
        positions: checked(rows.positions, |row| Some(row.id.clone()), position)?,
        ground: checked(rows.ground, |_| None, value::ground_item)?,
        gone: checked(rows.gone, |_| None, value::ground_gone)?,
        ledger: checked(
            rows.ledger,
            |row| Some(row.character_id.clone()).filter(|id| !id.is_empty()),
            value::ledger_row,
        )?,
        gives: checked(rows.gives, |_| None, value::region_give)?,
        chunks: checked(rows.chunks, |_| None, value::chunk)?,
        states: checked(rows.states, |_| None, value::region_state)?,
        lease_ms: millis(desk.lease),
    })
}

/// Reads rows of one kind. An error names the character of the wrong row.
fn checked<W, R>(
    rows: Vec<W>,
    of: impl Fn(&W) -> Option<String>,
    read: impl Fn(W) -> Result<R, Failure>,
) -> Result<Vec<R>, Wrong> {
    let read = |one: W| {
        let id = of(&one);
        read(one).map_err(|failure| Wrong {
            ids: id.into_iter().collect(),
            ..why(failure)
        })
    };
    rows.into_iter().map(read).collect()
}

/// Returns the parent of a commit's span, and its links to the other ticks that the batch makes
/// durable. What is no trace context counts for none.
fn contexts(header: &wire::CommitHeader) -> (Context, Vec<Link>) {
    // Zones of 0.2.0 name one.
    let named = if header.traceparents.is_empty() {
        std::slice::from_ref(&header.traceparent)
    } else {
        &header.traceparents
    };
    let named = named.iter().take(CONTEXTS_MAX);
    let mut known = named.filter_map(|text| parse_traceparent(text));
    let parent = known.next().map_or_else(Context::new, |remote| {
        Context::new().with_remote_span_context(remote)
    });
    let links = known.map(|tick| Link::new(tick, Vec::new(), 0));
    (parent, links.collect())
}

/// Applies the batch under a span within the trace of its first tick, and one for the database.
/// Returns the first span as well.
async fn traced(
    desk: &Desk,
    header: &wire::CommitHeader,
    batch: &Arc<Batch>,
) -> (Result<CommitOutcome, StoreError>, Context) {
    let (parent, links) = contexts(header);
    let left_out = header.traceparents.len().saturating_sub(CONTEXTS_MAX);
    let left_out = i64::from(header.traceparents_left_out)
        .saturating_add(i64::try_from(left_out).unwrap_or(i64::MAX));
    let rows = i64::try_from(batch.len()).unwrap_or(i64::MAX);
    let commit = desk
        .tracer
        .span_builder("tilestead.persistence.v1.Runs/Commit")
        .with_kind(SpanKind::Server)
        .with_attributes([
            KeyValue::new("rpc.system", "grpc"),
            KeyValue::new("tilestead.run", batch.run),
            KeyValue::new("tilestead.sequence", batch.sequence),
            KeyValue::new("tilestead.tick", batch.tick),
            KeyValue::new("tilestead.ticks_left_out", left_out),
        ])
        .with_links(links)
        .start_with_context(&desk.tracer, &parent);
    let here = parent.with_span(commit);
    let system = desk.store.system();
    let mut sql = desk
        .tracer
        .span_builder("BATCH characters")
        .with_kind(SpanKind::Client)
        .with_attributes([
            KeyValue::new("db.system", system),
            KeyValue::new("db.system.name", system),
            KeyValue::new("db.operation.name", "BATCH"),
            KeyValue::new("db.collection.name", "characters"),
            KeyValue::new("db.operation.batch.size", rows),
        ])
        .start_with_context(&desk.tracer, &here);
    let limit = BASE + EACH * u32::try_from(batch.len()).unwrap_or(u32::MAX);
    let applied = timeout(limit, desk.store.commit(Arc::clone(batch)));
    let done = match applied.with_context(here.clone()).await {
        Ok(done) => done,
        Err(_) => Err(StoreError::Away("no answer in time".to_owned())),
    };
    let failed = done.as_ref().err().map(ToString::to_string);
    if let Some(why) = failed {
        sql.set_status(SpanStatus::error(why.clone()));
        here.span().set_status(SpanStatus::error(why));
    }
    sql.end();
    here.span().end();
    (done, here)
}
