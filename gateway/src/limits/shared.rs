//! The windows in Redis, which all gateways share. The script decides as `window.rs` does; a test
//! plays random stories against both.
//!
//! Always: a call takes at most 20 ms. After three calls in a row without an answer, the gateway
//! leaves Redis alone for a second. Only Redis' clock counts, never a gateway's own.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use redis::Script;
use tokio::time::timeout;

use super::{
    breaker::Breaker,
    subject::Subject,
    window::{Refusal, Rule, Standing},
};
use crate::{
    clock,
    social::{bus::Away, redis_bus::RedisBus, redis_cluster::ClusterBus},
};

/// Time for which a request waits for Redis.
const DEADLINE: Duration = Duration::from_millis(20);

/// KEYS: passes, refusals, end of the block. ARGV: passes at most, length in ms, refusals that
/// block, block in ms, now in ms or -1 for Redis' own time. Returns whether the request passes,
/// how many more would, the time in ms until one more does, and whether that is a block.
const SCRIPT: &str = r"
local most, length = tonumber(ARGV[1]), tonumber(ARGV[2])
local refusals, block, now = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
if now < 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local blocked = tonumber(redis.call('GET', KEYS[3]) or '0') - now
if blocked > 0 and blocked <= block then return {0, 0, blocked, 1} end
local function first_of(key)
  local first = tonumber(redis.call('LINDEX', key, 0) or '')
  while first and now - first >= length do
    redis.call('LPOP', key)
    first = tonumber(redis.call('LINDEX', key, 0) or '')
  end
  if first and first > now + 1000 then
    -- The clock went back: nothing can be said of what was.
    redis.call('DEL', key)
    return nil
  end
  return first
end
local function add(key)
  local count = redis.call('RPUSH', key, string.format('%.0f', now))
  redis.call('PEXPIRE', key, length)
  return count
end
local first = first_of(KEYS[1])
if not first or redis.call('LLEN', KEYS[1]) < most then
  return {1, most - add(KEYS[1]), (first or now) + length - now, 0}
end
first_of(KEYS[2])
if redis.call('LLEN', KEYS[2]) < refusals - 1 then
  add(KEYS[2])
  return {0, 0, first + length - now, 0}
end
redis.call('SET', KEYS[3], string.format('%.0f', now + block), 'PX', block)
return {0, 0, block, 1}
";

/// The Redis that has the windows.
#[derive(Clone)]
pub(crate) enum Keeper {
    Server(RedisBus),
    Cluster(ClusterBus),
}

/// The windows in Redis.
pub(crate) struct Shared {
    keeper: Keeper,
    script: Script,
    breaker: Mutex<Breaker>,
}

impl Shared {
    pub(crate) fn new(keeper: Keeper) -> Self {
        Self {
            keeper,
            script: Script::new(SCRIPT),
            breaker: Mutex::default(),
        }
    }

    /// Counts a pass in Redis, or refuses it; `None` when Redis does not answer in time.
    pub(crate) async fn pass(
        &self,
        rule: Rule,
        who: &Subject,
    ) -> Option<Result<Standing, Refusal>> {
        let breaker = || self.breaker.lock().unwrap_or_else(PoisonError::into_inner);
        if !breaker().allows(clock::instant()) {
            return None;
        }
        let asked = timeout(DEADLINE, self.ask(rule, who, None)).await;
        let answer = match asked {
            Ok(Ok(answer)) => Some(answer),
            Ok(Err(Away)) | Err(_) => None,
        };
        breaker().told(answer.is_some(), clock::instant());
        answer
    }

    async fn ask(
        &self,
        rule: Rule,
        who: &Subject,
        now_ms: Option<i64>,
    ) -> Result<Result<Standing, Refusal>, Away> {
        // The braces keep the keys of one subject on one node of a Redis cluster.
        let key = |what: &str| format!("limit:{{{}:{who}}}:{what}", rule.name);
        let passes = key("passes");
        let mut call = self.script.key(&passes);
        call.key(key("refusals")).key(key("block"));
        call.arg(rule.most).arg(ms(rule.length)).arg(rule.refusals);
        call.arg(ms(rule.block)).arg(now_ms.unwrap_or(-1));
        let (passed, left, time, blocked): (u8, usize, u64, u8) = match &self.keeper {
            Keeper::Server(bus) => {
                let answer = call.invoke_async(&mut bus.manager()).await;
                answer.map_err(|error| {
                    tracing::debug!(kind = ?error.kind(), "Redis refused or is away");
                    Away
                })?
            }
            Keeper::Cluster(bus) => bus.invoke(&passes, &call).await?,
        };
        let time = Duration::from_millis(time);
        Ok(match passed {
            1 => Ok(Standing {
                left,
                more_in: time,
            }),
            _ => Err(Refusal {
                wait: time,
                blocked: blocked == 1,
            }),
        })
    }
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
