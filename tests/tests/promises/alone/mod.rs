//! Promises whose test loads the machine, or measures it: nothing else runs meanwhile. `tests/run` plays them at
//! the end, one by one.

mod faults;
mod hundreds;
mod slow_line;
mod storm;
