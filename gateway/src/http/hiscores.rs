//! `/hiscores`: who is best at what, for everybody.
//!
//! Always: names, levels, experience and ranks, and nothing else of anybody. A page is asked of
//! the store at most once in [`KEPT`], however many look at it; while the store is away, what is
//! still known is shown.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::HeaderMap,
    response::Response,
};
use proto::rpc::queries::v1::{Page, RankingReply, RankingRequest};
use serde::Deserialize;
use serde_json::{Value, json};
use world::Skill;

use super::{
    ask::Query,
    problem::{Code, Problem},
    shapes::{self, Pagination, refused},
    stored::Stored,
};
use crate::app::App;

/// Rows of a page.
const ROWS: u32 = 25;
/// Pages that are ever shown.
pub(super) const PAGES_MAX: u32 = 4_000;
/// How long a page is good.
const KEPT: Duration = Duration::from_secs(30);
/// Pages that are kept.
const PAGES_KEPT: usize = 512;
/// What caches on the way may do.
const CACHE: &str = "public, max-age=30";
/// All skills together.
const TOTAL: &str = "total";

/// Pages that were asked for lately.
#[derive(Default)]
pub(crate) struct Hiscores(Mutex<HashMap<(String, u32), (Instant, Stored)>>);

impl Hiscores {
    /// The page, and whether it is still good.
    fn kept(&self, key: &(String, u32)) -> Option<(bool, Stored)> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, page) = kept.get(key)?;
        Some((at.elapsed() < KEPT, page.clone()))
    }

    fn keep(&self, key: (String, u32), page: Stored) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= PAGES_KEPT {
            kept.retain(|_, (at, _)| at.elapsed() < KEPT);
        }
        if kept.len() < PAGES_KEPT {
            kept.insert(key, (Instant::now(), page));
        }
    }
}

/// Which page.
#[derive(Debug, Deserialize)]
pub(super) struct Of {
    page: Option<u32>,
}

/// `GET /hiscores`
pub(super) async fn total(
    State(app): State<Arc<App>>,
    Query(of): Query<Of>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    page(&app, TOTAL, of, &headers).await
}

/// `GET /hiscores/{skill}`
pub(super) async fn skill(
    State(app): State<Arc<App>>,
    skill: Result<Path<String>, PathRejection>,
    Query(of): Query<Of>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let asked = skill.ok().map(|Path(skill)| skill);
    let mut known = names().chain([TOTAL]);
    let Some(skill) = known.find(|known| Some(*known) == asked.as_deref()) else {
        let all: Vec<&str> = names().collect();
        let why = format!(
            "There is no such skill; there are {TOTAL}, {}.",
            all.join(", ")
        );
        return Err(Problem::of(Code::NotFound, why));
    };
    page(&app, skill, of, &headers).await
}

async fn page(app: &App, skill: &str, of: Of, headers: &HeaderMap) -> Result<Response, Problem> {
    let number = of.page.unwrap_or(1);
    if !(1..=PAGES_MAX).contains(&number) {
        return Err(Problem::invalid(
            "/page",
            format!("must be 1 to {PAGES_MAX}"),
        ));
    }
    let key = (skill.to_owned(), number);
    let kept = app.hiscores.kept(&key);
    if let Some((true, page)) = &kept {
        return Ok(page.answer(headers));
    }
    let asked = Page {
        offset: (number - 1) * ROWS,
        limit: ROWS,
    };
    let ask = RankingRequest {
        skill: if skill == TOTAL { "" } else { skill }.to_owned(),
        page: Some(asked),
    };
    match app.queries.ranking(ask).await {
        Ok(reply) => {
            let body = shown(skill, number, asked, &reply).to_string();
            let page = Stored::new(body, "application/json", CACHE);
            app.hiscores.keep(key, page.clone());
            Ok(page.answer(headers))
        }
        Err(status) => match kept {
            Some((_, page)) => Ok(page.answer(headers)),
            None => Err(refused(&status)),
        },
    }
}

fn shown(skill: &str, number: u32, asked: Page, reply: &RankingReply) -> Value {
    let rows = reply
        .rows
        .iter()
        .zip(asked.offset + 1..)
        .map(|(row, rank)| {
            json!({
                "rank": rank,
                "name": row.name,
                "level": row.level,
                "xp": shapes::points(row.xp_tenths),
            })
        });
    json!({
        "skill": skill,
        "rows": rows.collect::<Vec<_>>(),
        "pagination": Pagination::of(number, asked, reply.total),
        "skills": names().collect::<Vec<_>>(),
    })
}

fn names() -> impl Iterator<Item = &'static str> {
    Skill::ALL.into_iter().map(Skill::name)
}

#[cfg(test)]
mod tests {
    use axum::http::{StatusCode, header};
    use proto::rpc::queries::v1::Ranked;

    use super::*;

    #[test]
    fn ranks_go_on_from_page_to_page_and_experience_is_told_in_points() {
        let ranked = |name: &str, level, xp_tenths| Ranked {
            name: name.to_owned(),
            level,
            xp_tenths,
        };
        let reply = RankingReply {
            rows: vec![ranked("Ann", 20, 44_705), ranked("Bob", 1, 0)],
            total: 27,
        };
        let asked = Page {
            offset: ROWS,
            limit: ROWS,
        };
        let body = shown("mining", 2, asked, &reply);
        assert_eq!(body["skill"], "mining");
        assert_eq!(
            body["rows"],
            json!([
                {"rank": 26, "name": "Ann", "level": 20, "xp": 4_470.5},
                {"rank": 27, "name": "Bob", "level": 1, "xp": 0.0},
            ])
        );
        assert_eq!(body["pagination"]["page"], 2);
        assert_eq!(body["pagination"]["total"], 27);
        assert_eq!(body["skills"].as_array().map(Vec::len), Some(17));
        // Who has the page already is not sent it again.
        let page = Stored::new(body.to_string(), "application/json", CACHE);
        let mut headers = HeaderMap::new();
        let first = page.answer(&headers);
        assert_eq!(first.status(), StatusCode::OK);
        headers.insert(header::IF_NONE_MATCH, first.headers()[header::ETAG].clone());
        assert_eq!(page.answer(&headers).status(), StatusCode::NOT_MODIFIED);
    }

    #[test]
    fn no_more_pages_are_kept_than_there_is_room_for() {
        let hiscores = Hiscores::default();
        let page = || Stored::new("x", "text/plain", CACHE);
        for number in 0..2_000 {
            hiscores.keep((TOTAL.to_owned(), number), page());
        }
        assert_eq!(hiscores.0.lock().unwrap().len(), PAGES_KEPT);
        assert!(
            hiscores
                .kept(&(TOTAL.to_owned(), 0))
                .is_some_and(|(good, _)| good)
        );
        assert!(hiscores.kept(&(TOTAL.to_owned(), 1_999)).is_none());
    }
}
