//! A world with many characters, made by the database itself.

use anyhow::Result;
use tokio_postgres::Client;

use super::until;

/// Skills in the order of their columns.
const SKILLS: &[&str] = world::Skill::NAMES;
/// Characters that gain experience before the refresh that is measured.
const GAINED: u32 = 10_000;
/// The text of an id with the number `n`, as wide as the real ones.
const ID: &str = "'0199c3a0-0000-7000-8000-' || lpad(to_hex(n), 12, '0')";

/// Cost of the hiscores' refreshes for the database.
pub(super) struct Refreshed {
    pub(super) gained: u32,
    /// A refresh after so many gained experience, in seconds.
    pub(super) refresh_s: f64,
    /// Filling one list from all characters, in seconds.
    pub(super) fill_s: f64,
}

/// Fills the tables and waits until the hiscores know everybody.
pub(super) async fn fill(client: &Client, characters: u32) -> Result<Refreshed> {
    // Checks of references are off: they would take hours, and these rows are right.
    client
        .batch_execute("SET session_replication_role = replica")
        .await?;
    for statement in statements(characters) {
        client.batch_execute(&statement).await?;
    }
    client.batch_execute("VACUUM ANALYZE").await?;
    // As the migration leaves them where characters are there already.
    let unknown = "UPDATE hiscore_lists SET complete = false, entries = 0";
    client.batch_execute(unknown).await?;
    let shown = characters.min(100_000);
    let filled =
        format!("SELECT count(*) = 18 FROM hiscore_lists WHERE entries >= {shown} AND {shown} > 0");
    until(client, "all lists are filled", &filled).await?;
    let fill = "SELECT max(mean_exec_time) / 1000 FROM pg_stat_statements
                WHERE query LIKE '%INSERT INTO hiscores %FROM characters%'";
    let fill_s = client.query_one(fill, &[]).await?.try_get(0)?;
    client
        .batch_execute("VACUUM ANALYZE hiscores, hiscore_marks")
        .await?;
    let refresh_s = refresh(client, characters).await?;
    // None happens among the requests that are measured.
    let never = "UPDATE hiscore_refresh SET at = at + 1000000000000";
    client.batch_execute(never).await?;
    Ok(Refreshed {
        gained: GAINED.min(characters),
        refresh_s,
        fill_s,
    })
}

/// Lets some gain experience in every skill. Returns the cost of the refresh that sees it, in
/// seconds.
async fn refresh(client: &Client, characters: u32) -> Result<f64> {
    let spent = "SELECT coalesce(sum(total_exec_time + total_plan_time), 0) / 1000
                 FROM pg_stat_statements WHERE query LIKE '%hiscore%'
                   AND query NOT LIKE '%generate_series%'
                   AND query NOT LIKE '%pg_stat_statements%'";
    let gains: Vec<String> = SKILLS
        .iter()
        .map(|skill| format!(r#""{skill}Xp" = "{skill}Xp" * 11 / 10 + 10"#))
        .collect();
    let every = (characters / GAINED).max(1);
    let gained = format!(
        "UPDATE characters SET {} WHERE id IN
           (SELECT {ID} FROM generate_series(1, {characters}, {every}) n);
         INSERT INTO hiscore_due (character_id)
           SELECT {ID} FROM generate_series(1, {characters}, {every}) n;",
        gains.join(", ")
    );
    let before: f64 = client.query_one(spent, &[]).await?.try_get(0)?;
    client.batch_execute(&gained).await?;
    let seen = "SELECT NOT EXISTS (SELECT 1 FROM hiscore_due)";
    until(client, "the refresh has seen it", seen).await?;
    let after: f64 = client.query_one(spent, &[]).await?.try_get(0)?;
    Ok(after - before)
}

/// Returns the statements that make `characters` characters with all that belongs to them.
fn statements(characters: u32) -> [String; 5] {
    let columns: String = SKILLS
        .iter()
        .map(|skill| format!(r#", "{skill}Level", "{skill}Xp""#))
        .collect();
    // Few are good at much: the cube of a dice.
    let values = ", 1 + (random() ^ 3 * 98)::integer, (random() ^ 3 * 1.3e8)::bigint";
    let values = values.repeat(SKILLS.len());
    let series = format!("FROM generate_series(1, {characters}) n");
    [
        format!(
            r#"INSERT INTO users (id, name, "deviceKeyHash", "createdAt", "seenAt", "lookAt")
               SELECT {ID}, 'Wanderer-' || n, sha256(n::text::bytea), 1700000000000 + n,
                 1700000000000 + n, 9000000000000 + n {series}"#
        ),
        format!(
            r#"INSERT INTO characters (id, "accountId", name, "nameKey", "createdAt", "regionX",
                 "regionZ", placed {columns})
               SELECT {ID}, {ID}, 'Person ' || n, 'person ' || n, 1700000000000 + n, 0, 0, true
                 {values} {series}"#
        ),
        format!(
            r#"INSERT INTO "playerSessions"
                 ("playerId", "sessionEpoch", "sessionId", "gatewayId", login, logout, reason)
               SELECT {ID}, e, 's' || n, 'g', 1700000000000 + n * e, 1700000003000 + n * e, 'left'
               {series}, generate_series(1, 2) e"#
        ),
        format!(
            r#"INSERT INTO inventory ("playerId", "itemId", quantity, "slotIndex")
               SELECT {ID}, 'logs', 1, e {series}, generate_series(1, 2) e"#
        ),
        format!(
            r#"INSERT INTO friendships ("playerId", "friendId", "createdAt")
               SELECT {ID}, '0199c3a0-0000-7000-8000-' || lpad(to_hex(n % {characters} + 1), 12, '0'),
                 1700000000000 {series}"#
        ),
    ]
}
