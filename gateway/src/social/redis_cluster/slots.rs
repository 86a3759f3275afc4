//! The slots of a cluster, and the node that has each. Pure.
//!
//! Always: an answer of a node that makes no sense changes nothing.

use redis::Value;

use crate::social::redis_server::NodeAddress;

/// Number of slots of a cluster.
const SLOTS: u16 = 16_384;

/// The node of each slot.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct SlotMap {
    /// First and last slot with their node, in order.
    ranges: Vec<(u16, u16, NodeAddress)>,
}

impl SlotMap {
    /// Reads a node's answer to `CLUSTER SLOTS`. `asked`: the host of that node, which it does not
    /// always name. `None`: the answer names no range, or makes no sense.
    pub(super) fn read(answer: &Value, asked: &str) -> Option<Self> {
        let Value::Array(rows) = answer else {
            return None;
        };
        let ranges = rows.iter().map(|row| range(row, asked));
        let mut ranges = ranges.collect::<Option<Vec<_>>>()?;
        ranges.sort_unstable();
        let apart = ranges.windows(2).all(|two| match two {
            [one, other] => one.1 < other.0,
            _ => true,
        });
        (apart && !ranges.is_empty()).then_some(Self { ranges })
    }

    /// Returns the node that has the slot of a key or channel.
    pub(super) fn node(&self, key: &str) -> Option<&NodeAddress> {
        let slot = slot(key);
        let after = self.ranges.partition_point(|(_, last, _)| *last < slot);
        let (first, _, node) = self.ranges.get(after)?;
        (*first <= slot).then_some(node)
    }

    /// Returns the nodes that have slots.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &NodeAddress> {
        self.ranges.iter().map(|(_, _, node)| node)
    }

    /// Returns whether each slot has a node.
    pub(super) fn is_whole(&self) -> bool {
        let sizes = self
            .ranges
            .iter()
            .map(|(first, last, _)| u32::from(last - first) + 1);
        sizes.sum::<u32>() == u32::from(SLOTS)
    }
}

/// Reads a row: first slot, last slot, the master, and its replicas.
fn range(row: &Value, asked: &str) -> Option<(u16, u16, NodeAddress)> {
    let Value::Array(parts) = row else {
        return None;
    };
    let [first, last, master, ..] = parts.as_slice() else {
        return None;
    };
    let (first, last) = (number(first)?, number(last)?);
    let Value::Array(master) = master else {
        return None;
    };
    let [host, port, ..] = master.as_slice() else {
        return None;
    };
    let host = match host {
        Value::BulkString(host) => std::str::from_utf8(host).ok()?,
        Value::SimpleString(host) => host,
        Value::Nil => "",
        _ => return None,
    };
    // Such a node means the address by which it was asked.
    let host = if matches!(host, "" | "?") {
        asked
    } else {
        host
    };
    let node = NodeAddress {
        host: host.to_owned(),
        port: number(port)?,
    };
    (first <= last && last < SLOTS).then_some((first, last, node))
}

fn number(value: &Value) -> Option<u16> {
    match value {
        Value::Int(number) => u16::try_from(*number).ok(),
        _ => None,
    }
}

/// Returns the slot of a key or channel: that of its part in braces, if it has one.
pub(super) fn slot(key: &str) -> u16 {
    let inner = key
        .split_once('{')
        .and_then(|(_, rest)| rest.split_once('}'));
    let hashed = inner.map_or(key, |(inner, _)| if inner.is_empty() { key } else { inner });
    crc16(hashed.as_bytes()) % SLOTS
}

/// Returns the CRC-16 of Redis Cluster (XMODEM).
fn crc16(bytes: &[u8]) -> u16 {
    let mut crc = 0_u16;
    for byte in bytes {
        crc ^= u16::from(*byte) << 8;
        for _ in 0..8 {
            let carry = crc & 0x8000 != 0;
            crc <<= 1;
            if carry {
                crc ^= 0x1021;
            }
        }
    }
    crc
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(first: i64, last: i64, host: Value, port: i64) -> Value {
        let master = vec![host, Value::Int(port), Value::Nil];
        Value::Array(vec![
            Value::Int(first),
            Value::Int(last),
            Value::Array(master),
        ])
    }

    fn text(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    #[test]
    fn a_key_has_the_slot_that_redis_gives_it() {
        for (key, expected) in [
            ("123456789", 12_739),
            ("foo", 12_182),
            ("bar", 5_061),
            ("{foo}:x", 12_182),
            ("x{foo}y{bar}", 12_182),
            ("{}foo", slot("{}foo")),
        ] {
            assert_eq!(slot(key), expected, "{key}");
        }
        assert_ne!(slot("{}foo"), slot("foo"), "empty braces name nothing");
    }

    #[test]
    fn each_slot_has_the_node_of_its_range() {
        let rows = vec![
            row(5461, 10_922, text("b"), 2),
            row(0, 5460, Value::Nil, 1),
            row(10_923, 16_383, text("?"), 3),
        ];
        let map = SlotMap::read(&Value::Array(rows.clone()), "a").unwrap();
        let at = |key| map.node(key).map(|node| (node.host.as_str(), node.port));
        assert_eq!(at("bar"), Some(("a", 1)));
        assert_eq!(at("foo"), Some(("a", 3)));
        assert!(map.is_whole() && map.nodes().count() == 3);

        let part = SlotMap::read(&Value::Array(rows[..2].to_vec()), "a").unwrap();
        assert_eq!(part.node("foo"), None);
        assert!(!part.is_whole());
    }

    #[test]
    fn an_answer_that_makes_no_sense_is_none() {
        let good = || row(0, 100, text("a"), 1);
        for (why, rows) in [
            ("nothing", vec![]),
            ("no row", vec![Value::Int(1)]),
            ("too short", vec![Value::Array(vec![Value::Int(1)])]),
            ("beyond the last", vec![row(0, 16_384, text("a"), 1)]),
            ("the wrong way round", vec![row(9, 8, text("a"), 1)]),
            ("a port", vec![row(0, 1, text("a"), 70_000)]),
            ("a host", vec![row(0, 1, Value::Int(1), 1)]),
            ("no text", vec![row(0, 1, Value::BulkString(vec![0xff]), 1)]),
            ("twice", vec![good(), row(100, 200, text("b"), 2)]),
        ] {
            assert_eq!(SlotMap::read(&Value::Array(rows), "a"), None, "{why}");
        }
        assert_eq!(SlotMap::read(&Value::Nil, "a"), None);
        assert!(SlotMap::read(&Value::Array(vec![good()]), "a").is_some());
    }
}
