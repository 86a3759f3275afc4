//! `/hiscores`: the best characters by skill, for everybody.
//!
//! Always: a page has names, levels, experience and ranks, and nothing else of anybody. Ranks are
//! those of the store's last refresh.

use std::sync::Arc;

use axum::{
    extract::{Path, State, rejection::PathRejection},
    http::HeaderMap,
    response::Response,
};
use proto::rpc::queries::v1::{Page, RankingReply, RankingRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use world::Skill;

use super::{
    ask::Query,
    problem::{Code, Problem},
    route::{Policy, Route},
    shapes::{self, Pagination},
    stored::Stored,
    values::Within,
};
use crate::app::App;

/// Rows of a page.
const ROWS: u32 = 25;
/// Pages of a list, at most.
const PAGES_MAX: u32 = 4_000;
/// Permission for caches on the way.
const CACHE: &str = "public, max-age=30";
/// All skills together.
const TOTAL: &str = "total";

/// Length of the hiscores, and their age.
const RANKED: &str = "The list holds the best 100,000. All pages show the same refresh of it, \
which is at most a minute old; a gateway keeps a page for 30 seconds.";

pub(super) fn routes() -> Vec<Route> {
    let shown = |route: Route| {
        route
            .about(RANKED)
            .json::<Table>()
            .tagged()
            .problems(&[Code::StorageUnavailable])
    };
    vec![
        shown(Policy::Public.get("/hiscores", "Who is best at everything together", total)),
        shown(Policy::Public.get("/hiscores/{skill}", "Who is best at a skill", skill))
            .path("The skill, or `total`.", "cooking")
            .problems(&[Code::NotFound]),
    ]
}

/// Part of the list.
#[derive(Debug, Deserialize, JsonSchema)]
struct Of {
    /// Page of the list, from 1.
    page: Option<Within<1, PAGES_MAX>>,
}

async fn total(
    State(app): State<Arc<App>>,
    Query(of): Query<Of>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    page(&app, TOTAL, of, &headers).await
}

async fn skill(
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
    let number = of.page.map_or(1, Within::get);
    let asked = Page {
        offset: (number - 1) * ROWS,
        limit: ROWS,
    };
    let request = RankingRequest {
        skill: if skill == TOTAL { "" } else { skill }.to_owned(),
        page: Some(asked),
    };
    let ask = async {
        let reply = app.queries.ranking(request).await?;
        let body = proto::encode::json(&shown(skill, number, asked, &reply));
        Ok(Stored::new(body, "application/json", CACHE))
    };
    let page = app
        .served
        .hiscores
        .page((skill.to_owned(), number), ask)
        .await?;
    Ok(page.answer(headers))
}

/// A rank of a list.
#[derive(Debug, Serialize, JsonSchema)]
struct Rank {
    #[schemars(example = 1)]
    rank: u32,
    #[schemars(example = &"Ann")]
    name: String,
    level: u32,
    xp: f64,
}

/// A page of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Hiscores")]
struct Table {
    #[schemars(example = &"cooking")]
    skill: String,
    rows: Vec<Rank>,
    pagination: Pagination,
    /// Skills that have a list of their own.
    #[schemars(example = ["attack", "cooking"])]
    skills: Vec<&'static str>,
}

fn shown(skill: &str, number: u32, asked: Page, reply: &RankingReply) -> Table {
    let rows = reply.rows.iter().zip(asked.offset + 1..);
    let rows = rows.map(|(row, rank)| Rank {
        rank,
        name: row.name.clone(),
        level: row.level,
        xp: shapes::points(row.xp_tenths),
    });
    Table {
        skill: skill.to_owned(),
        rows: rows.collect(),
        pagination: Pagination::of(number, asked, reply.total),
        skills: names().collect(),
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    Skill::NAMES.iter().copied()
}

#[cfg(test)]
mod tests {
    use axum::http::{StatusCode, header};
    use proto::rpc::queries::v1::Ranked;
    use serde_json::json;

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
        let body = serde_json::to_value(shown("mining", 2, asked, &reply)).unwrap();
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
        assert_eq!(body["skills"], json!(Skill::NAMES));
        // A client that has the page does not get it again.
        let page = Stored::new(body.to_string(), "application/json", CACHE);
        let mut headers = HeaderMap::new();
        let first = page.answer(&headers);
        assert_eq!(first.status(), StatusCode::OK);
        headers.insert(header::IF_NONE_MATCH, first.headers()[header::ETAG].clone());
        assert_eq!(page.answer(&headers).status(), StatusCode::NOT_MODIFIED);
    }
}
